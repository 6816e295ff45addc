//! Single use: of a `requestState`, and of a handle.

use crate::common::{AUDIENCE, ring};
use sealwax::Codec;
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::{
    ClientValue, Event, Exchange, Guard, HandleOp, HandleOpKind, Item, LedgerSettings, Message,
    Outcome, Step,
};

use super::replica::{Replica, START, alice, call, code, open, read, seal, stale, tool};

#[test]
fn a_state_is_used_once() {
    let replica = Replica::new();
    let state = replica.asked();
    replica.second_round(&state).unwrap();
    assert_eq!(code(replica.second_round(&state).unwrap_err()), -32602);
    replica.second_round(&replica.asked()).unwrap();

    let replica = Replica::with(|guard| {
        guard.ledger(LedgerSettings {
            reusable_request_state: true,
            ..LedgerSettings::default()
        })
    });
    let state = replica.asked();
    replica.second_round(&state).unwrap();
    replica.second_round(&state).unwrap();
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again_by_the_same_attempt() {
    let replica = Replica::new();
    let state = replica.asked();
    replica.lost.set(1);
    replica.second_round(&state).unwrap();
    assert_eq!(
        code(replica.second_round(&state).unwrap_err()),
        -32602,
        "used by the first try"
    );

    let state = replica.asked();
    replica.lost.set(2);
    assert_eq!(
        code(replica.second_round(&state).unwrap_err()),
        -32603,
        "never taken for a yes"
    );
}

#[test]
fn nothing_is_used_unless_all_checks_pass() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(tool(&session)).unwrap();
    exchange.write("1").unwrap();
    replica.leave(&mut exchange, Outcome::Complete).unwrap();

    let state = replica.asked();
    let both = |session| Message {
        token: ClientValue::Text(&state),
        ..tool(session)
    };
    let (ran, latest) = stale(replica.enter(both(&session)).unwrap_err());
    assert!(!ran);
    let asked = replica.asked.get();
    replica.enter(both(&latest)).unwrap();
    assert_eq!(replica.asked.get(), asked + 1, "one question for all of it");
}

#[test]
fn two_ids_of_two_kinds_are_two() {
    let replica = Replica::new();
    let exchange = replica.enter(call()).unwrap();
    let held = replica.handle(&exchange, seal("1", None)).unwrap();
    let kind = HandleOpKind::End {
        handle: ClientValue::Text(held.handle.as_deref().unwrap()),
        max_age: None,
        self_contained: true,
    };
    replica.handle(&exchange, kind.clone()).unwrap();
    assert!(
        replica
            .handle(&exchange, kind)
            .unwrap_err()
            .tool
            .unwrap()
            .is_error,
        "it ended before"
    );
    let state = replica.asked();
    replica.second_round(&state).unwrap();
}

#[test]
fn a_key_has_the_kind_of_its_id() {
    let replica = Replica::new();
    let kinds = |step| {
        let Step::Ledger(command) = step else {
            panic!("{step:?}")
        };
        let kind = |key: &String| key.split(':').skip(2).take(2).collect::<String>();
        command.keys[3..].iter().map(kind).collect::<Vec<_>>()
    };
    let state = replica.asked();
    let second = Message {
        token: ClientValue::Text(&state),
        ..call()
    };
    assert_eq!(kinds(replica.guard.message(second).1), ["ur", "er"]);
    let session = replica.created();
    assert_eq!(kinds(replica.guard.message(read(&session)).1), ["hs", "es"]);
    let exchange = replica.enter(call()).unwrap();
    let held = replica.handle(&exchange, seal("1", None)).unwrap();
    let handle_type = "basket";
    let opens = exchange.handle(HandleOp {
        handle_type,
        kind: open(&held),
    });
    assert_eq!(kinds(opens.1), ["uk", "ek"]);
}

/// A guard without a ledger refuses to promise single use.
#[test]
fn single_use_of_a_handle_takes_a_ledger() {
    let codec = Codec::new(ring(), AUDIENCE).unwrap();
    let guard = Guard::builder(codec).build().unwrap();
    let (exchange, _) = guard.message(call());
    let handle_type = "basket";
    let kind = HandleOpKind::Seal {
        value: "1",
        ttl: None,
        predecessor: None,
        once: true,
    };
    let (mut acting, step) = exchange.handle(HandleOp { handle_type, kind });
    assert!(matches!(step, Step::Reply(reply) if reply.error.as_ref().unwrap().code == -32603));
    assert!(
        acting.refused()[0]
            .message
            .contains("a guard with a ledger")
    );
    assert!(guard.revoke(&alice(), None).is_err());
}

/// A handle is used up by its renewal, so that a handler that fails loses nothing.
#[test]
fn a_handle_is_used_up_by_its_renewal() {
    let replica = Replica::new();
    let exchange = replica.enter(call()).unwrap();
    let first = replica.handle(&exchange, seal("1", None)).unwrap();
    replica.handle(&exchange, open(&first)).unwrap();
    let opened = replica.handle(&exchange, open(&first)).unwrap();
    assert_eq!(opened.value.as_deref(), Some("1"));
    let second = replica
        .handle(&exchange, seal("2", opened.predecessor.clone()))
        .unwrap();
    assert!(replica.handle(&exchange, open(&first)).is_err());
    assert!(
        replica
            .handle(&exchange, seal("3", opened.predecessor))
            .is_err(),
        "by one alone"
    );
    assert_eq!(
        replica
            .handle(&exchange, open(&second))
            .unwrap()
            .value
            .as_deref(),
        Some("2")
    );
}

/// A full ledger refuses new records, and loses none.
#[test]
fn a_full_ledger_refuses_new_records() {
    let replica = Replica::new();
    *replica.ledger.borrow_mut() = Memory::new(4096, START);
    let states: Vec<_> = (0..20).map(|_| replica.asked()).collect();
    let answers: Vec<_> = states
        .iter()
        .map(|state| replica.second_round(state))
        .collect();
    let taken = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((1..20).contains(&taken), "{taken}");
    for (state, answer) in states.iter().zip(answers) {
        let again = code(replica.second_round(state).unwrap_err());
        assert_eq!(again, if answer.is_ok() { -32602 } else { -32603 });
    }
    // When those have expired, there is room again.
    replica.pass(900);
    replica.second_round(&replica.asked()).unwrap();
}

/// Where a replica must confirm every command, a token that was used up is not to be kept.
#[test]
fn what_was_used_up_without_a_confirmation_is_over() {
    let replica = Replica::new();
    let unconfirmed = |exchange: &mut Exchange, step| {
        let Step::Ledger(command) = step else {
            panic!("{step:?}")
        };
        let mut reply = replica.run(&command).unwrap();
        assert_eq!(reply, ["ok", "0"]);
        reply = ["ok", "2", "unconfirmed"].map(Into::into).to_vec();
        let step = exchange.on(Event::Ledger(Ok(reply))).unwrap();
        let Step::Reply(reply) = step else {
            panic!("{step:?}")
        };
        let refused = &exchange.refused()[0];
        (reply, refused.code, refused.item)
    };
    let (session, state) = (replica.created(), replica.asked());
    let second = Message {
        token: ClientValue::Text(&state),
        ..tool(&session)
    };
    let (mut exchange, step) = replica.guard.message(second.clone());
    let (reply, why, item) = unconfirmed(&mut exchange, step);
    assert_eq!((code(reply), why), (-32602, "ledger_unconfirmed"));
    assert_eq!(item, Item::RequestState);
    assert_eq!(code(replica.enter(second).unwrap_err()), -32602);

    // The renewal of a handle uses it up too.
    let exchange = replica.enter(call()).unwrap();
    let first = replica.handle(&exchange, seal("1", None)).unwrap();
    let opened = replica.handle(&exchange, open(&first)).unwrap();
    let handle_type = "basket";
    let kind = seal("2", opened.predecessor);
    let (mut renewal, step) = exchange.handle(HandleOp { handle_type, kind });
    let (reply, why, _) = unconfirmed(&mut renewal, step);
    assert_eq!((code(reply), why), (-32602, "ledger_unconfirmed"));

    // What only looks uses nothing up: the client keeps its token.
    let (mut exchange, step) = replica.guard.message(read(&session));
    let (reply, why, _) = unconfirmed(&mut exchange, step);
    assert_eq!((code(reply), why), (-32603, "ledger_unavailable"));
    replica.enter(read(&session)).unwrap();
}
