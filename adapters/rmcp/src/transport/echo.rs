//! The data-layer session of a request whose result rmcp leaves empty: its types have no place for it there.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta as _, RequestId};
use sealwax::SessionMetadata;
use serde_json::json;

use crate::handler::SESSION;

/// What is put into the answer to such a request.
pub(crate) struct Echo {
    pub id: RequestId,
    /// How rmcp begins the answer.
    begins: String,
    member: String,
}

impl Echo {
    pub(crate) fn of(message: &ClientJsonRpcMessage) -> Option<Self> {
        let ClientJsonRpcMessage::Request(message) = message else {
            return None;
        };
        let is_empty = matches!(
            message.request,
            ClientRequest::PingRequest(_)
                | ClientRequest::SetLevelRequest(_)
                | ClientRequest::SubscribeRequest(_)
                | ClientRequest::UnsubscribeRequest(_)
                | ClientRequest::UpdateTaskRequest(_)
                | ClientRequest::CancelTaskRequest(_)
        );
        let session = message.request.get_meta().get(SESSION)?;
        let session_id = session["sessionId"].as_str()?;
        let metadata = json!({SESSION: SessionMetadata::new(session_id, None)});
        let id = json!(message.id);
        is_empty.then(|| Self {
            id: message.id.clone(),
            begins: format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#),
            member: format!(r#""_meta":{metadata}"#),
        })
    }

    /// Returns an answer with the session, a line or an event. It has been verified, or else the message is an error.
    pub(crate) fn put(&self, answer: &str) -> Option<String> {
        // In no text inside a message these bytes stand so.
        let event = format!("data: {}", self.begins);
        let at = match answer.find(&event) {
            Some(at) => at + event.len(),
            None => answer
                .starts_with(&self.begins)
                .then_some(self.begins.len())?,
        };
        let (before, after) = answer.split_at_checked(at)?;
        let comma = if after.starts_with('}') { "" } else { "," };
        Some([before, &self.member, comma, after].concat())
    }
}
