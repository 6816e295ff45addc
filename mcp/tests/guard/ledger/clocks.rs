//! Clocks: a ledger that lost its records, and a replica that was stopped. Clocks that are wrong: ledger.json.

use sealwax_mcp::ledger::{Memory, Script};
use sealwax_mcp::{
    ClientValue, Event, Exchange, Failed, Guard, HandleOp, HandleOpKind, HandlerResult,
    LedgerSettings, Message, Scope, Step,
};

use super::replica::{DAY, Replica, again, call, code};

/// A token that is over by the ledger's clock is refused, whatever a replica's clock says.
#[test]
fn a_replica_that_was_stopped_revives_nothing() {
    let replica = Replica::new();
    let state = replica.asked();
    let (mut exchange, step) = replica.guard.message(again(&state));
    // A day passes between opening and asking.
    replica.pass(DAY);
    match replica.settle(&mut exchange, step) {
        Step::Reply(reply) => assert_eq!(code(reply), -32602),
        other => panic!("{other:?}"),
    }
    assert_eq!(exchange.refused()[0].code, "expired");
}

/// The log tells how new the ledger is. A memory begins a second before it is made.
#[test]
fn what_is_unknown_is_told_with_the_ledgers_age() {
    let replica = Replica::new();
    *replica.ledger.borrow_mut() = Memory::new(Memory::CAPACITY, replica.now());
    replica.pass(2);
    let state = replica.asked();
    let (mut exchange, step) = replica.guard.message(again(&state));
    let step = replica.settle(&mut exchange, step);
    assert!(matches!(step, Step::Reply(_)), "{step:?}");
    let refused = &exchange.refused()[0];
    assert_eq!(refused.code, "unknown");
    let why = &refused.message;
    assert!(why.ends_with("they begin 3 s ago"), "{why}");
}

fn opens(step: &Step) -> bool {
    matches!(step, Step::Ledger(open) if open.script == Script::Open)
}

fn mint(exchange: &Exchange) -> (Exchange, Step) {
    exchange.handle(HandleOp {
        handle_type: "basket",
        kind: HandleOpKind::Mint { max_age: None },
    })
}

/// The ledger is opened before a token leaves, or the token would be unknown when it comes back.
#[test]
fn the_first_message_opens_the_ledger() {
    let replica = Replica::new();
    let fresh = || Guard::builder(replica.clock.codec()).ledger(LedgerSettings::default());
    let list = || Message {
        method: "tools/list",
        ..call()
    };
    let opened = || Event::Ledger(Ok(vec!["ok".into()]));
    let failed = || Event::Ledger(Err(Failed::Late));
    // A failure to open, twice, refuses no request, and the next try is later.
    let guard = fresh().build().unwrap();
    let (mut exchange, step) = guard.message(call());
    assert!(opens(&step), "{step:?}");
    assert!(exchange.on(Event::Begun(Ok("1"))).is_err(), "out of order");
    assert!(opens(&exchange.on(failed()).unwrap()));
    assert!(matches!(exchange.on(failed()), Ok(Step::Deliver(_))));
    assert_eq!(exchange.refused()[0].code, "ledger_unavailable");
    assert!(!opens(&guard.message(call()).1));
    replica.pass(5);
    assert!(opens(&guard.message(call()).1));
    replica.pass(5);
    // A list makes its cursor with the result, so the ledger is opened then: unless it is anybody's.
    for (scope, asks) in [(Some(Scope::Public), false), (None, true)] {
        let (mut listing, step) = guard.message(list());
        assert!(matches!(step, Step::Deliver(_)), "{step:?}");
        let mut step = listing.on(Event::Result(HandlerResult {
            token: ClientValue::Text("2"),
            scope,
            ..HandlerResult::default()
        }));
        assert_eq!(opens(step.as_ref().unwrap()), asks);
        if asks {
            step = listing.on(opened());
        }
        assert!(matches!(step, Ok(Step::Respond(leave)) if leave.token.is_some()));
    }
    replica.pass(DAY);
    assert!(!opens(&guard.message(call()).1));
    // What its handler hands out leaves before the result.
    let (handling, _) = fresh().build().unwrap().message(list());
    let (mut minting, step) = mint(&handling);
    assert!(opens(&step), "{step:?}");
    assert!(matches!(minting.on(opened()), Ok(Step::Done(_))));
    // Where nothing can wait for it there, the message opens it.
    let guard = fresh().mints_at_once().build().unwrap();
    let (mut handling, step) = guard.message(list());
    assert!(opens(&step), "{step:?}");
    assert!(opens(&handling.on(failed()).unwrap()));
    assert!(matches!(handling.on(failed()), Ok(Step::Deliver(_))));
    replica.pass(6);
    assert!(matches!(mint(&handling).1, Step::Done(_)));
}
