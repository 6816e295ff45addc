//! Servers of rmcp over HTTP on the loopback interface, and the log of their refusals.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use rmcp::model::*;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::{Refusal, State, VerifiedClaims};
use serde_json::json;

pub fn codec(keys: &[&Key]) -> Codec {
    let ring = KeyRing::new(keys.iter().map(|key| (*key).clone())).unwrap();
    Codec::new(ring, "https://mcp.example.com").unwrap()
}

pub fn fresh() -> Codec {
    codec(&[&Key::generate().unwrap()])
}

pub fn text(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A server with one tool, which asks back once.
#[derive(Clone)]
pub struct Rounds;

#[tool_router]
impl Rounds {
    #[tool(description = "Takes two rounds")]
    async fn count(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        match state.get() {
            None => Ok(InputRequiredResult::from_request_state(state.write(&1)?).into()),
            Some(_) => Ok(text("done").into()),
        }
    }
}

#[tool_handler]
impl ServerHandler for Rounds {}

/// The refusals that the hook has received.
#[derive(Clone, Default)]
pub struct Refusals(Arc<Mutex<Vec<Refusal>>>);

impl Refusals {
    pub fn hook(&self) -> impl Fn(&Refusal) + Send + Sync + 'static {
        let told = self.0.clone();
        move |refusal| told.lock().unwrap().push(refusal.clone())
    }

    pub fn take(&self) -> Vec<Refusal> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    /// Takes the refusals, of which there is one, and returns its code.
    #[track_caller]
    pub fn code(&self) -> &'static str {
        let told = self.take();
        assert_eq!(told.len(), 1, "{told:?}");
        told[0].code
    }
}

/// Serves on the loopback interface. The bearer token is the subject; `nobody` has no claims.
pub async fn serve<S: ServerHandler + Clone>(server: S) -> String {
    let mcp = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false),
    );
    let app = axum::Router::new().route_service("/mcp", mcp);
    listen(app.layer(from_fn(authenticate))).await
}

pub async fn listen(app: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    uri
}

pub async fn authenticate(mut request: Request, next: Next) -> Response {
    let header = request.headers().get("authorization");
    let subject = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if let Some(subject) = subject.filter(|subject| *subject != "nobody") {
        let claims = json!({"iss": "https://idp.example.com", "sub": subject, "azp": "cli"});
        request.extensions_mut().insert(VerifiedClaims(claims));
    }
    next.run(request).await
}

/// Waits until other tasks are done.
pub async fn until(done: impl Fn() -> bool) {
    let waited = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, waited).await.expect("in time");
}
