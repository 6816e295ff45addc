//! SEP-1359 on streams.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sealwax::{Codec, Key, Principal};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{GuardBuilder, Kind, Streams};
use serde_json::{Value, json};

use crate::accept::Rule;
use crate::clients::altered;
use crate::layer::long;
use crate::pipe::{Change, hello, invalid, named, ping, pipe};
use crate::serving::{codec, fresh};

#[tokio::test]
async fn sep_1359_refuses_in_one_way() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let retired = pipe(codec(&[&old]), |it| it, Streams::sep1359)
        .begin()
        .await;
    let once = |it: GuardBuilder| it.ledger(Memory::default());
    let mut alice = pipe(codec(&[&new]), once, Streams::sep1359);
    let [ended, good] = [alice.begin().await, {
        let mut other = pipe(codec(&[&new]), |it| it, Streams::sep1359);
        other.begin().await
    }];
    let terminate = json!({"jsonrpc": "2.0", "id": 2, "method": "session/terminate"});
    alice.ask(named(terminate, &ended)).await;
    for (mallory, token, code) in [
        (false, altered(&good), "unauthentic"),
        (false, retired, "unknown_key"),
        (false, String::new(), "malformed"),
        (false, good.repeat(20), "too_large"),
        (false, ended, "ended"),
        (true, good.clone(), "principal_mismatch"),
        // The other principal's request has ended it.
        (false, good, "ended"),
    ] {
        alice.mallory.store(mallory, Ordering::SeqCst);
        let mut expected = invalid(&token);
        if matches!(code, "too_large" | "malformed") {
            // The answer repeats neither an id that is too long nor an empty one.
            expected["error"].as_object_mut().unwrap().remove("data");
        }
        // A notification has no answer: the next line answers the next request.
        let lost = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        alice.send(named(lost, &token)).await;
        assert_eq!(alice.ask(named(ping(), &token)).await, expected, "{code}");
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].kind), (2, Kind::Session));
        assert_eq!((told[0].code, told[1].code), (code, code));
    }
    assert_eq!(alice.ask(ping()).await["result"], json!({}));
}

#[tokio::test]
async fn sep_1359_ends_where_it_was_idle() {
    let idle: Change = |it| it.sep1359().idle(Duration::from_secs(5));
    let mut alice = pipe(fresh(), |it| it.ledger(Memory::default()), idle);
    let token = alice.begin().await;
    assert!(alice.ask(named(ping(), &token)).await["result"].is_object());
    tokio::time::sleep(Duration::from_millis(7200)).await;
    assert_eq!(alice.ask(named(ping(), &token)).await, invalid(&token));
    assert_eq!(alice.refusals.code(), "ended");
}

/// What a line asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn sep_1359_a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| {
        it.accept(Rule::new(long))
            .time_limit(Duration::from_secs(2))
    };
    let mut alice = pipe(codec.clone(), options, Streams::sep1359);
    let token = alice.begin().await;
    let view = codec.view(&Principal::subject("alice")).unwrap();
    let cursor = view.cursor("tools/list").seal(b"2").unwrap();
    let list = |params: Value| {
        let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params});
        named(list, &token)
    };
    let first = alice.ask(list(json!({}))).await;
    assert!(first["result"].is_object(), "{first}");
    assert!(alice.refusals.take().is_empty());
    let second = alice.ask(list(json!({"cursor": cursor.as_str()}))).await;
    assert_eq!(second["error"]["code"], -32603, "{second}");
    let told = alice.refusals.take();
    assert_eq!((told.len(), told[0].kind), (1, Kind::Cursor), "{told:?}");
}

/// Returns a token of another server's session, which opens here.
fn agreed_elsewhere(codec: &Codec, version: &str, capabilities: &Value, client: &str) -> String {
    let alice = codec.view(&Principal::subject("alice")).unwrap();
    let negotiated = json!({"protocolVersion": version, "clientCapabilities": capabilities,
        "clientInfo": {"name": client, "version": "1"}, "serverCapabilities": {}});
    alice
        .session()
        .seal_json(&negotiated)
        .unwrap()
        .into_string()
}

#[tokio::test]
async fn sep_1359_refuses_a_session_that_rmcp_would_not_begin_and_goes_on() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), |it| it, Streams::sep1359);
    let none = json!({});
    for (version, capabilities, client) in [
        ("2025-11-25", &json!(null), "t"),
        ("2025-11-25", &json!("all"), "t"),
        ("2025-11-25", &json!({"elicitation": 5}), "t"),
        ("1999-01-01", &none, "t"),
        ("2026-07-28", &none, "t"),
        ("", &none, "t"),
        ("2025-11-25", &none, "mallory"),
    ] {
        let token = agreed_elsewhere(&codec, version, capabilities, client);
        let lost = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        alice.send(named(lost, &token)).await;
        let refused = alice.ask(named(ping(), &token)).await;
        assert_eq!(
            refused,
            invalid(&token),
            "{version} {capabilities} {client}"
        );
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].code), (2, "malformed"), "{told:?}");
    }
    // Nothing has begun. A client can still continue another session, or begin a new one.
    let good = agreed_elsewhere(&codec, "2025-06-18", &json!({"elicitation": {}}), "t");
    let mut another = pipe(codec, |it| it, Streams::sep1359);
    for pipe in [&mut alice, &mut another] {
        let pong = pipe.ask(named(ping(), &good)).await;
        assert_eq!(pong["result"], json!({"sessionId": good}));
    }
    let token = alice.begin().await;
    let pong = alice.ask(named(ping(), &token)).await;
    assert_eq!(pong["result"], json!({"sessionId": token}));
}

#[tokio::test]
async fn after_a_session_that_was_refused_a_client_begins_anew() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), |it| it, Streams::sep1359);
    let token = agreed_elsewhere(&codec, "2025-11-25", &json!({}), "mallory");
    assert_eq!(alice.ask(named(ping(), &token)).await, invalid(&token));
    let token = alice.begin().await;
    let pong = alice.ask(named(ping(), &token)).await;
    assert_eq!(pong["result"], json!({"sessionId": token}));
}

#[tokio::test]
async fn sep_1359_ends_nothing_without_a_memory() {
    let terminate = json!({"jsonrpc": "2.0", "id": 2, "method": "session/terminate"});
    let mut alice = pipe(fresh(), |it| it, Streams::sep1359);
    let token = alice.begin().await;
    let not_found = json!({"code": -32601, "message": "Method not found"});
    for session in [&token, "other"] {
        let answer = alice.ask(named(terminate.clone(), session)).await;
        assert_eq!(
            answer,
            json!({"jsonrpc": "2.0", "id": 2, "error": not_found})
        );
    }
    assert_eq!(
        alice.ask(named(ping(), &token)).await["result"]["sessionId"],
        token.as_str()
    );
    assert!(alice.refusals.take().is_empty());
}

#[tokio::test]
async fn sep_1359_names_no_session_of_more_than_4096_characters() {
    let codec = fresh();
    let mut alice = pipe(codec, |it| it, Streams::sep1359);
    let mut long = hello();
    long["params"]["capabilities"] = json!({"experimental": {"pad": {"pad": "x".repeat(3500)}}});
    let failed = alice.ask(long).await;
    let internal = json!({"code": -32603, "message": "Internal error"});
    assert_eq!(
        failed,
        json!({"jsonrpc": "2.0", "id": 1, "error": internal})
    );
    assert_eq!(alice.refusals.code(), "too_large");
}
