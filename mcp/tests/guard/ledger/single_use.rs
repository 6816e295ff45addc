//! Single use: of a `requestState`, and of a handle.

use std::time::Duration;

use crate::common::AUDIENCE;
use sealwax_mcp::ledger::{Memory, Namespace, RecordKind};
use sealwax_mcp::{
    ClientValue, Confirm, Event, Exchange, Guard, HandleOp, HandleOpKind, Item, Message, Step,
    TransportSettings,
};

use super::replica::{Replica, START, again, alice, call, code, command, open, read, seal, tool};

#[test]
fn a_key_has_the_kind_of_its_id() {
    let replica = Replica::with(|guard| {
        guard.transport(TransportSettings {
            idle: Some(Duration::from_secs(60)),
            ..TransportSettings::default()
        })
    });
    let keys = |step| command(step).keys[3..].to_vec();
    let kinds = |step| {
        let kind = |key: &String| key.split(':').skip(2).take(2).collect::<String>();
        keys(step).iter().map(kind).collect::<Vec<_>>()
    };
    let state = replica.asked();
    assert_eq!(kinds(replica.guard.message(again(&state)).1), ["ur", "er"]);
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
    // What an operator ends by the log's id; one that is used keeps no other alive.
    let negotiated = br#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    let sealed = replica.clock.view("alice").session().seal(negotiated);
    let sealed = sealed.unwrap();
    let found = keys(replica.over_http(sealed.as_str()));
    let id = sealed.id().to_string();
    let names = Namespace::new(AUDIENCE, "");
    let end = names.end(&[RecordKind::Transport], &id, None).unwrap();
    assert!(end.keys.contains(&found[1]), "{found:?} {end:?}");
    assert!(found[0].ends_with(&id), "{found:?}");
}

/// A guard without a ledger refuses to promise single use.
#[test]
fn single_use_of_a_handle_takes_a_ledger() {
    let guard = Guard::builder(Replica::new().clock.codec());
    let guard = guard.build().unwrap();
    let (exchange, _) = guard.message(call());
    let handle_type = "basket";
    let kind = HandleOpKind::Seal {
        value: "1",
        ttl: None,
        predecessor: None,
        once: true,
    };
    let (mut acting, step) = exchange.handle(HandleOp { handle_type, kind });
    let Step::Reply(reply) = step else {
        panic!("{step:?}")
    };
    assert_eq!(code(reply), -32603);
    let why = &acting.refused()[0].message;
    assert!(why.contains("a guard with a ledger"), "{why}");
    assert!(guard.revoke(&alice(), None).is_err());
}

/// The log names a consent that was used by the id under which it was sealed; one that is not ours has none.
#[test]
fn a_used_consent_is_logged_by_its_id() {
    let replica = Replica::with(|guard| {
        let confirm = Confirm {
            message: Some("Pay?".into()),
            preview: true,
        };
        guard.events(true).confirm("pay", confirm)
    });
    let (mut exchange, step) = replica.guard.message(Message {
        target: Some("pay"),
        ..call()
    });
    let Step::Reply(asked) = replica.settle(&mut exchange, step) else {
        panic!("it ran")
    };
    let sealed = exchange.events()[0].id.clone().unwrap();
    let text = &asked.tool.unwrap().content[0].text;
    let (_, consent) = text.rsplit_once(' ').unwrap();
    let again = |consent: &str| {
        let arguments =
            format!(r#"{{"tool":"pay","arguments":{{"id":7}},"confirmation":"{consent}"}}"#);
        let (mut exchange, step) = replica.guard.message(Message {
            target: Some("sealwax_confirm"),
            arguments: Some(&arguments),
            ..call()
        });
        let ran = matches!(replica.settle(&mut exchange, step), Step::Deliver(_));
        let refused = exchange.refused().pop();
        (ran, refused.map(|refused| (refused.code, refused.id)))
    };
    assert_eq!(again(consent), (true, None));
    assert_eq!(again(consent), (false, Some(("used", Some(sealed)))));
    assert_eq!(again("yes_1"), (false, Some(("malformed", None))));
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
        assert_eq!(replica.run(&command(step)), ["ok", "0"]);
        let reply = ["ok", "2", "unconfirmed"].map(Into::into).to_vec();
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
