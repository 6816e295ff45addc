//! What data-layer sessions put into messages where rmcp has no place for it.

use sealwax::SessionMetadata;
use serde_json::{Value, json};

use crate::Guard;

/// The member of `_meta`.
pub(crate) const SESSION: &str = "io.modelcontextprotocol/session";

/// The member of `_meta` by which a `server/discover` of ours asks whether an `initialize` would be
/// refused: its params. To anybody else it tells what an `initialize` of his own would.
pub(crate) const REPLAYED: &str = "sealwax/replayed";

/// Says that there are sessions.
pub(crate) fn add_capability(message: &mut Value) {
    let place = message.pointer_mut("/result/capabilities");
    if let Some(capabilities) = place.and_then(Value::as_object_mut) {
        capabilities.insert("sessions".into(), json!({}));
    }
}

/// The session id of a request whose result rmcp leaves empty, for what sees the message after it.
pub(crate) fn echo(guard: &Guard, message: &Value) -> Option<String> {
    guard.settings().sessions.get()?;
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

/// Puts it into the result. The boundary has verified it, or the message is an error.
pub(crate) fn put_echo(message: &mut Value, session_id: &str) {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        let metadata = SessionMetadata::new(session_id, None);
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SESSION.into(), json!(metadata));
        }
    }
}
