//! A `requestState` from before the guard, until its date.

use std::cell::RefCell;

use super::*;
use sealwax_mcp::ledger::{Memory, Script};
use sealwax_mcp::{Failed, Foreign, LedgerSettings, Verdict};

const UNTIL: u64 = START + 3600;
const OLD: &str = "v1.eyJwIjp7Im5vdGUiOjd9fQ.c2lnbmVk";

fn retry(token: &str) -> Message<'_> {
    Message {
        token: ClientValue::Text(token),
        ..call()
    }
}

fn opened(issued_at: Option<u64>) -> Event<'static> {
    let payload = r#"{"note":7}"#.into();
    Event::Transition(Ok(Some(Foreign { payload, issued_at })))
}

fn refused(mut exchange: Exchange, step: Step) -> (&'static str, i32) {
    (exchange.refused().remove(0).code, code(step))
}

#[test]
fn it_is_asked_of_the_authors_opener_and_what_is_sealed_next_is_ours() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.transition_until(UNTIL));
    let (mut exchange, step) = guard.message(retry(OLD));
    match step {
        Step::Transition { token, within } => {
            assert_eq!((token.as_str(), within), (OLD, Duration::from_secs(1)));
        }
        other => panic!("{other:?}"),
    }
    assert!(exchange.on(Event::Answer(Verdict::Yes)).is_err());
    match exchange.on(opened(None)).unwrap() {
        Step::Deliver(deliver) => assert_eq!(deliver.opened.as_deref(), Some(r#"{"note":7}"#)),
        other => panic!("{other:?}"),
    }
    match responded(&mut exchange, ASKS) {
        Step::Respond(respond) => assert!(respond.token.unwrap().starts_with("sw1.")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_opener_refuses_or_fails_at_is_not_delivered() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.transition_until(UNTIL));
    let answered = |event| {
        let (mut exchange, _) = guard.message(retry(OLD));
        let step = exchange.on(event).unwrap();
        refused(exchange, step)
    };
    assert_eq!(answered(Event::Transition(Ok(None))), ("malformed", -32602));
    let failed = Event::Transition(Err(Failed("transition: it threw".into())));
    assert_eq!(answered(failed), ("accept_unavailable", -32603));
}

#[test]
fn only_what_may_be_from_before_is_asked_about() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.transition_until(UNTIL));
    let judged = |guard: &Guard, message| {
        let (exchange, step) = guard.message(message);
        refused(exchange, step)
    };
    let changed = format!("sw1.{}", "A".repeat(100));
    assert_eq!(judged(&guard, retry(&changed)).1, -32602);
    let no_text = || Message {
        token: ClientValue::Other,
        ..call()
    };
    assert_eq!(judged(&guard, no_text()), ("malformed", -32602));
    let cursor = || Message {
        method: "tools/list",
        target: None,
        arguments: None,
        ..retry(OLD)
    };
    assert_eq!(judged(&guard, cursor()), ("malformed", -32602));
    let without = guard_with(&clock, |guard| guard);
    assert_eq!(judged(&without, retry(OLD)), ("malformed", -32602));
    clock.set(UNTIL);
    assert_eq!(judged(&guard, retry(OLD)), ("malformed", -32602));
    // A caller who is not known is not asked about it.
    let nobody = Message {
        principal: None,
        ..retry(OLD)
    };
    let (_, step) = guard.message(nobody);
    assert!(matches!(step, Step::Identify), "{step:?}");
}

#[test]
fn with_a_ledger_it_counts_once_and_not_for_who_was_signed_out() {
    let clock = clock();
    let settings = LedgerSettings::default();
    let guard = guard_with(&clock, |guard| {
        guard.transition_until(UNTIL).ledger(settings)
    });
    let ledger = RefCell::new(Memory::new(Memory::CAPACITY, clock.now()));
    let run = |exchange: &mut Exchange, mut step: Step| {
        while let Step::Ledger(command) = step {
            let reply = ledger.borrow_mut().run(&command, clock.now());
            step = exchange.on(Event::Ledger(Ok(reply))).unwrap();
        }
        step
    };
    let (mut exchange, step) = guard.message(call());
    run(&mut exchange, step);
    clock.pass(60);
    let turn = |issued_at| {
        let (mut exchange, step) = guard.message(retry(OLD));
        assert!(matches!(step, Step::Transition { .. }));
        let step = exchange.on(opened(issued_at)).unwrap();
        match &step {
            Step::Ledger(command) => assert_eq!(command.script, Script::Admit),
            other => panic!("{other:?}"),
        }
        match run(&mut exchange, step) {
            Step::Deliver(_) => "delivered",
            step => refused(exchange, step).0,
        }
    };
    let before = clock.now() - 30;
    assert_eq!(turn(Some(before)), "delivered");
    assert_eq!(turn(Some(before)), "used");

    let (mut exchange, step) = guard.revoke(&alice(), None).unwrap();
    assert!(matches!(run(&mut exchange, step), Step::Done(_)));
    clock.pass(60);
    assert_eq!(turn(Some(before)), "revoked");
}
