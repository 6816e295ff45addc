//! SEP-1359 over HTTP, through the layer.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use rmcp::model::*;
use sealwax_rmcp::SessionLayer;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::clients::{json_of, legacy};
use crate::layer_fleet::{
    LINE_ENDS, fleet, fleet_behind, hello, named, post, send, shared_memory, who,
};
use crate::serving::fresh;

async fn begin_1359(uri: &str, user: &str) -> String {
    let begun = post(uri, user, None, hello(0)).await;
    let result = &begun.message()["result"];
    assert!((2_591_990..=2_592_000).contains(&result["sessionTimeout"].as_u64().unwrap()));
    assert_eq!(result["sessionId"].as_str(), begun.session.as_deref());
    begun.session.unwrap()
}

#[tokio::test]
async fn sep_1359_names_the_session_both_ways() {
    let fleet = fleet(fresh(), |it| it, SessionLayer::sep1359).await;
    for _ in 0..2 {
        let token = begin_1359(&fleet.uri, "alice").await;
        // Every message of the answer has it.
        let seen = post(&fleet.uri, "alice", None, named(who(), &token)).await;
        let messages: Vec<Value> = seen
            .body
            .lines()
            .filter_map(|line| {
                serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()
            })
            .collect();
        assert!(
            messages
                .iter()
                .any(|it| it["method"] == "notifications/message")
        );
        for message in messages {
            let place = if message["method"].is_string() {
                &message
            } else {
                &message["result"]
            };
            assert_eq!(place["sessionId"], token.as_str(), "{message}");
        }
        // A peer that does not send it does not receive it.
        let seen = post(&fleet.uri, "alice", Some(&token), who()).await;
        assert!(!seen.body.contains("sessionId"), "{}", seen.body);
        let seen = post(&fleet.uri, "alice", Some(&token), named(who(), &token)).await;
        assert_eq!(seen.message()["result"]["sessionId"], token.as_str());
        let differ = post(&fleet.uri, "alice", Some(&token), named(who(), "other")).await;
        assert_eq!(differ.status, 400);
    }
    assert_eq!(post(&fleet.uri, "alice", None, who()).await.status, 400);
    let stream = send("GET", &fleet.uri, "alice", None, &[], None).await;
    assert_eq!(stream.status, 400);
}

#[tokio::test]
async fn sep_1359_changes_nothing_in_a_text() {
    let fleet = fleet(fresh(), |it| it, SessionLayer::sep1359).await;
    let token = begin_1359(&fleet.uri, "alice").await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "ends"}});
    for _ in 0..2 {
        let seen = post(&fleet.uri, "alice", None, named(call.clone(), &token)).await;
        let result = &seen.message()["result"];
        assert_eq!(result["content"][0]["text"], LINE_ENDS);
        assert_eq!(result["sessionId"], token.as_str());
    }
}

#[tokio::test]
async fn sep_1359_goes_on_with_a_refreshed_credential() {
    let fleet = fleet(fresh(), shared_memory(), SessionLayer::sep1359).await;
    let token = begin_1359(&fleet.uri, "alice#1").await;
    for user in ["alice#2", "alice#3"] {
        let seen = post(&fleet.uri, user, None, named(who(), &token)).await;
        assert_eq!(seen.message()["result"]["sessionId"], token.as_str());
    }
    assert!(fleet.refusals.take().is_empty());
}

/// Does what rmcp's client lacks for SEP-1359: names the session on each message, and reads
/// it from the result.
fn shim(app: Router) -> Router {
    let known = Arc::new(Mutex::new(None::<Value>));
    Router::new().fallback(move |request: Request| {
        let (known, mut app) = (known.clone(), app.clone());
        async move {
            let (mut parts, body) = request.into_parts();
            let mut body = to_bytes(body, usize::MAX).await.unwrap();
            parts.headers.remove("mcp-session-id");
            parts.headers.remove("content-length");
            if let (Some(id), Ok(mut message)) = (
                &*known.lock().unwrap(),
                serde_json::from_slice::<Value>(&body),
            ) {
                message["sessionId"] = id.clone();
                body = message.to_string().into();
            }
            let request = Request::from_parts(parts, Body::from(body));
            let (mut parts, body) = app.call(request).await.unwrap().into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let text = String::from_utf8(body.to_vec()).unwrap();
            let strip = |line: &str| {
                let (data, json) = match line.strip_prefix("data: ") {
                    Some(json) => ("data: ", json),
                    None => ("", line),
                };
                let Ok(mut message) = serde_json::from_str::<Value>(json) else {
                    return line.to_owned();
                };
                let place = match message.get("method") {
                    Some(_) => Some(&mut message),
                    None => message.get_mut("result"),
                };
                if let Some(place) = place.and_then(Value::as_object_mut) {
                    let id = place
                        .remove("sessionId")
                        .expect("an answer without sessionId");
                    *known.lock().unwrap() = Some(id);
                }
                format!("{data}{message}")
            };
            let text: Vec<_> = text.lines().map(strip).collect();
            parts.headers.remove("mcp-session-id");
            parts.headers.remove("content-length");
            Response::from_parts(parts, Body::from(text.join("\n") + "\n\n"))
        }
    })
}

#[tokio::test]
async fn sep_1359_with_the_official_client_behind_a_shim() {
    let fleet = fleet_behind(fresh(), |it| it, SessionLayer::sep1359, shim).await;
    let alice = legacy(&fleet.uri, "alice").await;
    for _ in 0..3 {
        let result = json_of(alice.call_tool(CallToolRequestParams::new("who")).await).unwrap();
        let negotiated = &result["structuredContent"]["negotiated"];
        assert_eq!(negotiated["protocolVersion"], "2025-11-25");
    }
    assert!(fleet.refusals.take().is_empty());
}
