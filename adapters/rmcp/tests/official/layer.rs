//! Sessions of the transport through the layer, around servers that answer in events or in JSON.

use std::time::Duration;

use rmcp::model::*;
use sealwax_rmcp::{GuardBuilder, SessionLayer};
use serde_json::{Value, json};

use crate::clients::{SESSION, client, json_of, legacy};
use crate::layer_fleet::{Change, LINE_ENDS, begin, fleet, modern, post, who};
use crate::own_ledger::{How, LIMIT, Own};
use crate::pipe::{hello, named, request};
use crate::serving::{alice, fresh};

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
    let alice = client(&fleet.uri, "alice").await;
    let result = json_of(alice.call_tool(CallToolRequestParams::new("who")).await).unwrap();
    assert_eq!(result["structuredContent"]["negotiated"], Value::Null);
    assert!(fleet.refusals.take().is_empty());
}

#[tokio::test]
async fn the_capability_is_told_where_rmcp_has_no_place_for_it() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let discover = request(1, "server/discover", json!({"_meta": modern()}));
    for message in [hello(), discover] {
        for _ in 0..2 {
            let told = post(&fleet.uri, "alice", None, message.clone())
                .await
                .message();
            let capabilities = &told["result"]["capabilities"];
            assert_eq!(capabilities["sessions"], json!({}), "{told}");
            let experimental = &capabilities["experimental"]["sessions"];
            assert_eq!(experimental, &json!({}), "{told}");
        }
    }
}

#[tokio::test]
async fn sep_1359_is_in_every_message_and_changes_nothing_in_a_text() {
    let fleet = fleet(fresh(), |it| it, SessionLayer::sep1359).await;
    let token = begin(&fleet.uri, "alice").await;
    let ask = async |tool: &str| {
        let asked = named(request(1, "tools/call", json!({"name": tool})), &token);
        post(&fleet.uri, "alice", None, asked).await.messages()
    };
    let mut messages = vec![];
    for _ in 0..2 {
        let ends = ask("ends").await.pop().unwrap();
        assert_eq!(ends["result"]["content"][0]["text"], LINE_ENDS);
        messages.push(ends);
    }
    for _ in 0..2 {
        messages.extend(ask("who").await);
    }
    let is_log = |it: &Value| it["method"] == "notifications/message";
    assert!(messages.iter().any(is_log), "{messages:?}");
    for message in messages {
        let place = message.get("result").unwrap_or(&message);
        assert_eq!(place["sessionId"], token.as_str(), "{message}");
    }
}

/// As of another language's server, for whose types rmcp has none.
#[tokio::test]
async fn a_session_that_rmcp_cannot_read_is_refused() {
    let codec = fresh();
    let fleet = fleet(codec.clone(), |it| it, |it| it).await;
    let negotiated = json!({"protocolVersion": "2025-06-18", "clientCapabilities": {},
        "clientInfo": {"name": "without a version"}, "serverCapabilities": {}});
    let sealed = codec
        .view(&alice())
        .unwrap()
        .session()
        .seal_json(&negotiated);
    let token = sealed.unwrap().into_string();
    let refused = post(&fleet.uri, "alice", Some(&token), who()).await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    assert_eq!(fleet.refusals.code(), "malformed");
}

/// What a request asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| it.ledger(Own::new(How::Slowly)).time_limit(LIMIT);
    let fleet = fleet(codec.clone(), options, |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    let view = codec.view(&alice()).unwrap();
    let cursor = view.cursor("tools/list").seal(b"2").unwrap();
    let list = |params: Value| {
        let body = request(1, "tools/list", params);
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
async fn an_empty_result_has_its_data_layer_session_too() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    let ask = async |method: &str, meta: Value| {
        let asked = request(1, method, json!({ "_meta": meta }));
        post(&fleet.uri, "alice", Some(&token), asked)
            .await
            .message()
    };
    let session = &ask("sessions/create", json!({})).await["result"]["session"];
    let only = json!({"sessionId": session["sessionId"]});
    for _ in 0..2 {
        let pong = ask("ping", json!({ SESSION: session })).await;
        assert_eq!(pong["result"], json!({"_meta": {SESSION: only}}));
    }
    let refused = ask("ping", json!({ SESSION: only })).await;
    let found = (&refused["error"]["code"], &refused["result"]);
    assert_eq!(found, (&json!(-32043), &Value::Null));
}

#[tokio::test]
async fn a_time_that_is_none_or_that_nothing_measures_is_told_to_the_author() {
    let none: Change = |it| it.ttl(Duration::ZERO);
    for (change, says) in [
        (none, "ttl"),
        (|it| it.idle(Duration::from_secs(5)), "ledger"),
    ] {
        let fleet = fleet(fresh(), |it| it, change).await;
        for message in [hello(), who()] {
            let failed = post(&fleet.uri, "alice", None, message).await;
            assert_eq!((failed.status, failed.session.as_deref()), (500, None));
            let error = &failed.message()["error"];
            assert_eq!(error, &json!({"code": -32603, "message": "Internal error"}));
            let told = fleet.refusals.take();
            assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
            assert!(told[0].message.contains(says), "{told:?}");
        }
    }
}
