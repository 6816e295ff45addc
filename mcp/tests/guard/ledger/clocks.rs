//! Clocks: a ledger that lost its records, and a replica that was stopped. Clocks that are wrong: ledger.json.

use sealwax_mcp::ledger::Script;
use sealwax_mcp::{
    ClientValue, Event, Failed, Guard, HandleOp, HandleOpKind, HandlerResult, LedgerSettings,
    Message, Scope, Step,
};

use super::replica::{DAY, Replica, alice, call, code, read};

/// A token that is over by the ledger's clock is refused, whatever a replica's clock says.
#[test]
fn a_replica_that_was_stopped_revives_nothing() {
    let replica = Replica::new();
    let state = replica.asked();
    let (mut exchange, step) = replica.guard.message(Message {
        token: ClientValue::Text(&state),
        ..call()
    });
    let Step::Ledger(command) = step else {
        panic!("{step:?}")
    };
    // A day passes between opening and asking.
    replica.pass(DAY);
    match exchange
        .on(Event::Ledger(Ok(replica.run(&command))))
        .unwrap()
    {
        Step::Reply(reply) => assert_eq!(code(reply), -32602),
        other => panic!("{other:?}"),
    }
    assert_eq!(exchange.refused()[0].code, "expired");
}

/// The log tells how new the ledger is. A memory begins a second before it is made.
#[test]
fn what_is_unknown_is_told_with_the_ledgers_age() {
    let replica = Replica::new();
    replica.lose_everything();
    replica.pass(2);
    let (state, created) = (replica.asked(), replica.created());
    for message in [
        Message {
            token: ClientValue::Text(&state),
            ..call()
        },
        read(&created),
    ] {
        let (mut exchange, step) = replica.guard.message(message);
        assert!(matches!(
            replica.settle(&mut exchange, step),
            Step::Reply(_)
        ));
        let refused = &exchange.refused()[0];
        assert_eq!(refused.code, "unknown");
        assert!(
            refused.message.ends_with("they begin 3 s ago"),
            "{}",
            refused.message
        );
    }
}

/// The ledger is opened before a token leaves, or the token would be unknown when it comes back.
#[test]
fn the_first_message_opens_the_ledger() {
    let replica = Replica::new();
    let fresh = Guard::builder(replica.clock.codec()).ledger(LedgerSettings::default());
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
    let list = Message {
        method: "tools/list",
        principal: Some(Ok(alice())),
        ..Message::default()
    };
    let (mut listing, step) = fresh.message(list.clone());
    assert!(matches!(step, Step::Deliver(_)), "{step:?}");
    // What its handler hands out leaves before the result.
    let other = Guard::builder(replica.clock.codec()).ledger(LedgerSettings::default());
    let (handling, _) = other.build().unwrap().message(list.clone());
    let (mut minting, step) = handling.handle(HandleOp {
        handle_type: "basket",
        kind: HandleOpKind::Mint { max_age: None },
    });
    assert!(matches!(&step, Step::Ledger(open) if open.script == Script::Open));
    let opened = || Event::Ledger(Ok(vec!["ok".into()]));
    assert!(matches!(minting.on(opened()).unwrap(), Step::Done(_)));
    // Where nothing can wait for it there, the message opens it.
    let other = Guard::builder(replica.clock.codec()).ledger(LedgerSettings::default());
    let other = other.mints_at_once().build().unwrap();
    let (mut handling, step) = other.message(list.clone());
    assert!(matches!(&step, Step::Ledger(open) if open.script == Script::Open));
    assert!(matches!(
        handling.on(Event::Ledger(Err(Failed::Late))).unwrap(),
        Step::Ledger(_)
    ));
    assert!(matches!(
        handling.on(Event::Ledger(Err(Failed::Late))).unwrap(),
        Step::Deliver(_)
    ));
    replica.pass(6);
    let (_, step) = handling.handle(HandleOp {
        handle_type: "basket",
        kind: HandleOpKind::Mint { max_age: None },
    });
    assert!(matches!(step, Step::Done(_)), "{step:?}");
    // A failure to open, twice, refuses no request, and the next try is later.
    let mut exchange = opens(&fresh).unwrap();
    let failed = || Event::Ledger(Err(Failed::Wrong("no answer".into())));
    match exchange.on(failed()).unwrap() {
        Step::Ledger(command) => assert_eq!(command.script, Script::Open),
        other => panic!("{other:?}"),
    }
    assert!(matches!(exchange.on(failed()).unwrap(), Step::Deliver(_)));
    assert_eq!(exchange.refused()[0].code, "ledger_unavailable");
    assert!(opens(&fresh).is_none());
    replica.pass(5);
    let mut exchange = opens(&fresh).unwrap();
    assert!(exchange.on(Event::Begun(Ok("1"))).is_err(), "out of order");
    let open = || Event::Ledger(Ok(vec!["ok".into()]));
    drop(exchange);
    // A list makes its cursor with the result, so the ledger is opened then: unless it is anybody's.
    replica.pass(5);
    let left = |scope| HandlerResult {
        token: ClientValue::Text("2"),
        scope,
        ..HandlerResult::default()
    };
    let public = Event::Result(left(Some(Scope::Public)));
    let step = fresh.message(list).0.on(public).unwrap();
    assert!(matches!(step, Step::Respond(_)), "{step:?}");
    match listing.on(Event::Result(left(None))).unwrap() {
        Step::Ledger(command) => assert_eq!(command.script, Script::Open),
        other => panic!("{other:?}"),
    }
    match listing.on(open()).unwrap() {
        Step::Respond(leave) => assert!(leave.token.unwrap().starts_with("sw1.")),
        other => panic!("{other:?}"),
    }
    replica.pass(DAY);
    assert!(opens(&fresh).is_none());
    assert!(listing.on(open()).is_err(), "out of order");
}
