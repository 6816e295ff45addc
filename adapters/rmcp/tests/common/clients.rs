//! Clients of rmcp, and the answers that they receive.

use rmcp::model::*;
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, ServiceExt as _};
use sealwax_mcp::{Answer, Profile};
use serde_json::{Value, json};

pub const SESSION: &str = "io.modelcontextprotocol/session";

pub type Client = RunningService<RoleClient, ClientConfig>;

pub fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

fn http(uri: &str, user: &str) -> StreamableHttpClientTransport<reqwest::Client> {
    let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(user);
    StreamableHttpClientTransport::from_config(config)
}

/// A client of revision 2026-07-28.
pub async fn client(uri: &str, user: &str) -> Client {
    let config = ClientConfig::default();
    config
        .serve_with_lifecycle(http(uri, user), modern())
        .await
        .unwrap()
}

/// A client of revision 2025-11-25.
pub async fn legacy(uri: &str, user: &str) -> Client {
    let client = ClientConfig::default()
        .serve(http(uri, user))
        .await
        .unwrap();
    let version = client.peer_info().unwrap().protocol_version.clone();
    assert_eq!(version, ProtocolVersion::V_2025_11_25);
    client
}

pub fn arguments(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

pub fn call(tool: &'static str, args: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments(args))
}

/// Returns the state that a first round writes.
pub async fn state(client: &Client, params: CallToolRequestParams) -> String {
    match client.call_tool_once(params).await.unwrap() {
        CallToolResponse::InputRequired(result) => result.request_state.unwrap(),
        other => panic!("expected a state, found {other:?}"),
    }
}

/// Sends any request, and returns its result or error as JSON.
pub async fn raw(client: &Client, method: &str, params: Value) -> Result<Value, Value> {
    let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    json_of(client.send_request(request).await)
}

pub fn json_of<T: serde::Serialize>(result: Result<T, ServiceError>) -> Result<Value, Value> {
    match result {
        Ok(result) => Ok(serde_json::to_value(result).unwrap()),
        Err(ServiceError::McpError(error)) => Err(serde_json::to_value(error).unwrap()),
        Err(error) => panic!("expected an answer of the server, found {error}"),
    }
}

pub async fn create(client: &Client) -> Value {
    let created = raw(client, "sessions/create", json!({})).await.unwrap();
    created["session"].clone()
}

/// Returns the answer to a refused request.
pub fn refusal(profile: Profile) -> Value {
    answer(profile.refusal(None))
}

pub fn answer(answer: Answer) -> Value {
    let json: Value = serde_json::from_str(&answer.to_json()).unwrap();
    match answer {
        Answer::ToolResult(_) => {
            let mut result = json["toolResult"].clone();
            result["resultType"] = json!("complete");
            result
        }
        _ => json["error"].clone(),
    }
}

/// Changes a character in the middle.
pub fn altered(token: &str) -> String {
    let at = token.len() / 2;
    let other = if &token[at..=at] == "0" { "1" } else { "0" };
    format!("{}{other}{}", &token[..at], &token[at + 1..])
}
