//! A data-layer session (SPEC.md, section 12) opens as the model says: its id verifies, and then its state opens under
//! that id. So no state goes with another session's id, and no session opens for anybody else.

use format_model::identifier::{self, Body, Form, Minted, Ulid, Verifier, verify};
use format_model::{Claims, Holder, Key, NOW, Opener, Purpose, Sealed, Text, open};
use sealwax::{Kind, SessionMetadata};

use crate::world::{World, view};

const DAY: u64 = 24 * 60 * 60;
const MAX_AGE: u64 = 30 * DAY;
const AUDIENCES: [&str; 2] = ["a", "ab"];
const HOLDERS: [Holder; 2] = [Holder::Alice, Holder::Mallory];

struct Session {
    id: Minted,
    state: Sealed,
    real: SessionMetadata,
}

fn of_state(session: &'static str) -> Purpose {
    Purpose {
        kind: Kind::State,
        label: "",
        session,
        context: "",
    }
}

/// Two of each principal at each service.
fn sessions() -> Vec<Session> {
    let names = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    let place = |at: usize| (AUDIENCES[at / 4], HOLDERS[at / 2 % 2]);
    let named = names.into_iter().zip(0u16..);
    named
        .map(|(name, number)| {
            let (audience, holder) = place(number.into());
            let ours = view(&[Key::Ours], audience, holder, World(NOW * 1000, number));
            let made = NOW * 1000;
            Session {
                id: Minted {
                    form: Form::SessionId,
                    key: Key::Ours,
                    audience,
                    holder,
                    ulid: Ulid { made, number },
                },
                state: Sealed {
                    key: Key::Ours,
                    nonce: number,
                    audience,
                    purpose: of_state(name),
                    holder,
                    claims: Claims {
                        issued: NOW,
                        ttl: 86_400,
                        age: 0,
                    },
                    began: NOW,
                    secret: (number, holder),
                },
                real: ours.sessions().create(b"state").unwrap(),
            }
        })
        .collect()
}

fn expected(
    id: &Session,
    state: &Session,
    (audience, holder, now): (&'static str, Holder, u64),
) -> Result<(), &'static str> {
    let presented = identifier::Text {
        prefix: id.id.form,
        body: Body::SessionId,
        key: id.id.key,
        ulid: id.id.ulid,
        ptag: id.id.ptag(),
        mac: &id.id,
        respelled: false,
    };
    let verifier = Verifier {
        form: Form::SessionId,
        audience,
        holder,
        now: now * 1000,
        max_age: Some(MAX_AGE),
    };
    verify(&presented, &verifier, &[])?;
    let presented = Text {
        kind: Kind::State,
        key: Key::Ours,
        nonce: state.state.nonce,
        cipher: &state.state,
        respelled: false,
    };
    let opener = Opener {
        audience,
        purpose: id.state.purpose,
        holder,
        now,
        max_age: Some(MAX_AGE),
    };
    open(&presented, &opener, &[])
}

#[test]
fn an_id_and_a_state_are_those_of_one_session() {
    let sessions = sessions();
    let mut opened = 0;
    for audience in AUDIENCES {
        for holder in HOLDERS {
            for now in [NOW - 61, NOW, NOW + DAY, NOW + MAX_AGE] {
                let ours = view(&[Key::Ours], audience, holder, World(now * 1000, 0));
                for (at, id) in sessions.iter().enumerate() {
                    for (of, state) in sessions.iter().enumerate() {
                        let metadata =
                            SessionMetadata::new(&id.real.session_id, state.real.state.clone());
                        let found = ours.sessions().open(&metadata).map(drop);
                        let found = found.map_err(|error| error.code());
                        let place = (audience, holder, now);
                        assert_eq!(found, expected(id, state, place), "{at} {of} {place:?}");
                        let its_own = (id.id.audience, id.id.holder, NOW) == place && at == of;
                        assert_eq!(found.is_ok(), its_own, "{at} {of} {place:?}");
                        opened += usize::from(its_own);
                    }
                }
            }
        }
    }
    assert_eq!(opened, sessions.len());
}
