//! The latest state of a session: writes, updates and renewals.

use sealwax::SessionMetadata;
use sealwax_mcp::{ClientValue, Event, Failed, HandlerResult, Message, Step, Updated};

use super::replica::{Replica, code, read, stale, tool};

/// The state of a session that nobody wrote is not stored: nobody is ever given it.
#[test]
fn a_session_that_nobody_wrote_is_small() {
    let replica = Replica::new();
    let session = replica.created();
    let size = |session| {
        let Step::Ledger(command) = replica.guard.message(read(session)).1 else {
            panic!("expected a question")
        };
        command.args.last().unwrap().len()
    };
    assert_eq!(size(&session), 0);
    let mut exchange = replica.enter(read(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = replica.leave(&mut exchange);
    assert_eq!(size(&written), written.state.unwrap().len());
}

/// What leaves is the result that was made from the value that is written.
#[test]
fn a_result_that_is_made_again_takes_the_place_of_the_first() {
    let replica = Replica::new();
    let session = replica.created();
    fn own(session: &SessionMetadata) -> Message<'_> {
        Message {
            method: "notes/search",
            ..read(session)
        }
    }
    let mut slow = replica.enter(own(&session)).unwrap();
    let mut other = replica.enter(tool(&session)).unwrap();
    other.write("1").unwrap();
    replica.leave(&mut other);
    slow.update("1").unwrap();
    let of = |page| HandlerResult {
        token: ClientValue::Text(page),
        ..HandlerResult::default()
    };
    let step = slow.on(Event::Result(of("made from 1"))).unwrap();
    let step = replica.settle(&mut slow, step);
    assert!(matches!(&step, Step::Update(value) if value == "1"));
    let updated = Updated {
        value: "2",
        result: Some(of("made from 2")),
    };
    let step = slow.on(Event::Updated(Ok(updated))).unwrap();
    match replica.settle(&mut slow, step) {
        Step::Respond(leave) => {
            let view = replica.clock.view("alice");
            let cursor = view.cursor("notes/search").open(leave.token.unwrap());
            assert_eq!(cursor.unwrap().payload(), b"made from 2");
            let session = view.sessions().open(&leave.metadata.unwrap()).unwrap();
            assert_eq!(session.payload(), b"2");
        }
        other => panic!("{other:?}"),
    }
}

/// A request that others overtake again and again ends after 32 tries.
#[test]
fn an_update_is_not_tried_for_ever() {
    let replica = Replica::new();
    let mut session = replica.created();
    let mut slow = replica.enter(tool(&session)).unwrap();
    slow.update("0").unwrap();
    let overtake = |session: &SessionMetadata| {
        let mut other = replica.enter(tool(session)).unwrap();
        other.write("1").unwrap();
        replica.leave(&mut other)
    };
    session = overtake(&session);
    let step = slow.on(Event::Result(HandlerResult::default())).unwrap();
    let mut step = replica.settle(&mut slow, step);
    let mut tries = 0;
    while let Step::Update(_) = step {
        tries += 1;
        assert!(tries <= 32, "for ever");
        session = overtake(&session);
        let (value, result) = ("2", None);
        let event = Event::Updated(Ok(Updated { value, result }));
        step = slow.on(event).unwrap();
        step = replica.settle(&mut slow, step);
    }
    assert_eq!(tries, 32);
    let Step::Reply(reply) = step else {
        panic!("{step:?}")
    };
    let latest = stale(reply);
    assert_eq!(latest.state, session.state);
}

/// After a try without an answer, "stale" does not tell whether it was written: another write may have followed it.
#[test]
fn stale_after_a_lost_answer_is_no_verdict() {
    let replica = Replica::new();
    let session = replica.created();
    let mut first = replica.enter(tool(&session)).unwrap();
    first.write("1").unwrap();
    let step = first.on(Event::Result(HandlerResult::default())).unwrap();
    let Step::Ledger(command) = step else {
        panic!("{step:?}")
    };
    replica.run(&command);
    let latest = stale(replica.enter(tool(&session)).unwrap_err());
    let mut second = replica.enter(tool(&latest)).unwrap();
    second.write("2").unwrap();
    replica.leave(&mut second);

    let step = first
        .on(Event::Ledger(Err(Failed("no answer".into()))))
        .unwrap();
    match replica.settle(&mut first, step) {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
}
