//! The lines of rmcp on their way to the client: the session is put into them.

use std::sync::Arc;

use rmcp::model::Extensions;
use sealwax::Profile;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, BufReader, DuplexStream, ReadHalf};

use crate::message::{add_capability, put_echo};
use crate::open_requests::{Open, Request};
use crate::refusal::{error_data, rpc_error};
use crate::relay::Relay;
use crate::sep1359;

/// Where rmcp repeats the id of a request.
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

    /// Whether the message is for the client.
    fn leave(&self, message: &mut Value) -> bool {
        if message.get("method").is_some() {
            self.tell(message);
            return true;
        }
        let open = self.state().requests.answered(&message["id"]);
        match open {
            Some(Open::Client(request)) => self.finish(request, message),
            Some(Open::Ours(tell)) => {
                // Nobody waits any more where the client is gone.
                let _ = tell.send(message.take());
                return false;
            }
            // What rmcp found no id in is answered without one; anything else was cancelled.
            None => return message["id"].is_null(),
        }
        true
    }

    /// What is no answer.
    fn tell(&self, message: &mut Value) {
        let state = self.state();
        if let Some(subscription) = message.pointer_mut(TOLD_SUBSCRIPTION)
            && let Some(id) = state.requests.client_id(subscription)
        {
            *subscription = id.clone();
        }
        if let (true, Some(token)) = (self.streams.sep1359, &state.named) {
            sep1359::name(message, token);
        }
    }

    /// The answer to a request of the client's.
    fn finish(&self, request: Request, message: &mut Value) {
        let ours = std::mem::replace(&mut message["id"], request.id.clone());
        if let Some(subscription) = message.pointer_mut(ENDED_SUBSCRIPTION)
            && *subscription == ours
        {
            *subscription = request.id;
        }
        let guard = &self.streams.tokens.guard;
        if request.tells_offers && guard.settings().sessions.get().is_some() {
            add_capability(message);
        }
        if let Some(session_id) = request.echo {
            put_echo(message, &session_id);
        }
        match (request.initialize, request.session) {
            (Some(params), _) if self.streams.sep1359 => self.begin(&params, message),
            (_, Some(token)) => sep1359::name(message, &token),
            _ => {}
        }
    }

    /// Gives the session to the result of `initialize`, or an error in its place.
    fn begin(&self, params: &Value, message: &mut Value) {
        if message["result"]["protocolVersion"].is_null() {
            return;
        }
        let (result, profile) = (&message["result"], Profile::Sep1359);
        let tokens = &self.streams.tokens;
        match tokens.begin(Extensions::new(), params, result, profile) {
            Ok(sealed) => sep1359::begin(message, &sealed),
            Err(answer) => *message = rpc_error(&message["id"], &error_data(answer)),
        }
    }
}
