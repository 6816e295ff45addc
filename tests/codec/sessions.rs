//! Data-layer sessions over time.

use std::time::Duration;

use crate::common::{Clock, view_of};
use sealwax::{Principal, SessionMetadata, View};
use serde_json::Value;

const START: u64 = 1_795_000_000;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

fn clock() -> Clock {
    Clock::at_ms(START * 1000)
}

#[test]
fn half_of_a_life_is_time_for_renewal() {
    let clock = clock();
    let alice = clock.view("alice");
    for (ttl, elapsed, is_due) in [
        (600, 0, false),
        (600, 299, false),
        (600, 300, true),
        (601, 300, false),
        (601, 301, true),
        (1, 0, false),
    ] {
        clock.set(START);
        let session = alice.session().ttl(Duration::from_secs(ttl));
        let token = session.seal(b"").unwrap();
        clock.set(START + elapsed);
        let opened = session.open(&token).unwrap();
        assert_eq!(opened.needs_renewal(), is_due, "{ttl} {elapsed}");
    }
    let for_ever = alice.session().no_expiry();
    let token = for_ever.seal(b"").unwrap();
    clock.set(START + 100 * 365 * DAY);
    let opened = for_ever.max_age(Duration::MAX).open(&token);
    assert!(!opened.unwrap().needs_renewal());
}

fn code(view: &View, metadata: &SessionMetadata) -> &'static str {
    view.sessions().open(metadata).unwrap_err().code()
}

/// The metadata as a client sends it back.
fn echoed(sent: &SessionMetadata) -> SessionMetadata {
    SessionMetadata::from_json(&sent.to_json()).unwrap()
}

#[test]
fn a_session_has_the_shape_of_the_draft() {
    let alice = clock().view("alice");
    let sent = alice.sessions().create(b"").unwrap();
    let sent: Value = serde_json::from_str(&sent.to_json()).unwrap();
    let members: Vec<_> = sent.as_object().unwrap().keys().collect();
    assert_eq!(members, ["expiresAt", "sessionId", "state"]);
    assert_eq!(sent["expiresAt"], "2026-11-19T11:06:40Z");
    let short = alice.sessions().ttl(Duration::from_secs(HOUR)).create(b"");
    let ends = short.unwrap().expires_at;
    assert_eq!(ends.as_deref(), Some("2026-11-18T12:06:40Z"));
    // One of the server's is an id, and its end seven days later.
    let minted = alice.sessions().mint().unwrap();
    assert_eq!(minted.state, None);
    assert_eq!(minted.expires_at.as_deref(), Some("2026-11-25T11:06:40Z"));
    alice.sessions().verify(&minted.session_id).unwrap();
}

#[test]
fn renewing_keeps_the_id_and_the_start_and_counts() {
    let clock = clock();
    let alice = clock.view("alice");
    let sent = alice.sessions().create(b"0").unwrap();
    let mut current = sent.clone();
    for generation in 1..=6 {
        clock.set(START + u64::from(generation) * (DAY - 60));
        let session = alice.sessions().open(&echoed(&current)).unwrap();
        let payload = generation.to_string().into_bytes();
        current = alice.sessions().renew(&session, &payload).unwrap();
        assert_eq!(current.session_id, sent.session_id);
        let session = alice.sessions().open(&echoed(&current)).unwrap();
        assert_eq!(session.state().generation(), generation);
        assert_eq!(session.state().started_at(), START);
        assert_eq!(session.payload(), payload);
    }
    assert_eq!(
        current.expires_at.as_deref(),
        Some("2026-11-25T11:00:40Z"),
        "idle ends before the week"
    );
    clock.set(START + 7 * DAY - 400);
    let session = alice.sessions().open(&echoed(&current)).unwrap();
    current = alice.sessions().renew(&session, b"7").unwrap();
    assert_eq!(
        current.expires_at.as_deref(),
        Some("2026-11-25T11:06:40Z"),
        "the week ends first"
    );
    clock.set(START + 7 * DAY);
    assert_eq!(code(&alice, &echoed(&current)), "expired");
}

#[test]
fn a_fork_is_a_session_of_its_own_that_ends_with_the_first() {
    let clock = clock();
    let alice = clock.view("alice");
    let sessions = alice.sessions().no_expiry();
    let first = sessions.create(b"shared").unwrap();
    let mut latest = first.clone();
    // The codec's limit is seven days.
    for _ in 0..6 {
        clock.pass(DAY);
        let session = sessions.open(&latest).unwrap();
        let forked = sessions.fork(&session).unwrap();
        assert_ne!(forked.session_id, latest.session_id);
        assert_eq!(forked.expires_at, first.expires_at);
        let fork = sessions.open(&forked).unwrap();
        let state = fork.state();
        assert_eq!((state.started_at(), state.generation()), (START, 0));
        assert_eq!(fork.payload(), b"shared");
        assert!(sessions.open(&first).is_ok(), "the first goes on");
        latest = forked;
    }
    clock.pass(DAY);
    assert_eq!(code(&alice, &latest), "expired");
}

/// Whose id goes with whose state is below.
#[test]
fn invented_and_missing_parts_are_refused() {
    let alice = clock().view("alice");
    let sent = alice.sessions().create(b"x").unwrap();
    let without_state = SessionMetadata::new(sent.session_id.clone(), None);
    assert_eq!(
        code(&alice, &without_state),
        "malformed",
        "leaving the state out must not reset it"
    );
    assert!(
        alice.sessions().verify(&sent.session_id).is_ok(),
        "sessions/delete sends the id alone"
    );
    let invented = SessionMetadata::new("sess-a1b2c3d4e5f6", sent.state);
    assert_eq!(code(&alice, &invented), "malformed");
    for json in [
        "",
        "null",
        "[]",
        r#"["x", null]"#,
        r#"{"state":"x"}"#,
        r#"{"sessionId":7}"#,
        r#"{"sessionId":"x","state":1}"#,
    ] {
        let refused = SessionMetadata::from_json(json).unwrap_err();
        assert_eq!(refused.code(), "malformed", "{json}");
    }
    let odd = r#"{"sessionId":"x","expiresAt":12,"state":null,"later":{}}"#;
    let read = SessionMetadata::from_json(odd).unwrap();
    assert_eq!(read.state, None, "a hint is not read");
}

/// Of two services, two users each, with two sessions each: every id with every state, wherever it is brought.
#[test]
fn an_id_and_a_state_are_those_of_one_session() {
    let views: Vec<_> = ["a", "ab"]
        .into_iter()
        .flat_map(|audience| {
            ["alice", "mallory"].map(|user| view_of(audience, &Principal::subject(user)))
        })
        .collect();
    let sessions: Vec<_> = [&views[..], &views[..]].concat();
    let sessions: Vec<_> = sessions
        .iter()
        .map(|view| view.sessions().create(b"x").unwrap())
        .collect();
    for (here, view) in views.iter().enumerate() {
        for (of, id) in sessions.iter().enumerate() {
            for (at, state) in sessions.iter().enumerate() {
                let brought = SessionMetadata::new(&id.session_id, state.state.clone());
                let opened = view.sessions().open(&brought);
                assert_eq!(
                    opened.is_ok(),
                    of == at && of % views.len() == here,
                    "{here} {of} {at}"
                );
            }
        }
    }
}

#[test]
fn a_token_knows_its_id_and_its_end_and_needs_no_opening_for_it() {
    let clock = clock();
    let alice = clock.view("alice");
    let second = alice.session().ttl(Duration::from_secs(1));
    let token = second.seal(b"x").unwrap();
    let opened = second.open(&token).unwrap();
    assert_eq!((token.id(), token.issued_at()), (opened.token_id(), START));
    assert_eq!(token.expires_at(), Some(START + 1));
    clock.set(START + 5);
    let renewed = second.renew(&opened, b"y").unwrap();
    assert_eq!(renewed.expires_at(), Some(START + 6));
    assert_ne!(renewed.id(), token.id());
    let forever = alice.session().no_expiry().seal(b"x").unwrap();
    assert_eq!(forever.expires_at(), None);
}

#[test]
fn a_token_is_a_value_that_is_read_as_its_text_and_logged_by_its_length() {
    let clock = clock();
    let alice = clock.view("alice");
    let token = alice.cursor("tools/list").seal(b"page 2").unwrap();
    let text = token.to_string();
    assert!(text.starts_with("sw1."));
    assert_eq!([token.as_str(), token.as_ref()], [&text, &text]);
    assert_eq!(token.clone(), token);
    let logged = format!("Token({} characters)", text.len());
    assert_eq!(format!("{token:?}"), logged);
    #[cfg(feature = "serde")]
    assert_eq!(serde_json::to_value(&token).unwrap(), text);
    assert_eq!(String::from(token), text);
}

#[test]
fn options_are_checked_by_name() {
    let alice = clock().view("alice");
    let seconds = Duration::from_secs;
    for (ttl, fits) in [
        (0, false),
        (1, true),
        (u64::from(u32::MAX), true),
        (1 << 32, false),
    ] {
        assert_eq!(sealwax::check_ttl(seconds(ttl)).is_ok(), fits, "{ttl}");
        assert_eq!(alice.session().ttl(seconds(ttl)).check().is_ok(), fits);
        assert_eq!(alice.session().ttl(seconds(ttl)).seal(b"").is_ok(), fits);
        assert_eq!(alice.sessions().ttl(seconds(ttl)).check().is_ok(), fits);
    }
    assert!(alice.session().no_expiry().check().is_ok());
    assert!(alice.sessions().no_expiry().check().is_ok());
    assert!(alice.cursor("").check().is_err());
    for (handle_type, fits) in [
        ("basket", true),
        ("sess", false),
        ("Basket", false),
        ("", false),
    ] {
        assert_eq!(sealwax::Handle::check_type(handle_type).is_ok(), fits);
    }
}
