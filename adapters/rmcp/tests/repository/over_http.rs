//! rmcp's HTTP service in process.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sealwax_rmcp::Protected;
use serde_json::{Value, json};
use tower_service::Service;

use crate::scripted_server::Server;

pub type Inside = StreamableHttpService<Protected<Server>, NeverSessionManager>;

pub fn http(server: &Protected<Server>) -> Inside {
    let server = server.clone();
    StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true),
    )
}

/// A service whose answers have the form of the transcripts.
pub trait Http {
    async fn send(&mut self, request: Request<Full<Bytes>>) -> Value;
}

impl<S, B> Http for S
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    async fn send(&mut self, request: Request<Full<Bytes>>) -> Value {
        let response = self.call(request).await.unwrap();
        let mut answered = json!({"status": response.status().as_u16(), "headers": {}});
        for (name, value) in response.headers() {
            answered["headers"][name.as_str()] = value.to_str().unwrap().into();
        }
        let body = response.into_body().collect().await.unwrap().to_bytes();
        if !body.is_empty() {
            let text = String::from_utf8(body.to_vec()).unwrap();
            answered["message"] = serde_json::from_str(&text).unwrap_or_else(|_| text.into());
        }
        answered
    }
}

/// Makes a request with the headers that the revision requires.
pub fn request(
    event: &Value,
    mut message: Value,
    headers: &Value,
    session: Option<&str>,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(event["http"].as_str().unwrap_or("POST"))
        .uri("http://localhost/mcp")
        .header("host", "localhost")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    let modern = event["era"] == "modern";
    if modern {
        request = request.header("mcp-protocol-version", "2026-07-28");
        let params = &message["params"];
        for (name, value) in [
            ("mcp-method", &message["method"]),
            ("mcp-name", params.get("uri").unwrap_or(&params["name"])),
        ] {
            if let Some(value) = value.as_str() {
                request = request.header(name, value);
            }
        }
    } else if event["via"] == "request" {
        request = request.header("mcp-protocol-version", "2025-11-25");
    }
    for (name, value) in headers.as_object().into_iter().flatten() {
        for value in value.as_array().unwrap_or(&vec![value.clone()]) {
            if !modern || name != "mcp-protocol-version" {
                request = request.header(name, value.as_str().unwrap());
            }
        }
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let body = if message.is_null() {
        String::new()
    } else {
        completed(event, &mut message);
        message.to_string()
    };
    request.body(Full::from(body)).unwrap()
}

/// Adds the members that transcripts leave out.
pub fn completed(event: &Value, message: &mut Value) {
    message["jsonrpc"] = json!("2.0");
    let answers = message.get("method").is_none();
    if event["notification"] != true && message.get("id").is_none() {
        message["id"] = json!(if answers { 99 } else { 1 });
    }
    if event["era"] == "modern" && !answers {
        let meta = &mut message["params"]["_meta"];
        for (name, value) in [
            ("protocolVersion", json!("2026-07-28")),
            ("clientInfo", json!({"name": "client", "version": "1"})),
            ("clientCapabilities", json!({"elicitation": {}})),
        ] {
            meta[format!("io.modelcontextprotocol/{name}")] = value;
        }
    }
}
