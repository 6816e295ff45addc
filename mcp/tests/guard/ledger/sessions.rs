//! The latest state of a session: writes, updates and renewals.

use sealwax::SessionMetadata;
use sealwax_mcp::{ClientValue, Event, Failed, HandlerResult, Message, Outcome, Step, Updated};
use serde_json::Value;

use super::replica::{DAY, Replica, code, next, read, stale, tool};

/// The first state is a head too, and a client that has an older one is given the latest.
#[test]
fn a_client_that_lost_an_answer_is_given_the_latest_state() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(read(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = replica.leave(&mut exchange, Outcome::Complete).unwrap();
    // The client never received it, and sends its older state.
    let (ran, latest) = stale(replica.enter(read(&session)).unwrap_err());
    assert!(!ran);
    assert_eq!(latest, written);
    let exchange = replica.enter(read(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("1"));
}

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
    let written = replica.leave(&mut exchange, Outcome::Complete).unwrap();
    assert_eq!(size(&written), written.state.unwrap().len());
}

#[test]
fn of_two_writers_one_wins_and_the_other_is_told() {
    let replica = Replica::new();
    let session = replica.created();
    let mut first = replica.enter(tool(&session)).unwrap();
    let mut second = replica.enter(tool(&session)).unwrap();
    first.write("1").unwrap();
    second.write("2").unwrap();
    let written = replica.leave(&mut first, Outcome::Complete).unwrap();
    let (ran, latest) = stale(replica.leave(&mut second, Outcome::Complete).unwrap_err());
    assert!(ran);
    assert_eq!(latest.state, written.state);
    assert_eq!(second.refused()[0].code, "stale");
}

#[test]
fn updates_at_once_all_succeed() {
    let replica = Replica::new();
    let session = replica.created();
    let mut running: Vec<_> = (0..20)
        .map(|_| replica.enter(tool(&session)).unwrap())
        .collect();
    let mut latest = session.clone();
    for exchange in &mut running {
        let value = next(exchange.session().unwrap().value().unwrap());
        exchange.update(&value).unwrap();
        latest = replica.leave(exchange, Outcome::Complete).unwrap();
    }
    let exchange = replica.enter(tool(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("20"));

    // A write, unlike an update, cannot be computed again.
    let mut whole = replica.enter(tool(&latest)).unwrap();
    let mut other = replica.enter(tool(&latest)).unwrap();
    other.update("21").unwrap();
    replica.leave(&mut other, Outcome::Complete).unwrap();
    whole.update("21").unwrap();
    whole.write("7").unwrap();
    assert!(stale(replica.leave(&mut whole, Outcome::Complete).unwrap_err()).0);
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
    replica.leave(&mut other, Outcome::Complete).unwrap();
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

#[test]
fn an_update_that_fails_loses_nothing() {
    let replica = Replica::new();
    let session = replica.created();
    let mut slow = replica.enter(tool(&session)).unwrap();
    let mut other = replica.enter(tool(&session)).unwrap();
    other.write("1").unwrap();
    let latest = replica.leave(&mut other, Outcome::Complete).unwrap();
    slow.update("1").unwrap();
    let step = slow.on(Event::Result(HandlerResult::default())).unwrap();
    let step = replica.settle(&mut slow, step);
    assert!(matches!(&step, Step::Update(value) if value == "1"));
    let failed = Event::Updated(Err(Failed("update: the function threw".into())));
    match slow.on(failed).unwrap() {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
    replica.enter(tool(&latest)).unwrap();
}

/// The next round sends the same state again.
#[test]
fn a_result_that_asks_back_commits_nothing() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    let left = replica
        .leave(&mut exchange, Outcome::InputRequired)
        .unwrap();
    assert_eq!(left.state, None);
    let exchange = replica.enter(tool(&session)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("0"));
}

/// A commit whose answer was lost is tried once more, and is no second write.
#[test]
fn a_commit_is_tried_again_without_harm() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    replica.lost.set(1);
    let latest = replica.leave(&mut exchange, Outcome::Complete).unwrap();
    let mut exchange = replica.enter(tool(&latest)).unwrap();

    // Without any answer it is the server's failure, and the latest state can be had later.
    exchange.write("2").unwrap();
    replica.lost.set(2);
    assert_eq!(
        code(replica.leave(&mut exchange, Outcome::Complete).unwrap_err()),
        -32603
    );
    let (_, latest) = stale(replica.enter(tool(&latest)).unwrap_err());
    let exchange = replica.enter(tool(&latest)).unwrap();
    assert_eq!(exchange.session().unwrap().value(), Some("2"));
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
    replica.run(&command).unwrap();
    let (_, latest) = stale(replica.enter(tool(&session)).unwrap_err());
    let mut second = replica.enter(tool(&latest)).unwrap();
    second.write("2").unwrap();
    replica.leave(&mut second, Outcome::Complete).unwrap();

    let step = first
        .on(Event::Ledger(Err(Failed("no answer".into()))))
        .unwrap();
    match replica.settle(&mut first, step) {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
}

/// A renewal commits like a write, and never refuses a read.
#[test]
fn a_renewal_that_loses_leaves_without_a_state() {
    let replica = Replica::new();
    let session = replica.created();
    replica.pass(DAY / 2 + 1);
    let mut reader = replica.enter(tool(&session)).unwrap();
    let mut writer = replica.enter(tool(&session)).unwrap();
    writer.write("1").unwrap();
    let latest = replica.leave(&mut writer, Outcome::Complete).unwrap();
    assert_eq!(
        replica.leave(&mut reader, Outcome::Complete).unwrap().state,
        None
    );

    replica.pass(DAY / 2 + 1);
    let mut reader = replica.enter(tool(&latest)).unwrap();
    let renewed = replica.leave(&mut reader, Outcome::Complete).unwrap();
    assert!(renewed.state.is_some());
    assert!(
        !stale(replica.enter(tool(&latest)).unwrap_err()).0,
        "it is the head now"
    );
    let mut reader = replica.enter(tool(&renewed)).unwrap();
    assert_eq!(reader.session().unwrap().value(), Some("1"));

    replica.pass(DAY / 2 + 1);
    replica.lost.set(2);
    assert_eq!(
        replica.leave(&mut reader, Outcome::Complete).unwrap().state,
        None
    );
    assert!(reader.refused().is_empty(), "it was not due when it came");
}

/// The metadata of `stale` goes out as JSON for clients that know only the draft.
#[test]
fn a_tools_answer_has_the_latest_state_where_the_draft_has_it() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = replica.leave(&mut exchange, Outcome::Complete).unwrap();
    let reply = replica.enter(tool(&session)).unwrap_err();
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
