//! The lines of rmcp on their way to the client: the session is put into them.

use std::sync::Arc;

use rmcp::model::Extensions;
use sealwax::Profile;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, BufReader, DuplexStream, ReadHalf};

use crate::message::{add_capability, put_echo};
use crate::refusal::rpc_error;
use crate::relay::{REPLAY, Relay};
use crate::sep1359;

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn outgoing(self: Arc<Self>, rmcp: ReadHalf<DuplexStream>) {
        let mut lines = BufReader::new(rmcp).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message["id"] == REPLAY {
                if let Some(tell) = self.state().replayed.take() {
                    let _ = tell.send(());
                }
                continue;
            }
            self.leave(&mut message);
            if self.answer(&message).await.is_err() {
                break;
            }
        }
        // Nobody waits for an answer that does not come any more.
        self.state().replayed = None;
    }

    fn leave(&self, message: &mut Value) {
        let answers = message.get("method").is_none();
        let guard = &self.streams.tokens.guard;
        let result = &message["result"];
        let offers =
            !(result["protocolVersion"].is_null() && result["supportedVersions"].is_null());
        if answers && offers && guard.settings().sessions.get().is_some() {
            add_capability(message);
        }
        let id = message["id"].to_string();
        if answers && let Some(session_id) = self.state().echo.remove(&id) {
            put_echo(message, &session_id);
        }
        if !self.streams.sep1359 {
            return;
        }
        let initialize = self
            .state()
            .initialize
            .take_if(|initialize| answers && initialize["id"] == message["id"]);
        if let Some(initialize) = initialize {
            self.begin(&initialize, message);
            return;
        }
        let token = match answers {
            true => self.state().open.remove(&id),
            false => self.state().named.clone(),
        };
        if let Some(token) = token {
            sep1359::name(message, &token);
        }
    }

    /// Gives the session to the result of `initialize`, or an error in its place.
    fn begin(&self, initialize: &Value, message: &mut Value) {
        if message["result"]["protocolVersion"].is_null() {
            return;
        }
        let (params, result) = (&initialize["params"], &message["result"]);
        let profile = Profile::Sep1359;
        let tokens = &self.streams.tokens;
        match tokens.begin(Extensions::new(), params, result, None, profile) {
            Ok(sealed) => sep1359::begin(message, &sealed),
            Err(answer) => *message = rpc_error(&initialize["id"], answer),
        }
    }
}
