//! Data-layer sessions in any order: what opens is the id and a state that were made for each other, for this principal,
//! with what was written last into that state, and no renewal or fork outlives the first session.

use std::time::Duration;

use arbitrary::Arbitrary;
use sealwax::{Codec, OpenedSession, SessionMetadata, Ttl, View};

use crate::alter::{Change, altered};
use crate::leaks;
use crate::world::{Place, Still};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    max_age: u32,
    places: [Place; 2],
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Create(At, &'a [u8]),
    Mint(At),
    /// The id of one and the state of another, or none.
    Open(At, u8, Option<u8>),
    Changed(At, u8, Vec<Change<'a>>, Vec<Change<'a>>),
    Renew(At, u8, &'a [u8]),
    Fork(At, u8),
    Later(u32),
}

/// Which of the two places, and for how long a state lives.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct At {
    second: bool,
    ttl: Option<u16>,
}

/// What was sent to a client.
struct Sent {
    metadata: SessionMetadata,
    place: Place,
    created_at: u64,
    started_at: u64,
    ends: Option<u64>,
    generation: u32,
    payload: Vec<u8>,
}

struct Run {
    clock: Still,
    max_age: u64,
    places: [Place; 2],
    sent: Vec<Sent>,
    opened: Vec<(usize, OpenedSession)>,
}

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let mut run = Run {
        clock: Still::new(),
        max_age: input.max_age.into(),
        places: input.places,
        sent: Vec::new(),
        opened: Vec::new(),
    };
    input.steps.iter().take(24).for_each(|step| run.step(step));
    !run.opened.is_empty()
}

impl Run {
    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Later(seconds) => self.clock.set(self.clock.now() + u64::from(*seconds)),
            Step::Create(at, payload) => {
                let (now, view) = (self.clock.now(), self.view(*at));
                let created = view.sessions().with_ttl(at.ttl()).create(payload);
                assert_eq!(created.is_ok(), at.ttl != Some(0) && payload.len() <= 4096);
                if let Ok(metadata) = created {
                    self.keep(*at, metadata, (now, now, 0), payload);
                }
            }
            Step::Mint(at) => {
                let now = self.clock.now();
                let metadata = self.view(*at).sessions().mint().unwrap();
                self.keep(*at, metadata, (now, now, 0), b"");
            }
            Step::Open(at, id, state) => self.open(*at, *id, *state),
            Step::Changed(at, which, id, state) => self.open_changed(*at, *which, id, state),
            Step::Renew(at, which, payload) => self.renew(*at, *which, payload),
            Step::Fork(at, which) => self.fork(*at, *which),
        }
    }

    fn place(&self, at: At) -> Place {
        self.places[usize::from(at.second)]
    }

    fn view(&self, at: At) -> View {
        let place = self.place(at);
        let codec: Codec = Codec::builder(place.ring.ring(), place.audience.text())
            .session_max_age(Duration::from_secs(self.max_age))
            .build_in(self.clock.clone())
            .unwrap();
        codec.view(&place.who.principal()).unwrap()
    }

    fn keep(
        &mut self,
        at: At,
        metadata: SessionMetadata,
        (created_at, started_at, generation): (u64, u64, u32),
        payload: &[u8],
    ) {
        let now = self.clock.now();
        let ends =
            Some(now + at.ttl.map_or(86_400, u64::from)).filter(|_| metadata.state.is_some());
        let text = metadata.to_json();
        assert_eq!(
            SessionMetadata::from_json(&text).unwrap().session_id,
            metadata.session_id
        );
        let place = self.place(at);
        self.sent.push(Sent {
            metadata,
            place,
            created_at,
            started_at,
            ends,
            generation,
            payload: payload.into(),
        });
    }

    fn open(&mut self, at: At, id: u8, state: Option<u8>) {
        if self.sent.is_empty() {
            return;
        }
        let which = |at: u8| usize::from(at) % self.sent.len();
        let (of_id, of_state) = (&self.sent[which(id)], state.map(|at| &self.sent[which(at)]));
        let text = of_state.and_then(|sent| sent.metadata.state.clone());
        let presented = SessionMetadata::new(of_id.metadata.session_id.clone(), text.clone());
        let (now, place) = (self.clock.now(), self.place(at));
        let knows = |sent: &Sent| place.ring.places().contains(&sent.place.ring.places()[0]);
        let expected = match of_state.filter(|_| text.is_some()) {
            _ if !knows(of_id) => Some("unknown_key"),
            _ if of_id.place.audience != place.audience => Some("unauthentic"),
            _ if of_id.place.who != place.who => Some("principal_mismatch"),
            _ if now >= of_id.created_at + self.max_age => Some("expired"),
            None => Some("malformed"),
            Some(sent) if !knows(sent) => Some("unknown_key"),
            Some(sent) if sent.place.audience != place.audience => Some("unauthentic"),
            Some(sent) if sent.metadata.session_id != of_id.metadata.session_id => {
                Some("unauthentic")
            }
            Some(sent) if sent.place.who != place.who => Some("principal_mismatch"),
            Some(sent) if sent.ends.is_some_and(|end| now >= end) => Some("expired"),
            Some(sent) if now >= sent.started_at + self.max_age => Some("expired"),
            Some(_) => None,
        };
        match (self.view(at).sessions().open(&presented), expected) {
            (Err(error), Some(expected)) => assert_eq!(error.code(), expected),
            (Ok(opened), None) => {
                let at = which(state.unwrap());
                let sent = &self.sent[at];
                assert_eq!(opened.payload(), sent.payload);
                let state = opened.state();
                assert_eq!(
                    (state.generation(), state.started_at()),
                    (sent.generation, sent.started_at)
                );
                self.opened.push((at, opened));
            }
            (found, expected) => panic!("{:?}, expected {expected:?}", found.map(drop)),
        }
    }

    fn open_changed(&self, at: At, which: u8, id: &[Change<'_>], state: &[Change<'_>]) {
        if self.sent.is_empty() {
            return;
        }
        let which = usize::from(which) % self.sent.len();
        let other = &self.sent[(which + 1) % self.sent.len()].metadata;
        let sent = &self.sent[which].metadata;
        let Some(text) = &sent.state else { return };
        let new_id = altered(&sent.session_id, &other.session_id, id);
        let new_state = altered(text, other.state.as_deref().unwrap_or_default(), state);
        let known = |sent: &Sent| {
            sent.metadata.session_id == new_id && sent.metadata.state.as_ref() == Some(&new_state)
        };
        if self.sent.iter().any(known) {
            return;
        }
        let presented = SessionMetadata::new(new_id, Some(new_state));
        let error = self
            .view(at)
            .sessions()
            .open(&presented)
            .expect_err("nobody made it");
        assert!(error.is_refusal());
        leaks::assert_none(&error, &presented.session_id);
        leaks::assert_none(&error, presented.state.as_deref().unwrap_or_default());
    }

    /// Writes another state, wherever the first one was opened; the id stays as it was.
    fn renew(&mut self, at: At, which: u8, payload: &[u8]) {
        let Some((before, opened)) = self.opened.get(usize::from(which)) else {
            return;
        };
        // A view of another principal or audience makes another session of it: no program does that.
        if self.sent[*before].place != self.place(at) {
            return;
        }
        let renewed = self
            .view(at)
            .sessions()
            .with_ttl(at.ttl())
            .renew(opened, payload);
        assert_eq!(renewed.is_ok(), at.ttl != Some(0) && payload.len() <= 4096);
        let Ok(metadata) = renewed else { return };
        let sent = &self.sent[*before];
        assert_eq!(metadata.session_id, sent.metadata.session_id);
        let facts = (sent.created_at, sent.started_at, sent.generation + 1);
        self.keep(at, metadata, facts, payload);
    }

    fn fork(&mut self, at: At, which: u8) {
        let Some((before, opened)) = self.opened.get(usize::from(which)) else {
            return;
        };
        if self.sent[*before].place != self.place(at) {
            return;
        }
        let forked = self.view(at).sessions().with_ttl(at.ttl()).fork(opened);
        assert_eq!(forked.is_ok(), at.ttl != Some(0));
        let Ok(metadata) = forked else { return };
        let sent = &self.sent[*before];
        assert_ne!(metadata.session_id, sent.metadata.session_id);
        let (facts, payload) = ((self.clock.now(), sent.started_at, 0), sent.payload.clone());
        self.keep(at, metadata, facts, &payload);
    }
}

impl At {
    fn ttl(self) -> Ttl {
        self.ttl.map_or(Ttl::Default, |ttl| {
            Ttl::Given(Duration::from_secs(ttl.into()))
        })
    }
}
