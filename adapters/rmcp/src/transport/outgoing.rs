//! The lines of rmcp on their way to the client: the session is added.

use std::sync::Arc;

use rmcp::model::RequestId;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, BufReader, DuplexStream, ReadHalf};

use crate::transport::message::stamp;
use crate::transport::open_requests::{Open, Request};
use crate::transport::relay::Relay;

/// The places in which rmcp repeats the id of a request.
const TOLD_SUBSCRIPTION: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const ENDED_SUBSCRIPTION: &str = "/result/_meta/io.modelcontextprotocol~1subscriptionId";

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn outgoing(self: Arc<Self>, rmcp: ReadHalf<DuplexStream>) {
        let mut lines = BufReader::new(rmcp).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if self.leave(&mut message) && self.answer(&message).await.is_err() {
                break;
            }
        }
        self.state().requests.close();
    }

    /// Returns whether the message is for the client.
    fn leave(&self, message: &mut Value) -> bool {
        if message.get("method").is_some() {
            self.tell(message);
            return true;
        }
        let open = self.state().requests.answered(&message["id"]);
        match open {
            Some(Open::Client(request)) => {
                // Of a request that no guard served.
                if let Some(ours) = message["id"].as_i64() {
                    self.transport.guard.take_lent(&RequestId::Number(ours));
                }
                finish(*request, message);
            }
            Some(Open::Ours(tell)) => {
                // The receiver is gone if the client is.
                let _ = tell.send(message.take());
                return false;
            }
            // Without a request, only an answer without an id is passed on; any other belongs to a cancelled request.
            None => return message["id"].is_null(),
        }
        true
    }

    /// Changes a message that is no answer.
    fn tell(&self, message: &mut Value) {
        let state = self.state();
        if let Some(subscription) = message.pointer_mut(TOLD_SUBSCRIPTION)
            && let Some(id) = state.requests.client_id(subscription)
        {
            *subscription = id.clone();
        }
        if let Some(token) = &state.named {
            stamp(message, token);
        }
    }
}

/// Changes the answer to a client's request.
fn finish(mut request: Request, message: &mut Value) {
    let ours = std::mem::replace(&mut message["id"], request.id.clone());
    if let Some(subscription) = message.pointer_mut(ENDED_SUBSCRIPTION)
        && *subscription == ours
    {
        *subscription = request.id;
    }
    // A refusal replaces the message, so that its reply needs no sending.
    let _ = request.leaving.change(message);
}
