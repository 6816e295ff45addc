//! SEP-1359 on streams.

use std::time::Duration;

use rmcp::transport::Transport as _;
use sealwax::{Codec, Principal};
use sealwax_rmcp::{Guard, GuardBuilder, Kind, Sessions, Streams};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::own_ledger::{How, LIMIT, Own};
use crate::pipe::{invalid, named, ping, pipe, served};
use crate::serving::{Refusals, fresh};

/// What a line asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn sep_1359_a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| it.ledger(Own::new(How::Slowly)).time_limit(LIMIT);
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

/// The guard asks so itself, when it goes on with what another process negotiated.
#[tokio::test]
async fn nothing_that_a_client_sends_has_its_discover_run_initialize() {
    let mut alice = pipe(fresh(), |it| it, Streams::sep1359);
    let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "mallory", "version": "1"}});
    let meta = json!({"sealwax/replayed": begin, "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discover =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let offered = alice.ask(discover).await;
    let versions = offered["result"]["supportedVersions"].as_array();
    assert!(
        versions.is_some_and(|it| it.contains(&json!("2026-07-28"))),
        "{offered}"
    );
}

/// rmcp does not tell to which request a message of the server's own belongs.
#[tokio::test]
async fn sep_1359_a_message_of_the_servers_own_has_the_session_of_all_requests_in_progress() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), |it| it, Streams::sep1359);
    let first = alice.begin().await;
    let second = agreed_elsewhere(&codec, "2025-06-18", &json!({}), "t");
    let request = |id: u32, method: &str, session: &str| {
        named(
            json!({"jsonrpc": "2.0", "id": id, "method": method}),
            session,
        )
    };
    for (waits_in, expected) in [(&first, json!(first)), (&second, Value::Null)] {
        alice.send(request(7, "wait/a", waits_in)).await;
        let told = alice.ask(request(8, "tell", &first)).await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(told["sessionId"], expected);
        assert_eq!(alice.next().await["result"]["sessionId"], json!(first));
        alice.server.go_on[0].notify_one();
        assert_eq!(alice.next().await["result"]["sessionId"], json!(waits_in));
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
    let create = json!({"jsonrpc": "2.0", "id": 2, "method": "sessions/create"});
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
