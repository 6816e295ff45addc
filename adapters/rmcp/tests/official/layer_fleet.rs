//! A fleet behind `Guard::layer`: two replicas serve in turns, each with a guard of its own. They share the keys, and
//! a ledger where a session is to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use sealwax::Codec;
use sealwax_rmcp::{Guard, GuardBuilder, SessionLayer, Sessions, from_claims};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::pipe::{hello, request};
use crate::serving::{Refusals, authenticate, listen, text};

pub const LINE_ENDS: &str = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\r\ng\rh\n\ndata: i";

#[derive(Clone)]
pub struct Server(pub Guard);

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

pub type Change = fn(SessionLayer) -> SessionLayer;

pub fn replica(guard: &Guard, layer: Change, json: bool) -> Router {
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

pub struct Fleet {
    pub uri: String,
    pub refusals: Refusals,
}

/// Starts two replicas that take turns: one answers in JSON, the other in events.
pub async fn fleet(
    codec: Codec,
    options: impl Fn(GuardBuilder) -> GuardBuilder,
    layer: Change,
) -> Fleet {
    let refusals = Refusals::default();
    let replicas = [false, true].map(|json| {
        let builder = Guard::builder(codec.clone(), from_claims).on_refused(refusals.hook());
        let sessions = Sessions::new(|_, _| async { Ok(0) });
        let guard = options(builder).sessions(sessions).build().unwrap();
        replica(&guard, layer, json)
    });
    let turn = Arc::new(AtomicUsize::new(0));
    let app = Router::new().fallback(move |request: Request| {
        let mut replica = replicas[turn.fetch_add(1, Ordering::Relaxed) % 2].clone();
        async move { replica.call(request).await }
    });
    let uri = listen(app).await;
    Fleet { uri, refusals }
}

pub struct Answer {
    pub status: u16,
    pub session: Option<String>,
    pub body: String,
}

impl Answer {
    /// Returns the messages, of JSON or of events.
    pub fn messages(&self) -> Vec<Value> {
        let lines = self.body.split('\n');
        let lines = lines.map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let messages = lines.filter_map(|line| serde_json::from_str(line).ok());
        messages.collect()
    }

    /// Returns the last one.
    pub fn message(&self) -> Value {
        self.messages().pop().unwrap()
    }
}

pub async fn post(uri: &str, user: &str, session: Option<&str>, body: Value) -> Answer {
    let mut request = reqwest::Client::new()
        .post(uri)
        .bearer_auth(user)
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
    let header = |name: &str| {
        let value = response.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    Answer {
        status: response.status().as_u16(),
        session: header("mcp-session-id"),
        body: response.text().await.unwrap(),
    }
}

/// The metadata of a request of revision 2026-07-28.
pub fn modern() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

pub fn who() -> Value {
    request("w", "tools/call", json!({"name": "who"}))
}

pub async fn begin(uri: &str, user: &str) -> String {
    let begun = post(uri, user, None, hello()).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    begun.session.unwrap()
}
