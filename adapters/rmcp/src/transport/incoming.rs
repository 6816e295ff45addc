//! The client's lines on their way to rmcp: the session is verified and removed.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions as _,
    RequestId, ServerJsonRpcMessage,
};
use sealwax_mcp::{Event, Reply, Step};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{mpsc, oneshot};

use super::message::{Replayed, is_notification, replied, request_id};
use super::open_requests::{Open, Request};
use super::relay::Relay;
use super::{Leaving, Passing};
use crate::caller::Known;

type ToRmcp = mpsc::Sender<ClientJsonRpcMessage>;

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn incoming(self: Arc<Self>, read: impl AsyncRead + Unpin, to_rmcp: ToRmcp) {
        let mut lines = BufReader::new(read).split(b'\n');
        // Whoever serves may be gone, and the client has to hear of that without asking.
        while let Either::Left((Ok(Some(line)), _)) =
            select(pin!(lines.next_segment()), pin!(to_rmcp.closed())).await
        {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
            // rmcp ignores lines that are not JSON, too.
            let Ok(message) = serde_json::from_slice(line) else {
                continue;
            };
            if self.arrive(message, &to_rmcp).await.is_err() {
                break;
            }
        }
    }

    async fn arrive(&self, mut message: Value, to_rmcp: &ToRmcp) -> io::Result<()> {
        let arrived = self.transport.arrive(&mut message, None, false).await;
        let (mut passing, mut step) = match arrived {
            Ok(arrived) => arrived,
            Err(reply) => return self.reply(&reply, &message).await,
        };
        if let Step::Deliver(deliver) = &step
            && let Some(negotiated) = &deliver.negotiated
            && !self.state().begun
            && !self.replay(negotiated, to_rmcp).await?
        {
            let failed = "initialize: rmcp refuses what was negotiated".into();
            step = passing.on(Event::NotResumed(failed));
        }
        match step {
            Step::Deliver(deliver) => {
                if let Some(session_id) = &deliver.add_session_id {
                    self.state().session_id = Some(session_id.clone());
                }
                let known = passing.known(&deliver);
                let leaving = passing.leaving(*deliver, &message);
                match self.deliver(&message, leaving, known) {
                    Ok(Some(message)) => send(to_rmcp, message).await,
                    Ok(None) => Ok(()),
                    Err(_) => self.invalid(&message).await,
                }
            }
            Step::Reply(reply) => {
                self.ended(&reply, &passing);
                self.reply(&reply, &message).await
            }
            _ => Ok(()),
        }
    }

    /// Forgets a session that the client ended.
    fn ended(&self, reply: &Reply, passing: &Passing) {
        let ended = passing.session_id.as_ref().and_then(Value::as_str);
        let session_id = &mut self.state().session_id;
        session_id.take_if(|named| reply.done && Some(&**named) == ended);
    }

    async fn reply(&self, reply: &Reply, message: &Value) -> io::Result<()> {
        match replied(reply, request_id(message)) {
            Some(reply) if !is_notification(message) => self.answer(&reply).await,
            _ => Ok(()),
        }
    }

    /// Answers a message that rmcp cannot read as rmcp does, which ignores notifications of other protocols.
    async fn invalid(&self, message: &Value) -> io::Result<()> {
        if message["method"].is_string() && message.get("id").is_none() {
            return Ok(());
        }
        let invalid = ErrorData::invalid_request("Invalid request", None);
        let invalid = serde_json::to_value(ServerJsonRpcMessage::error(invalid, None))?;
        self.answer(&invalid).await
    }

    /// Returns the message for rmcp, and keeps what its answer will need. `None`: there is nothing to send.
    fn deliver(
        &self,
        message: &Value,
        leaving: Leaving,
        known: Known,
    ) -> serde_json::Result<Option<ClientJsonRpcMessage>> {
        let mut read = ClientJsonRpcMessage::deserialize(message)?;
        let state = &mut *self.state();
        match &mut read {
            ClientJsonRpcMessage::Request(read) => {
                let begins = matches!(read.request, ClientRequest::InitializeRequest(_));
                // rmcp shuts down after an `initialize` that it refuses, so the session has begun in either case.
                state.begun |= begins;
                let id = message["id"].clone();
                let request = Request {
                    id,
                    begins,
                    leaving,
                };
                let ours = state.requests.insert(Open::Client(request.into()));
                read.id = RequestId::Number(ours);
                read.request.extensions_mut().insert(known);
            }
            ClientJsonRpcMessage::Notification(read) => {
                if let ClientNotification::CancelledNotification(read) = &mut read.notification
                    && let Some(id) = &mut read.params.request_id
                {
                    let Some(ours) = state.requests.cancelled(id) else {
                        return Ok(None);
                    };
                    *id = RequestId::Number(ours);
                }
            }
            _ => {}
        }
        Ok(Some(read))
    }

    /// Has rmcp begin with what another process negotiated, before any other message. Returns false if rmcp
    /// refuses it; nothing has begun in that case.
    async fn replay(&self, negotiated: &str, to_rmcp: &ToRmcp) -> io::Result<bool> {
        let negotiated: Value = serde_json::from_str(negotiated).unwrap_or_default();
        let (version, client) = (&negotiated["protocolVersion"], &negotiated["clientInfo"]);
        let params = json!({
            "protocolVersion": version,
            "capabilities": negotiated["clientCapabilities"],
            "clientInfo": client,
        });
        // rmcp shuts down after an `initialize` that it refuses, but not after this request.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": negotiated["clientCapabilities"],
            "io.modelcontextprotocol/clientInfo": client,
        });
        let probe = json!({"_meta": meta});
        let replayed = Replayed(params.clone());
        let offered = self
            .ask("server/discover", probe, Some(replayed), to_rmcp)
            .await?;
        let versions = offered["result"]["supportedVersions"].as_array();
        if versions.is_none_or(|versions| !versions.contains(version)) {
            return Ok(false);
        }
        let begun = self.ask("initialize", params, None, to_rmcp).await?;
        if begun["result"]["protocolVersion"] != *version {
            return Ok(false);
        }
        self.state().begun = true;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        send(to_rmcp, serde_json::from_value(initialized)?).await?;
        Ok(true)
    }

    /// Sends a request of our own, whose answer is not passed on. Returns null if rmcp has shut down.
    async fn ask(
        &self,
        method: &str,
        params: Value,
        replayed: Option<Replayed>,
        to_rmcp: &ToRmcp,
    ) -> io::Result<Value> {
        let (answer, answered) = oneshot::channel();
        let id = self.state().requests.insert(Open::Ours(answer));
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        // rmcp has no type for some of what was negotiated.
        let Ok(mut request) = serde_json::from_value(request) else {
            return Ok(Value::Null);
        };
        if let (ClientJsonRpcMessage::Request(request), Some(replayed)) = (&mut request, replayed) {
            request.request.extensions_mut().insert(replayed);
        }
        send(to_rmcp, request).await?;
        Ok(answered.await.unwrap_or_default())
    }
}

async fn send(to_rmcp: &ToRmcp, message: ClientJsonRpcMessage) -> io::Result<()> {
    let sent = to_rmcp.send(message).await;
    sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
}
