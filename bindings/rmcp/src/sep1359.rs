//! SEP-1359: what the proposal puts into messages, over HTTP and stdio alike.

use sealwax::Error;
use serde_json::{Value, json};

use crate::negotiated::Sealed;
use crate::refusal::Reason;

/// Gives the session to the result of `initialize`.
pub(crate) fn begin(message: &mut Value, sealed: &Sealed) {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        result.insert("sessionId".into(), sealed.token.as_str().into());
        result.insert("sessionTimeout".into(), sealed.lives.into());
    }
}

/// Names the session: results carry it inside, requests and notifications beside their method.
pub(crate) fn name(message: &mut Value, token: &str) {
    let place = match message.get("method") {
        Some(_) => Some(&mut *message),
        None => message.get_mut("result"),
    };
    if let Some(place) = place.and_then(Value::as_object_mut) {
        place.insert("sessionId".into(), token.into());
    }
}

/// The id of a request.
pub(crate) fn request_id(message: &Value) -> Option<&Value> {
    let id = &message["id"];
    (id.is_string() || id.is_number()).then_some(id)
}

/// Why a `session/terminate` ends nothing that is a notification.
pub(crate) fn no_request() -> Reason {
    Error::Malformed("session/terminate as a request, with an id").into()
}

/// The answer to `session/terminate`.
pub(crate) fn terminated(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}
