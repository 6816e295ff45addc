//! The calls without documents, which say the same as those with.

use std::time::Duration;

use sealwax::{Inspected, Principal};
use sealwax_mcp::document::{self, Members, Next};
use sealwax_mcp::{ClientSession, ClientValue, Exchange, Failed, Guard, Message};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::told;

fn guard(settings: &Value) -> Guard {
    let codec = Clock::at_ms(1_800_000_000_000).codec();
    document::guard(codec, &settings.to_string()).unwrap()
}

fn alice() -> Option<Result<Principal, Failed>> {
    Some(Ok(Principal::subject("alice")))
}

fn call(token: ClientValue<'_>) -> Message<'_> {
    Message {
        method: "tools/call",
        target: Some("play"),
        arguments: Some(r#"{"id": 7}"#),
        token,
        principal: alice(),
        ..Message::default()
    }
}

fn list(token: ClientValue<'_>) -> Message<'_> {
    Message {
        method: "tools/list",
        token,
        ..Message::default()
    }
}

const ASKS_BACK: Members<'_> = Members {
    result_type: ClientValue::Text("input_required"),
    cache_scope: ClientValue::Absent,
    has_ttl: false,
    token: ClientValue::Text(r#"{"round":1}"#),
    whole: None,
};

fn sealed(exchange: &mut Exchange, members: Members<'_>) -> String {
    match document::result(exchange, members).unwrap() {
        Next::Respond(Some(token)) => token,
        other => panic!("{other:?}"),
    }
}

/// Returns a step that is a document.
fn step(next: Next) -> Value {
    match next {
        Next::Step(step) => serde_json::from_str(&step).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_is_sealed_and_opened() {
    let guard = guard(&json!({}));
    let (mut exchange, next) = document::request(&guard, call(ClientValue::Absent));
    assert_eq!(next, Next::Deliver(None));
    let token = sealed(&mut exchange, ASKS_BACK);
    let (mut exchange, next) = document::request(&guard, call(ClientValue::Text(&token)));
    assert_eq!(next, Next::Deliver(Some(r#"{"round":1}"#.into())));
    let next = document::result(&mut exchange, Members::default()).unwrap();
    assert_eq!(next, Next::Respond(None));
    // It is over.
    assert!(document::result(&mut exchange, Members::default()).is_err());
}

#[test]
fn every_other_step_is_a_document() {
    let guard = guard(&json!({}));
    let unknown = Message {
        principal: None,
        ..call(ClientValue::Absent)
    };
    let (mut exchange, next) = document::request(&guard, unknown);
    assert_eq!(step(next)["name"], "principal");
    let deliver = document::told(&mut exchange, Ok(r#"{"subject":"alice"}"#)).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&deliver).unwrap()["step"],
        "deliver"
    );

    let (_, next) = document::request(&guard, call(ClientValue::Other));
    let refused = step(next);
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["refused"][0]["code"], "malformed");

    // A number that is not the same everywhere.
    let unbound = Message {
        arguments: Some(r#"{"id": 9007199254740993}"#),
        ..call(ClientValue::Absent)
    };
    let (mut exchange, next) = document::request(&guard, unbound);
    assert_eq!(next, Next::Deliver(None));
    let refused = step(document::result(&mut exchange, ASKS_BACK).unwrap());
    assert_eq!(refused["refused"][0]["code"], "invalid_request");
    assert_eq!(refused["tool"]["isError"], true);

    let complete = Members {
        result_type: ClientValue::Text("complete"),
        ..ASKS_BACK
    };
    let (mut exchange, _) = document::request(&guard, call(ClientValue::Absent));
    let next = document::result(&mut exchange, complete).unwrap();
    assert_eq!(step(next)["error"]["code"], -32603);
}

#[test]
fn what_is_delivered_beside_a_failure_is_a_document() {
    let guard = guard(&json!({"ledger": {}}));
    // A wrapper has used up the time, so that the ledger cannot be opened.
    let late = Message {
        within: Some(Duration::ZERO),
        ..call(ClientValue::Absent)
    };
    let delivered = step(document::request(&guard, late).1);
    assert_eq!(delivered["step"], "deliver");
    assert_eq!(delivered["refused"][0]["code"], "ledger_unavailable");
}

#[test]
fn what_a_session_may_change_is_a_document() {
    let guard = guard(&json!({"sessions": {}}));
    let initialize = Message {
        method: "initialize",
        ..Message::default()
    };
    let (mut exchange, next) = document::request(&guard, initialize);
    assert_eq!(step(next)["report"], true);
    let next = document::result(&mut exchange, Members::default()).unwrap();
    let sent = told::changed(json!({}), &step(next));
    assert!(sent["capabilities"]["experimental"]["sessions"].is_object());
}

/// Nothing is reported of it, and yet its handler has the session.
#[test]
fn a_notification_in_a_session_is_a_document() {
    let guard = guard(&json!({"sessions": {}}));
    let view = Clock::at_ms(1_800_000_000_000).view("alice");
    let session = view.sessions().create(b"1").unwrap();
    let progress = Message {
        method: "notifications/progress",
        notification: true,
        principal: alice(),
        session: Some(ClientSession {
            id: ClientValue::Text(&session.session_id),
            state: session.state.as_deref().into(),
        }),
        ..Message::default()
    };
    let delivered = step(document::request(&guard, progress).1);
    assert_eq!(delivered["session"]["value"], "1");
}

/// What is not begun may be begun late, for there is nothing to check before.
#[test]
fn what_is_deferred_asks_nothing() {
    let begun_late = |settings: Value, message: Message<'_>| {
        let guard = guard(&settings);
        guard.defers() && document::request(&guard, message).1 == Next::Deliver(None)
    };
    let notification = || Message {
        method: "notifications/progress",
        notification: true,
        ..Message::default()
    };
    for settings in [
        json!({}),
        json!({"ledger": {}}),
        json!({"events": true, "timeLimitMs": 5}),
        json!({"only": {"play": ["id"]}}),
    ] {
        assert!(begun_late(settings.clone(), list(ClientValue::Absent)));
        assert!(begun_late(settings, notification()));
    }
    assert!(!guard(&json!({"sessions": {}})).defers());
}

/// Returns what happened, as a document has it.
fn events(exchange: &mut Exchange) -> Value {
    serde_json::from_str(&document::events(exchange)).unwrap()
}

#[test]
fn what_happens_is_taken_beside_the_short_forms() {
    let guard = guard(&json!({"events": true}));
    let (mut exchange, next) = document::request(&guard, call(ClientValue::Absent));
    assert_eq!(next, Next::Deliver(None));
    assert_eq!(events(&mut exchange), json!([]));
    let token = sealed(&mut exchange, ASKS_BACK);
    let Ok(Inspected::Token {
        key_id, token_id, ..
    }) = sealwax::inspect(&token)
    else {
        panic!("{token}");
    };
    let mut happened = json!([{"kind": "request-state", "keyId": key_id.to_string(), "id": token_id.to_string(),
        "method": "tools/call", "target": "play", "subject": "alice", "event": "sealed"}]);
    assert_eq!(events(&mut exchange), happened);
    assert_eq!(events(&mut exchange), json!([]), "told once");

    let (mut exchange, _) = document::request(&guard, call(ClientValue::Text(&token)));
    happened[0]["event"] = "opened".into();
    happened[0]["age"] = 0.into();
    assert_eq!(events(&mut exchange), happened);
}
