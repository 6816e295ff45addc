//! Sessions of the transport through `Guard::layer`, at two replicas that serve in turns, each with a guard of its own: one answers
//! in JSON, the other in events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sealwax::Codec;
use sealwax_rmcp::{Guard, GuardBuilder, SessionLayer, from_claims};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::clients::{SESSION, client, legacy};
use crate::own_ledger::{How, LIMIT, Own};
use crate::pipe::{hello, modern, request};
use crate::server::{Running, alice, server, sessions, tool};
use crate::serving::{Refusals, authenticate, fresh, listen};

type Change = fn(SessionLayer) -> SessionLayer;

fn replica(guard: &Guard, layer: Change, json: bool) -> Router {
    let server = guard.protect(server(guard, "basket"));
    let stateless = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(json);
    let none = Arc::new(NeverSessionManager::default());
    let mcp = StreamableHttpService::new(move || Ok(server.clone()), none, stateless);
    Router::new()
        .route_service("/mcp", mcp)
        .layer(layer(guard.layer()))
        .layer(from_fn(authenticate))
}

async fn fleet(
    codec: Codec,
    options: impl Fn(GuardBuilder) -> GuardBuilder,
    layer: Change,
) -> Running {
    let refusals = Refusals::default();
    let replicas = [false, true].map(|json| {
        let builder = Guard::builder(codec.clone(), from_claims).on_refused(refusals.hook());
        let guard = options(builder).sessions(sessions()).build().unwrap();
        replica(&guard, layer, json)
    });
    let turn = Arc::new(AtomicUsize::new(0));
    let app = Router::new().fallback(move |request: Request| {
        let mut replica = replicas[turn.fetch_add(1, Ordering::Relaxed) % 2].clone();
        async move { replica.call(request).await }
    });
    let uri = listen(app).await;
    Running { uri, refusals }
}

/// What came back: the status, the session, and the last message, of JSON or of events.
async fn post(uri: &str, session: Option<&str>, body: &Value) -> (u16, Option<String>, Value) {
    let mut request = reqwest::Client::new()
        .post(uri)
        .bearer_auth("alice")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(body.to_string());
    if body["method"] == "server/discover" {
        request = request
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "server/discover");
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let session = response.headers().get("mcp-session-id");
    let session = session.map(|session| session.to_str().unwrap().to_owned());
    let body = response.text().await.unwrap();
    let lines = body.split('\n');
    let lines = lines.map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let mut messages = lines.filter_map(|line| serde_json::from_str(line).ok());
    (status, session, messages.next_back().unwrap_or_default())
}

fn who() -> Value {
    request("w", "tools/call", json!({"name": "who"}))
}

async fn begin(uri: &str) -> String {
    let (_, session, begun) = post(uri, None, &hello()).await;
    session.unwrap_or_else(|| panic!("{begun}"))
}

#[tokio::test]
async fn the_official_client_goes_on_with_any_replica() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let alice = legacy(&fleet.uri, "alice").await;
    for _ in 0..4 {
        let result = tool(&alice, "who", json!({})).await;
        let negotiated = &result["structuredContent"]["negotiated"];
        assert_eq!(negotiated["protocolVersion"], "2025-11-25");
        assert_eq!(negotiated["clientInfo"]["name"], "rmcp");
        assert_eq!(negotiated["serverCapabilities"]["tools"], json!({}));
    }
    alice.cancel().await.unwrap();
    let alice = client(&fleet.uri, "alice").await;
    let result = tool(&alice, "who", json!({})).await;
    assert_eq!(result["structuredContent"]["negotiated"], Value::Null);
    assert!(fleet.refusals.is_empty());
}

#[tokio::test]
async fn the_capability_is_told_where_rmcp_has_no_place_for_it() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let discover = request(1, "server/discover", json!({"_meta": modern()}));
    for message in [hello(), hello(), discover.clone(), discover] {
        let (.., told) = post(&fleet.uri, None, &message).await;
        let capabilities = &told["result"]["capabilities"];
        assert_eq!(capabilities["sessions"], json!({}), "{told}");
    }
}

/// As of another language's server, for whose types rmcp has none.
#[tokio::test]
async fn a_session_that_rmcp_cannot_read_is_refused() {
    let codec = fresh();
    let fleet = fleet(codec.clone(), |it| it, |it| it).await;
    let negotiated = json!({"protocolVersion": "2025-06-18", "clientCapabilities": {},
        "clientInfo": {"name": "without a version"}, "serverCapabilities": {}});
    let view = codec.view(&alice()).unwrap();
    let token = view.session().seal_json(&negotiated).unwrap();
    let (status, _, refused) = post(&fleet.uri, Some(token.as_str()), &who()).await;
    assert_eq!(status, 404, "{refused}");
    assert_eq!(fleet.refusals.code(), "malformed");
}

/// What a request asks in all has one time limit: the session of the transport and its own tokens do not have one each.
#[tokio::test]
async fn a_request_has_one_time_limit() {
    let codec = fresh();
    let options = |it: GuardBuilder| it.ledger(Own::new(How::Slowly)).time_limit(LIMIT);
    let fleet = fleet(codec.clone(), options, |it| it).await;
    let token = begin(&fleet.uri).await;
    let view = codec.view(&alice()).unwrap();
    let cursor = view.cursor("tools/list").seal(b"2").unwrap();
    let list = async |params: Value| {
        let body = request(1, "tools/list", params);
        post(&fleet.uri, Some(&token), &body).await.2
    };
    let first = list(json!({})).await;
    assert!(first["result"].is_object(), "{first}");
    assert!(fleet.refusals.is_empty());
    let second = list(json!({"cursor": cursor.as_str()})).await;
    assert_eq!(second["error"]["code"], -32603, "{second}");
    let told = fleet.refusals.take();
    assert_eq!(told.len(), 1, "{told:?}");
    let told = (told[0].code, told[0].kind);
    assert_eq!(told, ("ledger_unavailable", sealwax_rmcp::Kind::Cursor));
}

#[tokio::test]
async fn an_empty_result_has_its_data_layer_session_too() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let token = begin(&fleet.uri).await;
    let ask = async |method: &str, meta: Value| {
        let asked = request(1, method, json!({ "_meta": meta }));
        post(&fleet.uri, Some(&token), &asked).await.2
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
            let (status, session, failed) = post(&fleet.uri, None, &message).await;
            assert_eq!((status, session), (500, None));
            let internal = json!({"code": -32603, "message": "Internal error"});
            assert_eq!(failed["error"], internal);
            let told = fleet.refusals.take();
            assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
            assert!(told[0].message.contains(says), "{told:?}");
        }
    }
}
