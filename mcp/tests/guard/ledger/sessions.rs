//! The latest state of a session: writes, updates and renewals.

use sealwax_mcp::{Event, Failed, HandlerResult, Step};

use super::replica::{Replica, code, command, read, stale, tool};

/// The state of a session that nobody wrote is not stored: nobody is ever given it.
#[test]
fn a_session_that_nobody_wrote_is_small() {
    let replica = Replica::new();
    let session = replica.created();
    let size = |session| {
        let asked = command(replica.guard.message(read(session)).1);
        asked.args.last().unwrap().len()
    };
    assert_eq!(size(&session), 0);
    let mut exchange = replica.enter(read(&session)).unwrap();
    exchange.write("1").unwrap();
    let written = replica.leave(&mut exchange);
    assert_eq!(size(&written), written.state.unwrap().len());
}

/// After a try without an answer, "stale" does not tell whether it was written: another write may have followed it.
#[test]
fn stale_after_a_lost_answer_is_no_verdict() {
    let replica = Replica::new();
    let session = replica.created();
    let mut first = replica.enter(tool(&session)).unwrap();
    first.write("1").unwrap();
    let step = first.on(Event::Result(HandlerResult::default())).unwrap();
    replica.run(&command(step));
    let (mut late, step) = replica.guard.message(tool(&session));
    let Step::Reply(reply) = replica.settle(&mut late, step) else {
        panic!("a state that is not the latest ran")
    };
    let refused = late.refused().remove(0);
    let logged = (refused.code, refused.id.map(|id| id.len()));
    assert_eq!(logged, ("stale", Some(32)));
    let latest = stale(reply);
    let mut second = replica.enter(tool(&latest)).unwrap();
    second.write("2").unwrap();
    replica.leave(&mut second);

    let step = first
        .on(Event::Ledger(Err(Failed::Wrong("no answer".into()))))
        .unwrap();
    match replica.settle(&mut first, step) {
        Step::Reply(reply) => assert_eq!(code(reply), -32603),
        other => panic!("{other:?}"),
    }
}
