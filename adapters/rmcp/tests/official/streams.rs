//! Ids, cancellations and data-layer sessions on streams.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sealwax_rmcp::Streams;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::clients::{SESSION, altered};
use crate::pipe::{Change, hello, named, ping, pipe};
use crate::serving::{fresh, until};

#[tokio::test]
async fn a_notification_with_a_bad_data_layer_session_is_dropped() {
    let mut alice = pipe(fresh(), |it| it, |it| it);
    let begun = alice.ask(hello()).await;
    assert_eq!(begun["result"]["capabilities"]["sessions"], json!({}));
    assert_eq!(begun["result"]["sessionId"], Value::Null);
    alice
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let create = json!({"jsonrpc": "2.0", "id": 2, "method": "sessions/create"});
    let session = alice.ask(create).await["result"]["session"].clone();
    let mut asked = ping();
    asked["params"] = json!({"_meta": {SESSION: session}});
    let pong = alice.ask(asked).await;
    let only = json!({"sessionId": session["sessionId"]});
    assert_eq!(pong["result"], json!({"_meta": {SESSION: only}}));
    let progress = |meta: Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": 1, "progress": 1, "_meta": meta}})
    };
    let mut bad = session.clone();
    bad["state"] = json!(altered(session["state"].as_str().unwrap()));
    let mut seen = 0;
    for (meta, passes) in [
        (json!({}), 1),
        (json!({ SESSION: session }), 1),
        (json!({ SESSION: bad }), 0),
    ] {
        alice.send(progress(meta)).await;
        seen += passes;
        let told = || alice.server.progress.load(Ordering::SeqCst) == seen;
        let dropped = || passes == 1 || !alice.refusals.is_empty();
        until(|| told() && dropped()).await;
    }
    assert_eq!(alice.refusals.code(), "unauthentic");
    assert_eq!(alice.server.progress.load(Ordering::SeqCst), 2);
}

/// A notification has no answer, not even that one.
#[tokio::test]
async fn a_lifetime_that_is_none_is_told_to_the_author() {
    let mut alice = pipe(fresh(), |it| it, |it| it.ttl(Duration::ZERO));
    alice
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let failed = alice.ask(ping()).await;
    let error = json!({"code": -32603, "message": "Internal error"});
    assert_eq!(failed, json!({"jsonrpc": "2.0", "id": "p", "error": error}));
    let told = alice.refusals.take();
    let codes: Vec<_> = told.iter().map(|refusal| refusal.code).collect();
    assert_eq!(codes, ["invalid_argument"; 2]);
}

fn wait(id: Value, which: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": format!("wait/{which}")})
}

fn cancelled(id: Value, reason: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": reason}})
}

/// A client may use an id again once its request is answered or cancelled.
#[tokio::test]
async fn an_answer_leaves_with_the_session_of_its_own_request() {
    let codec = fresh();
    let mut other = pipe(codec.clone(), |it| it, Streams::sep1359);
    let there = other.begin().await;
    let mut alice = pipe(codec, |it| it, Streams::sep1359);
    let here = alice.begin().await;
    for cancels in [false, true] {
        alice.send(named(wait(json!(7), "a"), &here)).await;
        let refused = alice.ask(named(wait(json!(7), "b"), &there)).await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(7), &json!(-32600))
        );
        if cancels {
            alice.send(cancelled(json!(7), json!("late"))).await;
            alice.ask(ping()).await;
            alice.server.go_on[0].notify_one();
            assert_eq!(alice.ask(ping()).await["id"], "p");
        } else {
            alice.server.go_on[0].notify_one();
            let first = json!({"waited": "wait/a", "sessionId": here});
            let expected = json!({"jsonrpc": "2.0", "id": 7, "result": first});
            assert_eq!(alice.next().await, expected);
        }
        alice.send(named(wait(json!(7), "b"), &there)).await;
        alice.server.go_on[1].notify_one();
        let second = json!({"waited": "wait/b", "sessionId": there});
        let expected = json!({"jsonrpc": "2.0", "id": 7, "result": second});
        assert_eq!(alice.next().await, expected, "{cancels}");
    }
}

#[tokio::test]
async fn a_cancellation_reaches_the_request_that_it_names_and_no_other() {
    let mut alice = pipe(fresh(), |it| it, |it| it);
    alice.ask(hello()).await;
    for id in [
        json!("1"),
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!(-1),
        json!("x"),
    ] {
        alice.send(cancelled(id, json!("none is"))).await;
    }
    alice.send(wait(json!("a"), "a")).await;
    for id in [
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!("A"),
        json!(null),
    ] {
        alice.send(cancelled(id, json!("another"))).await;
    }
    alice.send(wait(json!("b"), "b")).await;
    alice.send(cancelled(json!("b"), json!("it is"))).await;
    alice.ask(ping()).await;
    alice.server.go_on[1].notify_one();
    alice.server.go_on[0].notify_one();
    assert_eq!(alice.next().await["id"], "a");
    assert_eq!(alice.ask(ping()).await["id"], "p");
}

#[tokio::test]
async fn every_request_is_answered_under_its_own_id() {
    for change in [(|it| it) as Change, Streams::sep1359] {
        let mut alice = pipe(fresh(), |it| it, change);
        alice.ask(hello()).await;
        for id in [
            json!("sealwax-replay"),
            json!(""),
            json!("1"),
            json!(1),
            json!(0),
            json!(-1),
            json!(9_007_199_254_740_991_i64),
            json!("\u{2028}\""),
        ] {
            let pong = alice
                .ask(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
                .await;
            assert_eq!(pong, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        }
        // These are no ids.
        for id in [json!(null), json!(1.5), json!([1]), json!({}), json!(true)] {
            let odd = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            let refused = alice.ask(odd).await;
            assert_eq!(
                (&refused["id"], &refused["error"]["code"]),
                (&json!(null), &json!(-32600))
            );
        }
        alice
            .write
            .write_all(b"{\"id\":\xff}\nno JSON\n[]\n")
            .await
            .unwrap();
        for code in [-32700, -32700, -32600] {
            assert_eq!(alice.next().await["error"]["code"], code);
        }
        // This is one for the guard, but not for rmcp.
        let unread = alice.ask(json!({"id": "p", "method": "ping"})).await;
        assert_eq!(
            (&unread["id"], &unread["error"]["code"]),
            (&json!("p"), &json!(-32600))
        );
        alice.send(json!({"method": "notifications/demo"})).await;
        // Nobody answers an answer.
        alice.send(json!({"id": "p", "result": 1})).await;
        let pong = alice
            .ask(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
            .await;
        assert_eq!(pong["result"], json!({}));
        assert_eq!(alice.ask(ping()).await["result"], json!({}));
    }
}

#[tokio::test]
async fn a_subscription_is_told_by_the_id_of_its_request() {
    const ID: &str = "io.modelcontextprotocol/subscriptionId";
    let mut alice = pipe(fresh(), |it| it, Streams::sep1359);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discover = json!({"jsonrpc": "2.0", "id": "d", "method": "server/discover",
        "params": {"_meta": meta}});
    alice.ask(discover).await;
    let filter = json!({"toolsListChanged": true});
    let listen = json!({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": filter}});
    let accepted = alice.ask(listen).await;
    assert_eq!(
        accepted["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(accepted["params"]["_meta"][ID], "news");
    let news = alice.next().await;
    assert_eq!(news["method"], "notifications/tools/list_changed");
    assert_eq!(news["params"]["_meta"][ID], "news");
    alice.server.go_on[0].notify_one();
    let over = alice.next().await;
    assert_eq!(
        (&over["id"], &over["result"]["_meta"][ID]),
        (&json!("news"), &json!("news"))
    );
}
