//! Sessions of the transport with no store: `Mcp-Session-Id` of the revisions up to 2025-11-25, and
//! SEP-1359, through the layer. Two replicas serve in turns, each with a guard of its own; they
//! share the keys, and where something ends the memory of that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::from_fn;
use axum::response::Response;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, GuardBuilder, Kind, SessionLayer, from_claims};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::accept::{Rule, unix_seconds, yes};
use crate::clients::*;
use crate::server::{Refusals, authenticate, codec, text};
use crate::session::SESSION;

const LINE_ENDS: &str = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\r\ng\rh\n\ndata: i";

#[derive(Clone)]
struct Server(Guard);

#[tool_router]
impl Server {
    #[expect(deprecated, reason = "a message before the result")]
    #[tool(description = "What was negotiated")]
    async fn who(&self, context: RequestContext<RoleServer>) -> CallToolResult {
        let _ = context
            .peer
            .notify_logging_message(LoggingMessageNotificationParam::new(
                LoggingLevel::Info,
                json!("asked"),
            ))
            .await;
        let (negotiated, version) = (self.0.negotiated(&context), context.protocol_version());
        CallToolResult::structured(json!({"negotiated": negotiated, "version": version}))
    }

    #[tool(description = "What some take for the end of a line")]
    async fn ends(&self) -> CallToolResult {
        text(LINE_ENDS)
    }
}

#[tool_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

type Change = fn(SessionLayer) -> SessionLayer;

fn replica(guard: &Guard, layer: Change, json: bool) -> Router {
    let server = guard.protect(Server(guard.clone()));
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

async fn listen(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    uri
}

struct Fleet {
    uri: String,
    refusals: Refusals,
}

/// What replicas share where something is to end.
fn shared_memory() -> impl Fn(GuardBuilder) -> GuardBuilder {
    let memory = Arc::new(Memory::default());
    move |it| it.ledger(Arc::clone(&memory))
}

/// Two replicas in turns: one answers in JSON, one in events.
async fn fleet(
    codec: Codec,
    options: impl Fn(GuardBuilder) -> GuardBuilder,
    layer: Change,
) -> Fleet {
    fleet_behind(codec, options, layer, |app| app).await
}

async fn fleet_behind(
    codec: Codec,
    options: impl Fn(GuardBuilder) -> GuardBuilder,
    layer: Change,
    wrap: impl FnOnce(Router) -> Router,
) -> Fleet {
    let refusals = Refusals::default();
    let replicas = [false, true].map(|json| {
        let builder = Guard::builder(codec.clone(), from_claims).on_refused(refusals.hook());
        let guard = options(builder).build().unwrap();
        guard.sessions(|_, _| async { Ok(0) }).build().unwrap();
        replica(&guard, layer, json)
    });
    let turn = Arc::new(AtomicUsize::new(0));
    let app = Router::new().fallback(move |request: Request| {
        let mut replica = replicas[turn.fetch_add(1, Ordering::Relaxed) % 2].clone();
        async move { replica.call(request).await }
    });
    let uri = listen(wrap(app)).await;
    Fleet { uri, refusals }
}

fn fresh() -> Codec {
    codec(&[&Key::generate().unwrap()])
}

struct Answer {
    status: u16,
    allow: Option<String>,
    session: Option<String>,
    body: String,
}

impl Answer {
    /// The last message, of JSON or events.
    fn message(&self) -> Value {
        let last = self
            .body
            .split('\n')
            .rfind(|line| !line.is_empty())
            .unwrap();
        serde_json::from_str(last.strip_prefix("data: ").unwrap_or(last)).unwrap()
    }
}

async fn send(
    method: &str,
    uri: &str,
    user: &str,
    session: Option<&str>,
    extra: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = reqwest::Client::new()
        .request(method, uri)
        .bearer_auth(user)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    for (name, value) in extra {
        request = request.header(*name, *value);
    }
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    let response = request.send().await.unwrap();
    let header = |name: &str| {
        let value = response.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    Answer {
        status: response.status().as_u16(),
        allow: header("allow"),
        session: header("mcp-session-id"),
        body: response.text().await.unwrap(),
    }
}

async fn post(uri: &str, user: &str, session: Option<&str>, body: Value) -> Answer {
    send("POST", uri, user, session, &[], Some(body)).await
}

fn hello(padding: usize) -> Value {
    let capabilities = json!({"experimental": {"pad": {"pad": "x".repeat(padding)}}});
    let client = json!({"name": "tester", "version": "1.2", "title": "left out"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
                        "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn who() -> Value {
    json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "who"}})
}

async fn begin(uri: &str, user: &str) -> String {
    let begun = post(uri, user, None, hello(0)).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    begun.session.unwrap()
}

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
    // In turns, so as events and as JSON.
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
async fn the_client_cannot_tell_why_it_was_refused() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = fleet(codec(&[&old]), |it| it, |it| it).await;
    let fleet = fleet(codec(&[&new]), shared_memory(), |it| it).await;
    let good = begin(&fleet.uri, "alice").await;
    let ended = begin(&fleet.uri, "alice").await;
    let gone = send("DELETE", &fleet.uri, "alice", Some(&ended), &[], None).await;
    assert_eq!((gone.status, gone.body.as_str()), (204, ""));
    let retired = begin(&before.uri, "alice").await;
    let session_id = codec(&[&new])
        .view(&sealwax::Principal::anonymous())
        .unwrap()
        .mint_session_id()
        .unwrap();
    for (user, token, code) in [
        ("mallory", good.clone(), "principal_mismatch"),
        ("alice", altered(&good), "unauthentic"),
        ("alice", retired, "unknown_key"),
        ("alice", good.repeat(20), "too_large"),
        ("alice", session_id.as_str().into(), "malformed"),
        ("alice", String::new(), "malformed"),
        ("alice", ended, "ended"),
    ] {
        for method in ["POST", "DELETE"] {
            let body = (method == "POST").then(who);
            let refused = send(method, &fleet.uri, user, Some(&token), &[], body).await;
            assert_eq!((refused.status, refused.body.as_str()), (404, ""), "{code}");
            let told = fleet.refusals.take();
            assert_eq!(
                (told.len(), told[0].code, told[0].kind),
                (1, code, Kind::Session)
            );
        }
    }
    // A token of somebody else ends nothing here.
    assert_eq!(
        post(&fleet.uri, "alice", Some(&good), who()).await.status,
        200
    );
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
async fn the_headers_have_their_rules() {
    let strict = fleet(fresh(), shared_memory(), |it| it).await;
    let absent = post(&strict.uri, "alice", None, who()).await;
    assert_eq!(absent.status, 400);
    let absent = send("DELETE", &strict.uri, "alice", None, &[], None).await;
    assert_eq!(absent.status, 400);
    let stream = send("GET", &strict.uri, "alice", None, &[], None).await;
    assert_eq!(stream.status, 400);
    let token = begin(&strict.uri, "alice").await;
    let other = [("mcp-protocol-version", "2025-03-26")];
    let differs = send(
        "POST",
        &strict.uri,
        "alice",
        Some(&token),
        &other,
        Some(who()),
    )
    .await;
    assert_eq!(differs.status, 400);
    let same = [("mcp-protocol-version", "2025-06-18")];
    let agrees = send(
        "POST",
        &strict.uri,
        "alice",
        Some(&token),
        &same,
        Some(who()),
    )
    .await;
    assert_eq!(agrees.status, 200);

    let lax = fleet(fresh(), |it| it, SessionLayer::optional).await;
    assert_eq!(post(&lax.uri, "alice", None, who()).await.status, 200);
    let small = fleet(fresh(), |it| it, |it| it.body_limit(10)).await;
    assert_eq!(post(&small.uri, "alice", None, who()).await.status, 413);
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
async fn a_version_that_differs_ends_nothing() {
    let fleet = fleet(fresh(), shared_memory(), |it| it).await;
    let token = begin(&fleet.uri, "alice").await;
    let delete = async |version| {
        let version = [("mcp-protocol-version", version)];
        let ended = send("DELETE", &fleet.uri, "alice", Some(&token), &version, None).await;
        ended.status
    };
    assert_eq!(delete("2025-03-26").await, 400);
    let goes_on = post(&fleet.uri, "alice", Some(&token), who()).await;
    assert_eq!(goes_on.status, 200);
    assert_eq!(delete("2025-06-18").await, 204);
    let ended = post(&fleet.uri, "alice", Some(&token), who()).await;
    assert_eq!(ended.status, 404);
}

fn terminate() -> Value {
    json!({"jsonrpc": "2.0", "id": 9, "method": "session/terminate"})
}

#[tokio::test]
async fn without_a_memory_nothing_ends() {
    let fleet = fleet(fresh(), |it| it, SessionLayer::sep1359).await;
    let token = begin(&fleet.uri, "alice").await;
    for session in [Some(token.as_str()), Some("other"), None] {
        let gone = send("DELETE", &fleet.uri, "alice", session, &[], None).await;
        assert_eq!(
            (gone.status, gone.allow.as_deref()),
            (405, Some("GET, POST"))
        );
    }
    let not_found = json!({"jsonrpc": "2.0", "id": 9,
        "error": {"code": -32601, "message": "Method not found"}});
    for (session, message) in [
        (None, named(terminate(), &token)),
        (Some(token.as_str()), terminate()),
    ] {
        let answer = post(&fleet.uri, "alice", session, message).await;
        assert_eq!((answer.status, answer.message()), (200, not_found.clone()));
    }
    let goes_on = post(&fleet.uri, "alice", Some(&token), who()).await;
    assert_eq!(goes_on.status, 200);
    assert!(fleet.refusals.take().is_empty());
}

#[tokio::test]
async fn a_termination_that_is_no_request_ends_nothing() {
    let fleet = fleet(fresh(), shared_memory(), SessionLayer::sep1359).await;
    let token = begin(&fleet.uri, "alice").await;
    let mut notification = terminate();
    notification.as_object_mut().unwrap().remove("id");
    for (session, message) in [
        (None, named(notification.clone(), &token)),
        (Some(token.as_str()), notification),
    ] {
        let refused = post(&fleet.uri, "alice", session, message).await;
        let code = &refused.message()["error"]["code"];
        assert_eq!((refused.status, code), (400, &json!(-32600)));
        let told = fleet.refusals.take();
        assert_eq!((told.len(), told[0].code), (1, "malformed"));
        assert!(told[0].message.contains("session/terminate"), "{told:?}");
        let goes_on = post(&fleet.uri, "alice", Some(&token), who()).await;
        assert_eq!(goes_on.status, 200);
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
    // Of what another presents only the id is known.
    let third = begin(&fleet.uri, "alice").await;
    post(&fleet.uri, "mallory", None, named(who(), &third)).await;
    let stolen = rule.ended.lock().unwrap().pop().unwrap();
    assert!(stolen.expires_at.unwrap() >= unix_seconds() + LIFE + 300);
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
async fn what_the_header_cannot_hold_is_told_to_the_author() {
    let fleet = fleet(fresh(), |it| it, |it| it).await;
    let failed = post(&fleet.uri, "alice", None, hello(5000)).await;
    assert_eq!((failed.status, failed.session.as_deref()), (500, None));
    let error = &failed.message()["error"];
    assert_eq!(error, &json!({"code": -32603, "message": "Internal error"}));
    assert_eq!(fleet.refusals.code(), "too_large");
    let failed = post(&fleet.uri, "nobody", None, hello(0)).await;
    assert_eq!(failed.status, 500);
    assert_eq!(fleet.refusals.code(), "invalid_argument");
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

fn invalid(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "w", "error":
        {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": id}}})
}

fn named(mut message: Value, token: &str) -> Value {
    message["sessionId"] = json!(token);
    message
}

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
        // Every message of the exchange has it.
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
        // Not for a peer that does not say it.
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
async fn sep_1359_refuses_in_one_way_and_ends_what_is_terminated() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = fleet(codec(&[&old]), |it| it, SessionLayer::sep1359).await;
    let fleet = fleet(codec(&[&new]), shared_memory(), SessionLayer::sep1359).await;
    let good = begin_1359(&fleet.uri, "alice").await;
    let ended = begin_1359(&fleet.uri, "alice").await;
    let terminate = json!({"jsonrpc": "2.0", "id": 9, "method": "session/terminate"});
    let done = post(&fleet.uri, "alice", None, named(terminate, &ended)).await;
    assert_eq!(
        done.message(),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}})
    );
    let retired = begin_1359(&before.uri, "alice").await;
    for (user, token, code) in [
        ("alice", altered(&good), "unauthentic"),
        ("alice", retired, "unknown_key"),
        ("alice", good.repeat(20), "too_large"),
        ("alice", "abc123".into(), "malformed"),
        ("alice", ended, "ended"),
        ("mallory", good.clone(), "principal_mismatch"),
        // It was ended by that: the principal changed.
        ("alice", good.clone(), "ended"),
    ] {
        let refused = post(&fleet.uri, user, None, named(who(), &token)).await;
        let mut expected = invalid(&token);
        if code == "too_large" {
            // The core does not repeat what is too long.
            expected["error"].as_object_mut().unwrap().remove("data");
        }
        assert_eq!(refused.message(), expected, "{code}");
        assert_eq!(fleet.refusals.code(), code);
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

/// What a client of SEP-1359 does and rmcp's does not: names its session on each message, and reads
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
