//! `Mcp-Session-Id` of the revisions up to 2025-11-25 through the layer, without a store.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::*;
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{BoxError, Guard, GuardBuilder, SessionLayer, from_claims};
use serde_json::{Value, json};

use crate::accept::{Rule, yes};
use crate::clients::{SESSION, altered, client, json_of, legacy, raw};
use crate::layer_fleet::{
    Change, begin, fleet, hello, invalid, listen, named, post, replica, send, shared_memory,
    terminate, who,
};
use crate::serving::{Refusals, fresh, unix_seconds};

#[tokio::test]
async fn the_official_client_goes_on_with_any_replica() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let alice = legacy(&fleet.uri, "alice").await;
    for _ in 0..4 {
        let result = json_of(alice.call_tool(CallToolRequestParams::new("who")).await).unwrap();
        let negotiated = &result["structuredContent"]["negotiated"];
        assert_eq!(negotiated["protocolVersion"], "2025-11-25");
        let info = serde_json::to_value(ClientConfig::default()).unwrap();
        assert_eq!(negotiated["clientInfo"]["name"], info["clientInfo"]["name"]);
        assert_eq!(negotiated["serverCapabilities"]["tools"], json!({}));
    }
    alice.cancel().await.unwrap();
    assert!(fleet.refusals.take().is_empty());
}

#[tokio::test]
async fn revision_2026_07_28_passes_untouched() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let alice = client(&fleet.uri, "alice").await;
    let result = json_of(alice.call_tool(CallToolRequestParams::new("who")).await).unwrap();
    assert_eq!(result["structuredContent"]["negotiated"], Value::Null);
    assert!(fleet.refusals.take().is_empty());
}

#[tokio::test]
async fn the_token_holds_what_was_negotiated_and_the_capability_is_told() {
    let codec = fresh();
    let fleet = fleet(codec.clone(), |it| it, |it| it).await;
    // The replicas take turns, so the answers are events and JSON.
    for _ in 0..2 {
        let begun = post(&fleet.uri, "alice", None, hello(0)).await;
        let result = &begun.message()["result"];
        assert_eq!(result["capabilities"]["sessions"], json!({}));
        assert_eq!(
            result["capabilities"]["experimental"]["sessions"],
            json!({})
        );
        assert_eq!(result["sessionId"], Value::Null);
        let token = begun.session.unwrap();
        let who_is = sealwax::Principal::subject("alice")
            .with_issuer("https://idp.example.com")
            .with_client("cli");
        let opened = codec.view(&who_is).unwrap().session().open(&token).unwrap();
        let held: Value = opened.json().unwrap();
        let mut members: Vec<_> = held.as_object().unwrap().keys().cloned().collect();
        members.sort();
        assert_eq!(
            members,
            [
                "clientCapabilities",
                "clientInfo",
                "protocolVersion",
                "serverCapabilities"
            ]
        );
        assert_eq!(
            held["clientInfo"],
            json!({"name": "tester", "version": "1.2"})
        );
        let seen = post(&fleet.uri, "alice", Some(&token), who()).await;
        assert_eq!(
            seen.message()["result"]["structuredContent"]["negotiated"],
            held
        );
        let seen = post(&fleet.uri, "alice", Some(&token), who()).await;
        assert_eq!(
            seen.message()["result"]["structuredContent"]["negotiated"],
            held
        );
    }
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover",
        "params": {"_meta": meta}});
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "server/discover"),
    ];
    for _ in 0..2 {
        let told = discover.clone();
        let told = send("POST", &fleet.uri, "alice", None, &headers, Some(told)).await;
        let told = told.message();
        assert_eq!(
            told["result"]["capabilities"]["sessions"],
            json!({}),
            "{told}"
        );
    }
}

#[tokio::test]
async fn an_expired_session_is_refused_in_the_same_words() {
    let two_seconds = Duration::from_secs(2);
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let short = Codec::builder(ring, "https://mcp.example.com").session_max_age(two_seconds);
    let idle: Change = |it| it.sep1359().ttl(Duration::from_secs(2));
    let own = fleet(fresh(), |it| it, idle).await;
    let codecs = fleet(short.build().unwrap(), |it| it, SessionLayer::sep1359).await;
    let tokens = [
        begin(&own.uri, "alice").await,
        begin(&codecs.uri, "alice").await,
    ];
    tokio::time::sleep(Duration::from_millis(2300)).await;
    for (fleet, token) in [&own, &codecs].into_iter().zip(&tokens) {
        let late = post(&fleet.uri, "alice", Some(token), who()).await;
        assert_eq!((late.status, late.body.as_str()), (404, ""));
        assert_eq!(fleet.refusals.code(), "expired");
        let late = post(&fleet.uri, "alice", None, named(who(), token)).await;
        assert_eq!(late.message(), invalid(token));
        assert_eq!(fleet.refusals.code(), "expired");
    }
}

#[tokio::test]
async fn a_missing_version_is_what_was_negotiated() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    for headers in [&[][..], &[("mcp-protocol-version", "2025-06-18")]] {
        for _ in 0..2 {
            let body = Some(who());
            let seen = send("POST", &fleet.uri, "alice", Some(&token), headers, body).await;
            let seen = &seen.message()["result"]["structuredContent"];
            assert_eq!(seen["version"], "2025-06-18", "{headers:?}");
        }
    }
}

#[tokio::test]
async fn a_store_is_asked_once_and_told_from_when_on_nothing_opens() {
    const LIFE: u64 = 30 * 24 * 3600;
    let rule = Rule::new(yes);
    let remembers = |it: GuardBuilder| it.accept(rule.clone());
    let fleet = fleet(fresh(), remembers, SessionLayer::sep1359).await;
    let since = unix_seconds();
    let [first, second] = [
        begin(&fleet.uri, "alice").await,
        begin(&fleet.uri, "alice").await,
    ];
    let deleted = send("DELETE", &fleet.uri, "alice", Some(&first), &[], None).await;
    assert_eq!(deleted.status, 204);
    let ended = post(&fleet.uri, "alice", None, named(terminate(), &second)).await;
    assert_eq!(ended.message()["result"], json!({}));
    let [asked, told] =
        [&rule.asked, &rule.ended].map(|it| std::mem::take(&mut *it.lock().unwrap()));
    assert_eq!((asked.len(), told.len()), (2, 2));
    for (asked, told) in asked.iter().zip(&told) {
        assert_eq!((&asked.id, asked.expires_at), (&told.id, told.expires_at));
        let expected = since + LIFE + 300..=unix_seconds() + LIFE + 300;
        assert!(expected.contains(&told.expires_at.unwrap()), "{told:?}");
    }
    // Another principal's token does not open, so only its id is known.
    let third = begin(&fleet.uri, "alice").await;
    post(&fleet.uri, "mallory", None, named(who(), &third)).await;
    let stolen = rule.ended.lock().unwrap().pop().unwrap();
    assert!(stolen.expires_at.unwrap() >= unix_seconds() + LIFE + 300);
}

/// More than half of the time limit.
pub fn long() -> BoxFuture<'static, Result<bool, BoxError>> {
    let answer = async {
        tokio::time::sleep(Duration::from_millis(1200)).await;
        Ok(true)
    };
    answer.boxed()
}

/// What a request asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| {
        it.accept(Rule::new(long))
            .time_limit(Duration::from_secs(2))
    };
    let fleet = fleet(codec.clone(), options, |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    let alice = sealwax::Principal::from_claims(&sealwax::JwtClaims {
        iss: Some("https://idp.example.com"),
        sub: Some("alice"),
        azp: Some("cli"),
        ..sealwax::JwtClaims::default()
    });
    let view = codec.view(&alice.unwrap()).unwrap();
    let cursor = view.cursor("tools/list").seal(b"2").unwrap();
    let list = |params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        post(&fleet.uri, "alice", Some(&token), body)
    };
    let first = list(json!({})).await.message();
    assert!(first["result"].is_object(), "{first}");
    assert!(fleet.refusals.take().is_empty());
    let second = list(json!({"cursor": cursor.as_str()})).await.message();
    assert_eq!(second["error"]["code"], -32603, "{second}");
    let told = fleet.refusals.take();
    assert_eq!(told.len(), 1, "{told:?}");
    let told = (told[0].code, told[0].kind);
    assert_eq!(told, ("accept_unavailable", sealwax_rmcp::Kind::Cursor));
}

#[tokio::test]
async fn a_data_layer_session_and_the_header_agree() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let alice = client(&fleet.uri, "alice").await;
    let made = raw(&alice, "sessions/create", json!({})).await.unwrap();
    let session = &made["session"];
    let id = session["sessionId"].as_str().unwrap();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}, SESSION: session});
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    for (header, status) in [(id, 200), (&altered(id), 400)] {
        let body = Some(list.clone());
        let answer = send("POST", &fleet.uri, "alice", Some(header), &headers, body).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}

#[tokio::test]
async fn an_empty_result_has_its_data_layer_session_too() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    let create = json!({"jsonrpc": "2.0", "id": 1, "method": "sessions/create"});
    let made = post(&fleet.uri, "alice", Some(&token), create)
        .await
        .message();
    let session = &made["result"]["session"];
    for _ in 0..2 {
        let ping = |session: &Value| {
            json!({"jsonrpc": "2.0", "id": 2, "method": "ping",
                "params": {"_meta": {SESSION: session}}})
        };
        let pong = post(&fleet.uri, "alice", Some(&token), ping(session))
            .await
            .message();
        let only = json!({"sessionId": session["sessionId"]});
        assert_eq!(pong["result"], json!({"_meta": {SESSION: only}}));
        let bad = json!({"sessionId": session["sessionId"]});
        let refused = post(&fleet.uri, "alice", Some(&token), ping(&bad))
            .await
            .message();
        assert_eq!(
            (&refused["error"]["code"], &refused["result"]),
            (&json!(-32043), &Value::Null)
        );
    }
}

#[tokio::test]
async fn a_lifetime_that_is_none_is_told_to_the_author() {
    let fleet = fleet(fresh(), |it| it, |it| it.ttl(Duration::ZERO)).await;
    for message in [hello(0), who()] {
        let failed = post(&fleet.uri, "alice", None, message).await;
        assert_eq!((failed.status, failed.session.as_deref()), (500, None));
        let error = &failed.message()["error"];
        assert_eq!(error, &json!({"code": -32603, "message": "Internal error"}));
        assert_eq!(fleet.refusals.code(), "invalid_argument");
    }
}

#[tokio::test]
async fn a_session_that_was_idle_or_revoked_is_over() {
    let idle: Change = |it| it.sep1359().idle(Duration::from_secs(5));
    let fleet = fleet(fresh(), shared_memory(), idle).await;
    let session = begin(&fleet.uri, "alice").await;
    let ask = async |uri: &str| post(uri, "alice", Some(&session), who()).await.status;
    assert_eq!(ask(&fleet.uri).await, 200);
    tokio::time::sleep(Duration::from_millis(7200)).await;
    for _ in 0..2 {
        assert_eq!(ask(&fleet.uri).await, 404);
        assert_eq!(fleet.refusals.code(), "ended");
    }

    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let guard = guard.ledger(Memory::default()).build().unwrap();
    let uri = listen(replica(&guard, |it| it, true)).await;
    let session = begin(&uri, "alice").await;
    let ask = async |uri: &str| post(uri, "alice", Some(&session), who()).await.status;
    assert_eq!(ask(&uri).await, 200);
    let alice = sealwax::Principal::subject("alice")
        .with_issuer("https://idp.example.com")
        .with_client("cli");
    guard.revoke(&alice, None).await.unwrap();
    assert_eq!(ask(&uri).await, 404);
    assert_eq!(refusals.code(), "revoked");
}

#[tokio::test]
async fn an_idle_time_that_nothing_measures_is_told_to_the_author() {
    let idle: Change = |it| it.idle(Duration::from_secs(5));
    let fleet = fleet(fresh(), |it| it, idle).await;
    let failed = post(&fleet.uri, "alice", None, hello(0)).await;
    assert_eq!(failed.status, 500);
    let told = fleet.refusals.take();
    assert!(told[0].message.contains("ledger"), "{told:?}");
}

#[tokio::test]
async fn the_body_has_a_limit() {
    let small = fleet(fresh(), |it| it, |it| it.body_limit(10)).await;
    assert_eq!(post(&small.uri, "alice", None, who()).await.status, 413);
}

/// Without a ledger.
#[tokio::test]
async fn a_delete_that_is_not_offered_names_the_methods_that_are() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let gone = send("DELETE", &fleet.uri, "alice", None, &[], None).await;
    assert_eq!(
        (gone.status, gone.allow.as_deref()),
        (405, Some("GET, POST"))
    );
}
