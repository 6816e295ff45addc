//! The parts of messages that sessions add and rmcp's types do not have.

use http::HeaderMap;
use http::request::Parts;
use sealwax::SessionMetadata;
use sealwax_mcp::{ClientValue, Reply};
use serde_json::{Value, json};

/// The session's member of `_meta`.
pub(crate) const SESSION: &str = "io.modelcontextprotocol/session";

/// An extension of a `server/discover` of the adapter's own: the params of an `initialize`, to learn whether they would be
/// refused. No client can send one.
#[derive(Clone)]
pub(crate) struct Replayed(pub Value);

/// The HTTP headers.
pub(crate) const HEADER: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";

/// The first revision without sessions of the transport.
const MODERN: &str = "2026-07-28";

/// Returns the `Mcp-Session-Id` of a request.
pub(crate) fn header(parts: &Parts) -> ClientValue<'_> {
    let mut headers = parts.headers.get_all(HEADER).iter();
    match (headers.next(), headers.next()) {
        (None, _) => ClientValue::Absent,
        (Some(header), None) => header
            .to_str()
            .map_or(ClientValue::Other, ClientValue::Text),
        _ => ClientValue::Other,
    }
}

/// Returns whether a message is of the modern revision, as rmcp decides it: by the message itself, or else by
/// its header.
pub(crate) fn is_modern(headers: Option<&HeaderMap>, message: &Value) -> bool {
    let header = headers.and_then(|headers| headers.get(VERSION)?.to_str().ok());
    let said = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    match message["method"].as_str() {
        Some("initialize") => false,
        Some("server/discover") => true,
        _ => said
            .as_str()
            .or(header)
            .is_some_and(|version| version >= MODERN),
    }
}

/// Returns the id of a request.
pub(crate) fn request_id(message: &Value) -> Option<&Value> {
    let id = &message["id"];
    (id.is_string() || id.is_number()).then_some(id)
}

/// Returns whether the message expects no answer.
pub(crate) fn is_notification(message: &Value) -> bool {
    message["method"].is_string() && request_id(message).is_none()
}

/// Removes the session of SEP-1359 from a message: beside its method, or inside the result of a client's answer.
pub(crate) fn take_session_id(message: &mut Value) -> Option<Value> {
    let message = message.as_object_mut()?;
    message.remove("sessionId").or_else(|| {
        let result = message.get_mut("result")?.as_object_mut()?;
        result.remove("sessionId")
    })
}

/// Adds the session of SEP-1359 to a message: inside the result of an answer, or beside the method of a request or
/// notification.
pub(crate) fn add_session_id(message: &mut Value, token: &str) {
    let place = match message.get("method") {
        Some(_) => Some(&mut *message),
        None => message.get_mut("result"),
    };
    if let Some(place) = place.and_then(Value::as_object_mut) {
        place.insert("sessionId".into(), token.into());
    }
}

/// Returns the message of an answer of the engine, if it has one.
pub(crate) fn replied(reply: &Reply, id: Option<&Value>) -> Option<Value> {
    let mut message = json!({"jsonrpc": "2.0", "id": id});
    match &reply.error {
        Some(error) => message["error"] = json!(error),
        None if reply.done => message["result"] = json!({}),
        None => return None,
    }
    Some(message)
}

/// Returns the id of the data-layer session of a request whose result rmcp leaves empty, to add it to the result
/// later.
pub(crate) fn echo(message: &Value) -> Option<String> {
    match message["method"].as_str()? {
        "ping"
        | "logging/setLevel"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "tasks/update"
        | "tasks/cancel" => {}
        _ => return None,
    }
    let id = message["params"]["_meta"][SESSION]["sessionId"].as_str()?;
    Some(id.to_owned())
}

/// Adds it to the result. The session has been verified, or else the message is an error.
pub(crate) fn put_echo(message: &mut Value, session_id: &str) {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        let metadata = SessionMetadata::new(session_id, None);
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SESSION.into(), json!(metadata));
        }
    }
}
