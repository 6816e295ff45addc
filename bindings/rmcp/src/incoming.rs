//! The client's lines on their way to rmcp: the session is verified, and rmcp does not see it.

use std::sync::Arc;

use rmcp::model::Extensions;
use sealwax::{Answer, Profile};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
    WriteHalf,
};
use tokio::sync::oneshot;

use crate::message::echo;
use crate::negotiated::Negotiated;
use crate::refusal::{About, Reason, rpc_error};
use crate::relay::{REPLAY, Relay, send};
use crate::{Kind, sep1359};

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn incoming(
        self: Arc<Self>,
        read: impl AsyncRead + Unpin,
        mut rmcp: WriteHalf<DuplexStream>,
    ) {
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            // rmcp has an answer to what is no JSON.
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            self.note(&message);
            let sent = match self.streams.sep1359 && message.is_object() {
                true => self.arrive(message, &mut rmcp).await,
                false => send(&mut rmcp, &line).await,
            };
            if sent.is_err() {
                break;
            }
        }
        // The end of the input is rmcp's to see.
        let _ = rmcp.shutdown().await;
    }

    async fn arrive(
        &self,
        mut message: Value,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> std::io::Result<()> {
        let named = message
            .as_object_mut()
            .and_then(|it| it.remove("sessionId"));
        // An answer of the client has it inside.
        let inside = message.get_mut("result").and_then(Value::as_object_mut);
        let named = named.or(inside.and_then(|result| result.remove("sessionId")));
        let (Some(named), false) = (named, message["method"] == "initialize") else {
            return send(rmcp, &message.to_string()).await;
        };
        let token = named.as_str().unwrap_or_default();
        let ends = message["method"] == "session/terminate";
        let negotiated = match self.verify(token, ends).await {
            Ok(_) if ends => return self.answer(&sep1359::terminated(&message["id"])).await,
            Ok(negotiated) => negotiated,
            Err(answer) => return self.refuse(&message, answer).await,
        };
        if !self.state().begun {
            self.replay(&negotiated, rmcp).await?;
        }
        {
            let mut state = self.state();
            state.named = Some(token.to_owned());
            if message.get("method").is_some() && message.get("id").is_some() {
                let id = message["id"].to_string();
                state.open.insert(id, token.to_owned());
            }
        }
        send(rmcp, &message.to_string()).await
    }

    /// Remembers what its answer will need.
    fn note(&self, message: &Value) {
        let mut state = self.state();
        if message["method"] == "initialize" {
            state.begun = true;
            state.initialize = Some(message.clone());
        }
        let session_id = echo(&self.streams.tokens.guard, message);
        if let (Some(id), Some(session_id)) = (message.get("id"), session_id) {
            state.echo.insert(id.to_string(), session_id);
        }
    }

    /// What was negotiated by the session, which ends if it is to. Else the error to answer.
    async fn verify(&self, token: &str, ends: bool) -> Result<Negotiated, Answer> {
        let tokens = &self.streams.tokens;
        let (caller, context) = tokens.caller(Extensions::new());
        let verified = async {
            let known = caller.known(&context)?;
            let (negotiated, presented) = tokens.open(token, known).await?;
            if ends {
                tokens.guard.ended(&presented).await?;
            }
            Ok::<_, Reason>(negotiated)
        };
        verified.await.map_err(|reason| {
            let about = About {
                principal: caller.principal(),
                token: Some(token),
                token_id: None,
            };
            let guard = &tokens.guard;
            guard.refuse_as(Kind::Session, Profile::Sep1359, Some(token), &reason, about)
        })
    }

    /// A notification and an answer get none.
    async fn refuse(&self, message: &Value, answer: Answer) -> std::io::Result<()> {
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(id)) => self.answer(&rpc_error(id, answer)).await,
            _ => Ok(()),
        }
    }

    /// Tells rmcp what another process negotiated, before anything else.
    async fn replay(
        &self,
        negotiated: &Negotiated,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> std::io::Result<()> {
        let (tell, told) = oneshot::channel();
        {
            let mut state = self.state();
            state.begun = true;
            state.replayed = Some(tell);
        }
        let params = json!({
            "protocolVersion": negotiated.protocol_version,
            "capabilities": negotiated.client_capabilities,
            "clientInfo": negotiated.client_info,
        });
        let initialize =
            json!({"jsonrpc": "2.0", "id": REPLAY, "method": "initialize", "params": params});
        send(rmcp, &initialize.to_string()).await?;
        // Dropped where rmcp is gone; the next line sees that.
        let _ = told.await;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        send(rmcp, &initialized.to_string()).await
    }
}
