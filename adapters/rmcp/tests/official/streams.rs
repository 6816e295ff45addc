//! Streams of lines around rmcp's server: what their wrapper does besides the engine.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::transport::Transport as _;
use sealwax::{Codec, Principal};
use sealwax_rmcp::{Guard, Sessions, Streams};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::clients::{SESSION, altered};
use crate::pipe::{hello, invalid, named, ping, pipe, served};
use crate::serving::{Refusals, fresh, until};

fn request(id: &Value, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

#[tokio::test]
async fn a_notification_with_a_bad_data_layer_session_is_dropped() {
    let mut alice = pipe(fresh(), |it| it);
    let begun = alice.ask(hello()).await;
    assert_eq!(begun["result"]["capabilities"]["sessions"], json!({}));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    alice.send(initialized).await;
    let created = alice.ask(request(&json!(2), "sessions/create")).await;
    let session = &created["result"]["session"];
    // rmcp has no place for it in the result of a ping.
    let mut asked = ping();
    asked["params"] = json!({"_meta": {SESSION: session}});
    let pong = alice.ask(asked).await;
    let only = json!({"sessionId": session["sessionId"]});
    assert_eq!(pong["result"], json!({"_meta": {SESSION: only}}));
    let mut bad = session.clone();
    bad["state"] = json!(altered(session["state"].as_str().unwrap()));
    let progress = |session: &Value| {
        let params = json!({"progressToken": 1, "progress": 1, "_meta": {SESSION: session}});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    alice.send(progress(&bad)).await;
    until(|| !alice.refusals.is_empty()).await;
    assert_eq!(alice.refusals.code(), "unauthentic");
    alice.send(progress(session)).await;
    let seen = || alice.server.progress.load(Ordering::SeqCst);
    until(|| seen() > 0).await;
    assert_eq!(seen(), 1);
}

/// A notification has no answer, not even that one.
#[tokio::test]
async fn a_lifetime_that_is_none_is_told_to_the_author() {
    let mut alice = pipe(fresh(), |it| it.ttl(Duration::ZERO));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    alice.send(initialized).await;
    let failed = alice.ask(ping()).await;
    let error = json!({"code": -32603, "message": "Internal error"});
    assert_eq!(failed, json!({"jsonrpc": "2.0", "id": "p", "error": error}));
    let told = alice.refusals.take();
    let codes: Vec<_> = told.iter().map(|refusal| refusal.code).collect();
    assert_eq!(codes, ["invalid_argument"; 2]);
}

/// rmcp answers nothing to what its client cancelled, and the id may be used again.
#[tokio::test]
async fn an_id_is_free_once_its_request_is_answered_or_cancelled() {
    let codec = fresh();
    let there = pipe(codec.clone(), Streams::sep1359).begin().await;
    let mut alice = pipe(codec, Streams::sep1359);
    let here = alice.begin().await;
    let seven = json!(7);
    let wait = |session: &str| named(request(&seven, "wait"), session);
    alice.send(wait(&here)).await;
    let params = json!({"requestId": 7, "reason": "late"});
    let method = "notifications/cancelled";
    alice
        .send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
        .await;
    assert_eq!(alice.ask(ping()).await["id"], "p");
    alice.server.go_on.notify_one();
    assert_eq!(alice.ask(ping()).await["id"], "p");
    for session in [&there, &here] {
        alice.send(wait(session)).await;
        alice.server.go_on.notify_one();
        let result = json!({"waited": true, "sessionId": session});
        let expected = json!({"jsonrpc": "2.0", "id": 7, "result": result});
        assert_eq!(alice.next().await, expected);
    }
}

#[tokio::test]
async fn every_request_is_answered_under_its_own_id() {
    let mut alice = pipe(fresh(), Streams::sep1359);
    alice.ask(hello()).await;
    for id in [
        json!(""),
        json!("1"),
        json!(1),
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_991_i64),
        json!("\u{2028}\""),
    ] {
        let pong = alice.ask(request(&id, "ping")).await;
        assert_eq!(pong, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    // This is one for the guard, but not for rmcp.
    let unread = alice.ask(json!({"id": "p", "method": "ping"})).await;
    let found = (&unread["id"], &unread["error"]["code"]);
    assert_eq!(found, (&json!("p"), &json!(-32600)));
    // Nobody answers these.
    alice.send(json!({"method": "notifications/demo"})).await;
    alice.send(json!({"id": "p", "result": 1})).await;
    assert_eq!(alice.ask(ping()).await["result"], json!({}));
}

/// By the server inside, with the id of its request.
#[tokio::test]
async fn a_subscription_is_served() {
    let mut alice = pipe(fresh(), Streams::sep1359);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let mut discover = request(&json!("d"), "server/discover");
    discover["params"] = json!({"_meta": meta});
    alice.ask(discover).await;
    let mut listen = request(&json!("news"), "subscriptions/listen");
    listen["params"] = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    alice.send(listen).await;
    for method in [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
    ] {
        let told = alice.next().await;
        let id = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!((&told["method"], id), (&json!(method), &json!("news")));
    }
    assert_eq!(alice.next().await["id"], "news");
}

/// Returns a token of another server's session, which opens here.
fn agreed_elsewhere(codec: &Codec, version: &str, capabilities: &Value, client: &str) -> String {
    let alice = codec.view(&Principal::subject("alice")).unwrap();
    let negotiated = json!({"protocolVersion": version, "clientCapabilities": capabilities,
        "clientInfo": {"name": client, "version": "1"}, "serverCapabilities": {}});
    let sealed = alice.session().seal_json(&negotiated);
    sealed.unwrap().into_string()
}

#[tokio::test]
async fn a_session_that_rmcp_would_not_begin_is_refused_and_another_begins() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), Streams::sep1359);
    let none = json!({});
    for (version, capabilities, client) in [
        ("2025-11-25", &json!("all"), "t"),
        ("1999-01-01", &none, "t"),
        ("2026-07-28", &none, "t"),
        ("2025-11-25", &none, "mallory"),
    ] {
        let token = agreed_elsewhere(&codec, version, capabilities, client);
        let lost = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        alice.send(named(lost, &token)).await;
        let refused = alice.ask(named(ping(), &token)).await;
        assert_eq!(refused, invalid(&token), "{version} {client}");
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].code), (2, "malformed"), "{told:?}");
    }
    let good = agreed_elsewhere(&codec, "2025-06-18", &json!({"elicitation": {}}), "t");
    let new = pipe(codec, Streams::sep1359).begin().await;
    for token in [good, new] {
        let pong = alice.ask(named(ping(), &token)).await;
        assert_eq!(pong["result"], json!({"sessionId": token}));
    }
}

/// A server may have another guard than its streams, and other users.
#[tokio::test]
async fn a_guard_takes_no_principal_from_another_one() {
    let codec = fresh();
    let streams = Guard::builder(codec.clone(), |_: &_| Principal::subject("alice"));
    let streams = streams.build().unwrap().streams().sep1359();
    let refusals = Refusals::default();
    let sessions = Sessions::new(|_, _| async { Ok(0) });
    let guard = Guard::builder(codec, |_: &_| None::<Principal>).sessions(sessions);
    let guard = guard.on_refused(refusals.hook()).build().unwrap();
    let mut alice = served(streams, &guard, refusals);
    let token = alice.begin().await;
    let create = request(&json!(2), "sessions/create");
    let refused = alice.ask(named(create, &token)).await;
    assert_eq!(refused["error"]["message"], "Authentication required");
    assert_eq!(alice.refusals.code(), "unauthenticated");
}

/// A task must not wait for an answer that will never come, with the client's streams in its hand.
#[tokio::test]
async fn a_server_that_is_gone_closes_its_streams() {
    let codec = fresh();
    let guard = Guard::builder(codec.clone(), |_: &_| Principal::subject("alice"));
    let streams = guard.build().unwrap().streams().sep1359();
    let (mut ours, theirs) = tokio::io::duplex(1 << 20);
    let mut server = streams.wrap(tokio::io::split(theirs));
    let token = agreed_elsewhere(&codec, "2025-06-18", &json!({}), "t");
    let line = format!("{}\n", named(ping(), &token));
    ours.write_all(line.as_bytes()).await.unwrap();
    // The streams ask whether it would begin so.
    assert!(server.receive().await.is_some());
    drop(server);
    let mut left = Vec::new();
    let limit = Duration::from_secs(20);
    let closed = tokio::time::timeout(limit, ours.read_to_end(&mut left)).await;
    closed.expect("in time").unwrap();
}
