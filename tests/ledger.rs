//! The ledger in a guard: each rule as a trace, with the ledger that lies in memory.
#![cfg(feature = "std")]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{AUDIENCE, ring};
use sealwax::ledger::{Command, Memory, Namespace, Script};
use sealwax::mcp::{
    Act, Before, ErrorData, Event, Exchange, Failed, Guard, GuardBuilder, Head, LedgerSettings,
    Made, Message, Outcome, Reply, Sent, SentSession, SessionSettings, Step, TransportMessage,
    TransportSettings, What,
};
use sealwax::{Codec, Environment, Error, Principal, SessionMetadata, System};
use serde_json::Value;

const START: u64 = 1_800_000_000;
const ALLOWANCE: u64 = 5;
const DAY: u64 = 86_400;

/// A clock that the test moves, in Unix seconds.
#[derive(Clone)]
struct Clock(Arc<AtomicU64>);

impl Environment for Clock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed) * 1000
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

/// A replica, and the ledger of its fleet.
struct World {
    clock: Clock,
    guard: Guard,
    ledger: RefCell<Memory>,
    /// How many of the next answers are lost on their way back.
    lost: Cell<usize>,
    asked: Cell<usize>,
}

fn codec(clock: &Clock) -> Codec {
    let codec = Codec::builder(ring(), AUDIENCE).session_max_age(Duration::from_secs(7 * DAY));
    codec.build_in(clock.clone()).unwrap()
}

impl World {
    fn new() -> Self {
        Self::with(|guard| guard)
    }

    fn with(settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Self {
        let clock = Clock(Arc::new(AtomicU64::new(START)));
        let builder = Guard::builder(codec(&clock))
            .sessions(SessionSettings::default())
            .ledger(LedgerSettings::default());
        let world = Self {
            clock,
            guard: settings(builder).build().unwrap(),
            ledger: RefCell::new(Memory::new(Memory::ROOM, START)),
            lost: Cell::new(0),
            asked: Cell::new(0),
        };
        world.open();
        // Later than the ledger began.
        world.pass(ALLOWANCE + 1);
        world
    }

    /// The first message of all opens the ledger.
    fn open(&self) {
        let (mut exchange, step) = self.guard.message(call());
        let Step::Ledger(open) = step else {
            panic!("{step:?}")
        };
        let reply = self.ledger.borrow_mut().run(&open, self.now());
        let step = exchange.on(Event::Ledger(Ok(reply))).unwrap();
        assert!(matches!(step, Step::Deliver(_)), "{step:?}");
    }

    fn pass(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.clock.0.load(Ordering::Relaxed)
    }

    /// The ledger is another one, which knows nothing.
    fn lose_everything(&self) {
        *self.ledger.borrow_mut() = Memory::new(Memory::ROOM, self.now());
    }

    fn run(&self, command: &Command) -> Result<Vec<String>, Failed> {
        self.asked.set(self.asked.get() + 1);
        let reply = self.ledger.borrow_mut().run(command, self.now());
        match self.lost.get() {
            0 => Ok(reply),
            lost => {
                self.lost.set(lost - 1);
                Err(Failed("no answer".into()))
            }
        }
    }

    /// Asks the ledger whatever it is to be asked.
    fn settle(&self, exchange: &mut Exchange, mut step: Step) -> Step {
        loop {
            step = match step {
                Step::Ledger(command) => exchange.on(Event::Ledger(self.run(&command))).unwrap(),
                other => return other,
            }
        }
    }

    /// Until its handler runs, or what is answered in its place.
    fn enter(&self, message: Message<'_>) -> Result<Exchange, Reply> {
        let (mut exchange, step) = self.guard.message(message);
        match self.settle(&mut exchange, step) {
            Step::Deliver(_) => Ok(exchange),
            Step::Reply(reply) => Err(reply),
            other => panic!("{other:?}"),
        }
    }

    /// What its answer has of the session.
    fn leave(&self, exchange: &mut Exchange, outcome: Outcome) -> Result<SessionMetadata, Reply> {
        let head = Head {
            outcome,
            ..Head::default()
        };
        let mut step = exchange.on(Event::Left(head)).unwrap();
        loop {
            step = match self.settle(exchange, step) {
                // The author's function: it counts.
                Step::Update(value) => {
                    let next = next(&value);
                    exchange.on(Event::Updated(Ok(&next))).unwrap()
                }
                Step::Leave(leave) => return Ok(leave.metadata.unwrap()),
                Step::Reply(reply) => return Err(reply),
                other => panic!("{other:?}"),
            }
        }
    }

    fn created(&self) -> SessionMetadata {
        let view = self.guard_view();
        view.sessions().create(b"0").unwrap()
    }

    fn guard_view(&self) -> sealwax::View {
        let codec = Codec::builder(ring(), AUDIENCE).session_max_age(Duration::from_secs(7 * DAY));
        codec
            .build_in(self.clock.clone())
            .unwrap()
            .view(&alice())
            .unwrap()
    }

    /// The state of a first round.
    fn asked(&self) -> String {
        let mut exchange = self.enter(call()).unwrap();
        let head = Head {
            outcome: Outcome::InputRequired,
            token: Sent::Text("asked"),
            ..Head::default()
        };
        match exchange.on(Event::Left(head)).unwrap() {
            Step::Leave(leave) => leave.token.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn second_round(&self, state: &str) -> Result<Exchange, Reply> {
        self.enter(Message {
            carried: Sent::Text(state),
            ..call()
        })
    }

    fn act(&self, exchange: &Exchange, what: What<'_>) -> Result<Made, Reply> {
        let handle_type = "basket";
        let (mut acting, step) = exchange.act(Act { handle_type, what });
        match self.settle(&mut acting, step) {
            Step::Done(made) => Ok(*made),
            Step::Reply(reply) => Err(reply),
            other => panic!("{other:?}"),
        }
    }

    fn revoke(&self) {
        let (mut exchange, step) = self.guard.revoke(&alice(), None).unwrap();
        let step = self.settle(&mut exchange, step);
        assert!(matches!(step, Step::Done(_)), "{step:?}");
    }
}

fn alice() -> Principal {
    Principal::subject("alice")
}

fn call() -> Message<'static> {
    Message {
        method: "tools/call",
        target: Some("play"),
        modern: true,
        principal: Some(alice()),
        ..Message::default()
    }
}

/// A request that is no tool's, whose answers are errors.
fn read(session: &SessionMetadata) -> Message<'_> {
    Message {
        method: "demo/read",
        modern: true,
        principal: Some(alice()),
        session: sent(session),
        ..Message::default()
    }
}

fn tool(session: &SessionMetadata) -> Message<'_> {
    Message {
        session: sent(session),
        ..call()
    }
}

fn sent(session: &SessionMetadata) -> Option<SentSession<'_>> {
    Some(SentSession {
        id: Sent::Text(&session.session_id),
        state: session.state.as_deref().into(),
    })
}

fn next(value: &str) -> String {
    (value.parse::<u64>().unwrap() + 1).to_string()
}

fn code(reply: Reply) -> i32 {
    reply.error.unwrap().code
}

/// Whether the handler ran, and the latest state, of an answer to one that is not.
fn stale(reply: Reply) -> (bool, SessionMetadata) {
    if let Some(tool) = reply.tool {
        assert!(tool.is_error);
        let meta = tool.meta.unwrap();
        return (meta.stale.ran, meta.session);
    }
    let error = reply.error.unwrap();
    let written = serde_json::to_value(&error.data).unwrap();
    let Some(ErrorData::Stale(stale)) = error.data else {
        panic!("{error:?}")
    };
    // As LEDGER.md has it, for clients of all languages.
    assert_eq!(written["ran"], stale.ran);
    assert_eq!(
        written["session"],
        stale.session.to_json().parse::<Value>().unwrap()
    );
    assert_eq!(error.code, if stale.ran { -32045 } else { -32044 });
    (stale.ran, stale.session)
}

#[test]
fn a_state_is_used_once() {
    let world = World::new();
    let state = world.asked();
    world.second_round(&state).unwrap();
    assert_eq!(code(world.second_round(&state).unwrap_err()), -32602);
    world.second_round(&world.asked()).unwrap();

    let world = World::with(|guard| {
        guard.ledger(LedgerSettings {
            reusable_request_state: true,
            ..LedgerSettings::default()
        })
    });
    let state = world.asked();
    world.second_round(&state).unwrap();
    world.second_round(&state).unwrap();
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again_by_the_same_attempt() {
    let world = World::new();
    let state = world.asked();
    world.lost.set(1);
    world.second_round(&state).unwrap();
    assert_eq!(
        code(world.second_round(&state).unwrap_err()),
        -32602,
        "used by the first try"
    );

    let state = world.asked();
    world.lost.set(2);
    assert_eq!(
        code(world.second_round(&state).unwrap_err()),
        -32603,
        "never taken for a yes"
    );
}

#[test]
fn nothing_is_used_up_unless_all_passes() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    world.leave(&mut exchange, Outcome::Complete).unwrap();

    let state = world.asked();
    let both = |session| Message {
        carried: Sent::Text(&state),
        ..tool(session)
    };
    let (ran, latest) = stale(world.enter(both(&session)).unwrap_err());
    assert!(!ran);
    let asked = world.asked.get();
    world.enter(both(&latest)).unwrap();
    assert_eq!(world.asked.get(), asked + 1, "one question for all of it");
}

#[test]
fn two_ids_of_two_kinds_are_two() {
    let world = World::new();
    let exchange = world.enter(call()).unwrap();
    let held = world.act(&exchange, seal("1", None)).unwrap();
    let what = What::End {
        handle: Sent::Text(held.handle.as_deref().unwrap()),
        max_age: None,
        held: true,
    };
    world.act(&exchange, what.clone()).unwrap();
    assert!(
        world
            .act(&exchange, what)
            .unwrap_err()
            .tool
            .unwrap()
            .is_error,
        "it ended before"
    );
    let state = world.asked();
    world.second_round(&state).unwrap();
}

#[test]
fn a_key_has_the_kind_of_its_id() {
    let world = World::new();
    let kinds = |step| {
        let Step::Ledger(command) = step else {
            panic!("{step:?}")
        };
        let kind = |key: &String| key.split(':').skip(2).take(2).collect::<String>();
        command.keys[3..].iter().map(kind).collect::<Vec<_>>()
    };
    let state = world.asked();
    let second = Message {
        carried: Sent::Text(&state),
        ..call()
    };
    assert_eq!(kinds(world.guard.message(second).1), ["ur", "er"]);
    let session = world.created();
    assert_eq!(kinds(world.guard.message(read(&session)).1), ["hs", "es"]);
    let exchange = world.enter(call()).unwrap();
    let held = world.act(&exchange, seal("1", None)).unwrap();
    let handle_type = "basket";
    let opens = exchange.act(Act {
        handle_type,
        what: open(&held),
    });
    assert_eq!(kinds(opens.1), ["uk", "ek"]);
}

/// R1, R7: the first state is a head too, and whoever has an older one is given the latest.
#[test]
fn whoever_lost_an_answer_is_given_the_latest_state() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(read(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = world.leave(&mut exchange, Outcome::Complete).unwrap();
    // The client never saw it, and sends what it has.
    let (ran, latest) = stale(world.enter(read(&session)).unwrap_err());
    assert!(!ran);
    assert_eq!(latest, written);
    let exchange = world.enter(read(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("1"));
}

#[test]
fn of_two_writers_one_wins_and_the_other_hears_it() {
    let world = World::new();
    let session = world.created();
    let mut first = world.enter(tool(&session)).unwrap();
    let mut second = world.enter(tool(&session)).unwrap();
    first.write("1").unwrap();
    second.write("2").unwrap();
    let written = world.leave(&mut first, Outcome::Complete).unwrap();
    let (ran, latest) = stale(world.leave(&mut second, Outcome::Complete).unwrap_err());
    assert!(ran);
    assert_eq!(latest.state, written.state);
    assert_eq!(second.refused()[0].code, "stale");
}

#[test]
fn updates_at_once_all_succeed() {
    let world = World::new();
    let session = world.created();
    let mut running: Vec<_> = (0..20)
        .map(|_| world.enter(tool(&session)).unwrap())
        .collect();
    let mut latest = session.clone();
    for exchange in &mut running {
        let value = next(exchange.session().unwrap().value().unwrap());
        exchange.update(&value).unwrap();
        latest = world.leave(exchange, Outcome::Complete).unwrap();
    }
    let exchange = world.enter(tool(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("20"));

    // What was written as a whole cannot be made again.
    let mut whole = world.enter(tool(&latest)).unwrap();
    let mut other = world.enter(tool(&latest)).unwrap();
    other.update("21").unwrap();
    world.leave(&mut other, Outcome::Complete).unwrap();
    whole.update("21").unwrap();
    whole.write("7").unwrap();
    assert!(stale(world.leave(&mut whole, Outcome::Complete).unwrap_err()).0);
}

#[test]
fn an_update_that_fails_loses_nothing() {
    let world = World::new();
    let session = world.created();
    let mut slow = world.enter(tool(&session)).unwrap();
    let mut other = world.enter(tool(&session)).unwrap();
    other.write("1").unwrap();
    let latest = world.leave(&mut other, Outcome::Complete).unwrap();
    slow.update("1").unwrap();
    let step = slow.on(Event::Left(Head::default())).unwrap();
    let step = world.settle(&mut slow, step);
    assert!(matches!(&step, Step::Update(value) if value == "1"));
    let failed = Event::Updated(Err(Failed("update: the function threw".into())));
    match slow.on(failed).unwrap() {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
    world.enter(tool(&latest)).unwrap();
}

/// R3: the next round sends the same state again.
#[test]
fn a_result_that_asks_back_commits_nothing() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    let left = world.leave(&mut exchange, Outcome::InputRequired).unwrap();
    assert_eq!(left.state, None);
    let exchange = world.enter(tool(&session)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("0"));
}

/// R4: a commit whose answer was lost is tried once more, and is no second write.
#[test]
fn a_commit_is_tried_again_without_harm() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    world.lost.set(1);
    let latest = world.leave(&mut exchange, Outcome::Complete).unwrap();
    let mut exchange = world.enter(tool(&latest)).unwrap();

    // Where nobody answers at all, it is the server's failure, and the latest state can be had.
    exchange.write("2").unwrap();
    world.lost.set(2);
    assert_eq!(
        code(world.leave(&mut exchange, Outcome::Complete).unwrap_err()),
        -32603
    );
    let (_, latest) = stale(world.enter(tool(&latest)).unwrap_err());
    let exchange = world.enter(tool(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("2"));
}

/// R4: after a try that nobody answered, "stale" is no verdict: somebody may have written upon it.
#[test]
fn stale_after_a_try_that_nobody_answered_is_no_verdict() {
    let world = World::new();
    let session = world.created();
    let mut first = world.enter(tool(&session)).unwrap();
    first.write("1").unwrap();
    let step = first.on(Event::Left(Head::default())).unwrap();
    let Step::Ledger(command) = step else {
        panic!("{step:?}")
    };
    world.run(&command).unwrap();
    let (_, latest) = stale(world.enter(tool(&session)).unwrap_err());
    let mut second = world.enter(tool(&latest)).unwrap();
    second.write("2").unwrap();
    world.leave(&mut second, Outcome::Complete).unwrap();

    let step = first
        .on(Event::Ledger(Err(Failed("no answer".into()))))
        .unwrap();
    match world.settle(&mut first, step) {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
}

/// R5: a renewal commits like a write, and never refuses a read.
#[test]
fn a_renewal_that_loses_leaves_without_a_state() {
    let world = World::new();
    let session = world.created();
    world.pass(DAY / 2 + 1);
    let mut reader = world.enter(tool(&session)).unwrap();
    let mut writer = world.enter(tool(&session)).unwrap();
    writer.write("1").unwrap();
    let latest = world.leave(&mut writer, Outcome::Complete).unwrap();
    assert_eq!(
        world.leave(&mut reader, Outcome::Complete).unwrap().state,
        None
    );

    world.pass(DAY / 2 + 1);
    let mut reader = world.enter(tool(&latest)).unwrap();
    let renewed = world.leave(&mut reader, Outcome::Complete).unwrap();
    assert!(renewed.state.is_some());
    assert!(
        !stale(world.enter(tool(&latest)).unwrap_err()).0,
        "it is the head now"
    );
    let mut reader = world.enter(tool(&renewed)).unwrap();
    assert_eq!(reader.session().unwrap().value(), Some("1"));

    world.pass(DAY / 2 + 1);
    world.lost.set(2);
    assert_eq!(
        world.leave(&mut reader, Outcome::Complete).unwrap().state,
        None
    );
    assert!(reader.refused().is_empty(), "it was not due when it came");
}

/// R6: what has ended by the ledger's clock is refused, whatever a replica's clock says.
#[test]
fn a_replica_that_was_stopped_revives_nothing() {
    let world = World::new();
    let state = world.asked();
    let (mut exchange, step) = world.guard.message(Message {
        carried: Sent::Text(&state),
        ..call()
    });
    let Step::Ledger(command) = step else {
        panic!("{step:?}")
    };
    // A day passes between opening and asking.
    world.pass(DAY);
    match exchange.on(Event::Ledger(world.run(&command))).unwrap() {
        Step::Reply(reply) => assert_eq!(code(reply), -32602),
        other => panic!("{other:?}"),
    }
    assert_eq!(exchange.refused()[0].code, "expired");
}

/// R8, R9: what is older than the ledger's memory is unknown, of any generation.
#[test]
fn what_is_older_than_the_ledger_is_unknown() {
    let world = World::new();
    let session = world.created();
    let state = world.asked();
    world.pass(60);
    world.lose_everything();
    assert_eq!(code(world.second_round(&state).unwrap_err()), -32602);
    assert_eq!(code(world.enter(read(&session)).unwrap_err()), -32043);
    // Within the allowance nobody knows. A memory begins a second before it is made.
    world.pass(ALLOWANCE - 1);
    let close = world.asked();
    assert_eq!(code(world.second_round(&close).unwrap_err()), -32602);
    world.pass(1);
    world.second_round(&world.asked()).unwrap();

    // A ledger on the same machine has the same clock: it serves at once, and knows nothing from before.
    let local = |guard: GuardBuilder| {
        guard.ledger(LedgerSettings {
            local: true,
            ..LedgerSettings::default()
        })
    };
    let world = World::with(local);
    let before = world.asked();
    world.pass(1);
    world.lose_everything();
    assert_eq!(code(world.second_round(&before).unwrap_err()), -32602);
    world.second_round(&world.asked()).unwrap();

    // On the day when it is introduced, what is not older than a date is let in.
    let adopt = Some(START);
    let world = World::with(|guard| {
        guard.ledger(LedgerSettings {
            adopt,
            ..LedgerSettings::default()
        })
    });
    let session = world.created();
    world.pass(60);
    world.lose_everything();
    world.enter(read(&session)).unwrap();
}

/// What ended is gone too when a clock was so far ahead, and when it is right again nobody knows what else.
#[test]
fn a_clock_that_was_far_ahead_revives_nothing() {
    let world = World::new();
    let open = Namespace::new(AUDIENCE, "").open();
    let was_ahead = |seconds| {
        let mut ledger = world.ledger.borrow_mut();
        assert_eq!(ledger.run(&open, world.now() + seconds)[0], "ok");
    };
    let (session, other) = (world.created(), world.created());
    let delete = Message {
        method: "sessions/delete",
        ..read(&session)
    };
    world.enter(delete).unwrap();
    was_ahead(300);
    assert_eq!(code(world.enter(read(&session)).unwrap_err()), -32043);
    world.enter(read(&other)).unwrap();

    was_ahead(30 * DAY);
    assert_eq!(code(world.enter(read(&session)).unwrap_err()), -32043);
    assert_eq!(code(world.enter(read(&other)).unwrap_err()), -32043);
    world.pass(ALLOWANCE + 1);
    world.enter(read(&world.created())).unwrap();
}

/// What was forgotten once is forgotten, whatever a clock says that is behind for a while.
#[test]
fn a_clock_that_was_behind_revives_nothing() {
    let world = World::new();
    let (session, state) = (world.created(), world.asked());
    world.pass(60);
    world.lose_everything();
    let open = Namespace::new(AUDIENCE, "").open();
    let behind = world.now() - 9000;
    assert_eq!(world.ledger.borrow_mut().run(&open, behind)[0], "ok");
    assert_eq!(code(world.second_round(&state).unwrap_err()), -32602);
    assert_eq!(code(world.enter(read(&session)).unwrap_err()), -32043);
}

#[test]
fn what_comes_from_the_future_is_a_replicas_clock() {
    let world = World::new();
    let session = world.created();
    let (mut exchange, step) = world.guard.message(read(&session));
    let Step::Ledger(command) = step else {
        panic!("{step:?}")
    };
    let behind = world.now() - ALLOWANCE - 1;
    let mut ledger = Memory::new(Memory::ROOM, START - 60);
    let reply = ledger.run(&command, behind);
    match exchange.on(Event::Ledger(Ok(reply))).unwrap() {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
    assert_eq!(exchange.refused()[0].code, "ledger_unavailable");
}

/// R11: by when it began, not by when it was last sealed.
#[test]
fn whoever_signs_out_is_out_everywhere() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(read(&session)).unwrap();
    let state = world.asked();
    let handle = world.act(&exchange, seal("1", None)).unwrap();
    world.pass(60);
    world.revoke();
    world.pass(60);
    // What is sealed later began before.
    exchange.write("1").unwrap();
    let written = world.leave(&mut exchange, Outcome::Complete).unwrap();
    for session in [&session, &written] {
        assert_eq!(code(world.enter(read(session)).unwrap_err()), -32043);
    }
    assert_eq!(code(world.second_round(&state).unwrap_err()), -32602);
    let exchange = world.enter(call()).unwrap();
    let opened = world.act(&exchange, open(&handle));
    assert!(opened.unwrap_err().tool.unwrap().is_error);
    // Whoever signs in again begins anew.
    world.enter(read(&world.created())).unwrap();
}

#[test]
fn what_ended_stays_ended() {
    let world = World::new();
    let session = world.created();
    let mut late = world.enter(read(&session)).unwrap();
    late.write("1").unwrap();
    let delete = Message {
        method: "sessions/delete",
        ..read(&session)
    };
    world.enter(delete.clone()).unwrap();
    assert_eq!(
        code(world.leave(&mut late, Outcome::Complete).unwrap_err()),
        -32043
    );
    assert_eq!(code(world.enter(read(&session)).unwrap_err()), -32043);
    assert_eq!(code(world.enter(delete).unwrap_err()), -32043);
}

/// R12: without a ledger nothing is promised.
#[test]
fn single_use_of_a_handle_takes_a_ledger() {
    let codec = Codec::new(ring(), AUDIENCE).unwrap();
    let guard = Guard::builder(codec).build().unwrap();
    let (exchange, _) = guard.message(call());
    let handle_type = "basket";
    let what = What::Seal {
        value: "1",
        ttl: None,
        before: None,
        once: true,
    };
    let (mut acting, step) = exchange.act(Act { handle_type, what });
    assert!(matches!(step, Step::Reply(reply) if reply.error.as_ref().unwrap().code == -32603));
    assert!(
        acting.refused()[0]
            .message
            .contains("a guard with a ledger")
    );
    assert!(guard.revoke(&alice(), None).is_err());
}

fn seal(value: &str, before: Option<Before>) -> What<'_> {
    What::Seal {
        value,
        ttl: None,
        once: before.is_some(),
        before,
    }
}

fn open(made: &Made) -> What<'_> {
    What::Open {
        handle: Sent::Text(made.handle.as_deref().unwrap()),
        max_age: None,
        once: true,
    }
}

/// R13: a handle is used up by what takes its place, so that a handler that fails loses nothing.
#[test]
fn a_handle_is_used_up_by_its_renewal() {
    let world = World::new();
    let exchange = world.enter(call()).unwrap();
    let first = world.act(&exchange, seal("1", None)).unwrap();
    world.act(&exchange, open(&first)).unwrap();
    let opened = world.act(&exchange, open(&first)).unwrap();
    assert_eq!(opened.value.as_deref(), Some("1"));
    let second = world
        .act(&exchange, seal("2", opened.before.clone()))
        .unwrap();
    assert!(world.act(&exchange, open(&first)).is_err());
    assert!(
        world.act(&exchange, seal("3", opened.before)).is_err(),
        "by one alone"
    );
    assert_eq!(
        world
            .act(&exchange, open(&second))
            .unwrap()
            .value
            .as_deref(),
        Some("2")
    );
}

#[test]
fn a_session_of_the_transport_ends_when_it_is_idle_and_for_good() {
    let world = World::with(|guard| {
        guard.transport(TransportSettings {
            idle: Some(Duration::from_secs(600)),
            ..TransportSettings::default()
        })
    });
    let (mut exchange, _) = world.guard.transport(TransportMessage {
        http: Some("POST"),
        method: Some("initialize"),
        initialize: Some("{}"),
        principal: Some(alice()),
        ..TransportMessage::default()
    });
    let head = Head {
        initialized: Some(r#"{"protocolVersion":"2025-11-25"}"#),
        ..Head::default()
    };
    let token = match exchange.on(Event::Left(head)).unwrap() {
        Step::Leave(leave) => leave.header.unwrap(),
        other => panic!("{other:?}"),
    };
    let send = |http| {
        let (mut exchange, step) = world.guard.transport(TransportMessage {
            http: Some(http),
            method: (http == "POST").then_some("tools/list"),
            header: Sent::Text(&token),
            principal: Some(alice()),
            ..TransportMessage::default()
        });
        match world.settle(&mut exchange, step) {
            Step::Deliver(_) => 200,
            Step::Reply(reply) => reply.status.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..3 {
        world.pass(600);
        assert_eq!(send("POST"), 200);
    }
    world.pass(601);
    assert_eq!(send("POST"), 404);
    world.pass(1);
    assert_eq!(send("POST"), 404);

    assert_eq!(send("DELETE"), 204);
    assert_eq!(send("DELETE"), 404);
}

/// A ledger that is full refuses the newcomer, and forgets nothing.
#[test]
fn a_full_ledger_refuses_whoever_comes() {
    let world = World::new();
    *world.ledger.borrow_mut() = Memory::new(4096, START);
    let states: Vec<_> = (0..20).map(|_| world.asked()).collect();
    let answers: Vec<_> = states
        .iter()
        .map(|state| world.second_round(state))
        .collect();
    let taken = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((1..20).contains(&taken), "{taken}");
    for (state, answer) in states.iter().zip(answers) {
        let again = code(world.second_round(state).unwrap_err());
        assert_eq!(again, if answer.is_ok() { -32602 } else { -32603 });
    }
    // When those are over, there is room again.
    world.pass(900);
    world.second_round(&world.asked()).unwrap();
}

/// The metadata of `stale` goes out as JSON for clients that know only the draft.
#[test]
fn a_tools_answer_has_the_latest_state_where_the_draft_has_it() {
    let world = World::new();
    let session = world.created();
    let mut exchange = world.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = world.leave(&mut exchange, Outcome::Complete).unwrap();
    let reply = world.enter(tool(&session)).unwrap_err();
    let result: Value = serde_json::to_value(reply.tool.unwrap()).unwrap();
    let meta = &result["_meta"]["io.modelcontextprotocol/session"];
    assert_eq!(meta["state"], written.state.unwrap());
    assert_eq!(meta["sessionId"], session.session_id);
    assert_eq!(result["_meta"]["io.github.sealwax/stale"]["ran"], false);
    assert_eq!(
        (&result["isError"], &result["resultType"]),
        (&true.into(), &"complete".into())
    );
}

/// Nothing leaves before the ledger remembers, or it would be unknown when it comes back.
#[test]
fn the_first_message_opens_the_ledger() {
    let world = World::new();
    let fresh = Guard::builder(codec(&world.clock)).ledger(LedgerSettings::default());
    let fresh = fresh.build().unwrap();
    let opens = |guard: &Guard| {
        let (exchange, step) = guard.message(call());
        match step {
            Step::Ledger(command) => {
                assert_eq!(command.script, Script::Open);
                Some(exchange)
            }
            Step::Deliver(_) => None,
            other => panic!("{other:?}"),
        }
    };
    // Of a list nothing leaves that a ledger is asked about.
    let (_, step) = fresh.message(Message {
        method: "tools/list",
        ..Message::default()
    });
    assert!(matches!(step, Step::Deliver(_)), "{step:?}");
    // One that does not open refuses nobody, and is left alone for a while.
    let mut exchange = opens(&fresh).unwrap();
    let failed = Event::Ledger(Err(Failed("no answer".into())));
    assert!(matches!(exchange.on(failed).unwrap(), Step::Deliver(_)));
    assert_eq!(exchange.refused()[0].code, "ledger_unavailable");
    assert!(opens(&fresh).is_none());
    world.pass(5);
    let mut exchange = opens(&fresh).unwrap();
    assert!(exchange.on(Event::Begun(Ok("1"))).is_err(), "out of order");
    let open = Event::Ledger(Ok(vec!["ok".into()]));
    assert!(matches!(exchange.on(open).unwrap(), Step::Deliver(_)));
    world.pass(DAY);
    assert!(opens(&fresh).is_none());
}

/// R10: who signs somebody out hears whether that holds.
#[test]
fn a_revocation_is_tried_twice_and_confirmed() {
    let world = World::new();
    let told = |replies: &[Result<&[&str], &str>]| {
        let (mut exchange, mut step) = world.guard.revoke(&alice(), None).unwrap();
        for reply in replies {
            assert!(matches!(step, Step::Ledger(_)), "{step:?}");
            let texts = |words: &[&str]| words.iter().map(ToString::to_string).collect();
            let reply = reply.map(texts).map_err(|why| Failed(why.into()));
            step = exchange.on(Event::Ledger(reply)).unwrap();
        }
        let codes: Vec<_> = exchange.refused().iter().map(|one| one.code).collect();
        (matches!(step, Step::Done(_)), codes)
    };
    assert_eq!(told(&[Ok(&["ok", "0"])]), (true, vec![]));
    assert_eq!(told(&[Err("late"), Ok(&["ok", "1"])]), (true, vec![]));
    let unconfirmed = (true, vec!["ledger_unconfirmed"]);
    assert_eq!(told(&[Ok(&["ok", "1", "unconfirmed"])]), unconfirmed);
    let failed = (false, vec!["ledger_unavailable"]);
    assert_eq!(told(&[Ok(&["ok", "2", "unconfirmed"])]), failed);
    assert_eq!(told(&[Ok(&["full"])]), failed);
    assert_eq!(told(&[Ok(&[])]), failed);
    assert_eq!(told(&[Err("late"), Err("late")]), failed);
}
