//! Streams of lines around rmcp's server: what their wrapper does besides the engine.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::transport::Transport as _;
use sealwax::{Codec, Principal};
use sealwax_rmcp::{Guard, Sessions, Streams};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::clients::{SESSION, altered};
use crate::pipe::{
    hello, initialized, invalid, modern, named, notification, ping, pipe, request, served,
};
use crate::serving::{Refusals, fresh, until};

#[tokio::test]
async fn a_notification_with_a_bad_data_layer_session_is_dropped() {
    let mut alice = pipe(fresh(), |it| it);
    let begun = alice.ask(hello()).await;
    assert_eq!(begun["result"]["capabilities"]["sessions"], json!({}));
    alice.send(initialized()).await;
    let created = alice.ask(request(2, "sessions/create", json!({}))).await;
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
        notification("progress", params)
    };
    alice.send(progress(&bad)).await;
    until(|| !alice.refusals.is_empty()).await;
    assert_eq!(alice.refusals.code(), "unauthentic");
    alice.send(progress(session)).await;
    let served = || alice.server.served.load(Ordering::SeqCst);
    until(|| served() > 0).await;
    assert_eq!(served(), 1);
}

/// A notification has no answer, not even that one.
#[tokio::test]
async fn a_lifetime_that_is_none_is_told_to_the_author() {
    let mut alice = pipe(fresh(), |it| it.ttl(Duration::ZERO));
    alice.send(initialized()).await;
    let failed = alice.ask(ping()).await;
    let error = json!({"code": -32603, "message": "Internal error"});
    assert_eq!(failed, json!({"jsonrpc": "2.0", "id": "p", "error": error}));
    // What rmcp has no type for is a request all the same.
    let odd = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": 5});
    assert_eq!(alice.ask(odd).await["id"], 7);
    let told = alice.refusals.take();
    let codes: Vec<_> = told.iter().map(|refusal| refusal.code).collect();
    assert_eq!(codes, ["invalid_argument"; 3]);
}

#[tokio::test]
async fn what_rmcp_cannot_read_is_answered_as_it_may_be() {
    let mut alice = pipe(fresh(), Streams::sep1359);
    alice.ask(hello()).await;
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
    let meta = modern();
    let discover = request("d", "server/discover", json!({"_meta": meta}));
    alice.ask(discover).await;
    let listen = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    alice
        .send(request("news", "subscriptions/listen", listen))
        .await;
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
        alice.send(named(initialized(), &token)).await;
        let refused = alice.ask(named(ping(), &token)).await;
        assert_eq!(refused, invalid(&token), "{version} {client}");
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].code), (2, "malformed"), "{told:?}");
    }
    // Of 1999-01-01 rmcp was asked twice, and has begun nothing.
    assert_eq!(alice.server.initialized.load(Ordering::SeqCst), 2);
    let good = agreed_elsewhere(&codec, "2025-06-18", &json!({"elicitation": {}}), "t");
    let new = pipe(codec, Streams::sep1359).begin().await;
    let who = named(request("w", "who", json!({})), &good);
    let known = json!({"version": "2025-06-18", "client": "t", "elicits": true, "sessionId": good});
    assert_eq!(alice.ask(who).await["result"], known);
    let pong = alice.ask(named(ping(), &new)).await;
    assert_eq!(pong["result"], json!({"sessionId": new}));
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
    let create = request(2, "sessions/create", json!({}));
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
