//! `Mcp-Session-Id` of the revisions up to 2025-11-25 through the layer, without a store.

use std::time::Duration;

use rmcp::model::*;
use sealwax_rmcp::GuardBuilder;
use serde_json::{Value, json};

use crate::clients::{SESSION, altered, client, json_of, legacy, raw};
use crate::layer_fleet::{Change, begin, fleet, hello, post, send, who};
use crate::own_ledger::{How, LIMIT, Own};
use crate::serving::fresh;

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

/// As of another language's server, for whose types rmcp has none.
#[tokio::test]
async fn a_session_that_rmcp_cannot_read_is_refused() {
    let codec = fresh();
    let fleet = fleet(codec.clone(), |it| it, |it| it).await;
    let alice = sealwax::Principal::subject("alice")
        .with_issuer("https://idp.example.com")
        .with_client("cli");
    for client in [json!({"name": "t"}), json!("t"), Value::Null] {
        let negotiated = json!({"protocolVersion": "2025-06-18", "clientCapabilities": {},
            "clientInfo": client, "serverCapabilities": {}});
        let sealed = codec.view(&alice).unwrap().session().seal_json(&negotiated);
        let token = sealed.unwrap().into_string();
        let refused = post(&fleet.uri, "alice", Some(&token), who()).await;
        assert_eq!(refused.status, 404, "{}", refused.body);
        assert_eq!(fleet.refusals.code(), "malformed");
    }
}

/// What a request asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| it.ledger(Own::new(How::Slowly)).time_limit(LIMIT);
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
    assert_eq!(told, ("ledger_unavailable", sealwax_rmcp::Kind::Cursor));
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
    let answer = async |header, headers: &[(&str, &str)]| {
        let body = Some(list.clone());
        send("POST", &fleet.uri, "alice", Some(header), headers, body).await
    };
    let altered = altered(id);
    for (header, status) in [(id, 200), (&altered, 400)] {
        let answer = answer(header, &headers).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    // Two are no session.
    let [version, method] = headers;
    let twice = answer(id, &[version, method, ("mcp-session-id", id)]).await;
    assert_eq!(twice.status, 400, "{}", twice.body);
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
