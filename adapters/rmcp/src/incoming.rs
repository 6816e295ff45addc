//! The client's lines on their way to rmcp: the session is verified and removed.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest};
use sealwax_mcp::{Event, Failed, Reply, Step};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
    WriteHalf,
};
use tokio::sync::oneshot;

use crate::accept::TimeLimit;
use crate::message::{REPLAYED, is_notification, replied, request_id};
use crate::open_requests::{Open, Request};
use crate::relay::{Relay, send};
use crate::transport::{Arrived, Leaving};

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn incoming(
        self: Arc<Self>,
        read: impl AsyncRead + Unpin,
        mut rmcp: WriteHalf<DuplexStream>,
    ) {
        let mut lines = BufReader::new(read).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
            // rmcp ignores lines that are not JSON, too.
            let Ok(message) = serde_json::from_slice(line) else {
                continue;
            };
            if self.arrive(message, &mut rmcp).await.is_err() {
                break;
            }
        }
        // rmcp must see the end of the input.
        let _ = rmcp.shutdown().await;
    }

    async fn arrive(
        &self,
        mut message: Value,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> io::Result<()> {
        let Arrived {
            mut passing,
            mut step,
            inside,
        } = match self.transport.arrive(&mut message, None).await {
            Ok(arrived) => arrived,
            Err(reply) => return self.reply(&reply, &message).await,
        };
        if let Step::Deliver(deliver) = &step
            && let Some(negotiated) = &deliver.negotiated
            && !self.state().begun
            && !self.replay(negotiated, rmcp).await?
        {
            let failed = Failed("initialize: rmcp refuses what was negotiated".into());
            step = passing.on(Event::NotResumed(failed));
        }
        match step {
            Step::Deliver(deliver) => {
                if deliver.add_session_id.is_some() {
                    self.state().named.clone_from(&deliver.add_session_id);
                }
                let limit = passing.limit();
                let leaving = self.transport.leaving(passing, *deliver, &message);
                match self.deliver(message, leaving, limit) {
                    Some(line) => send(rmcp, &line).await,
                    None => Ok(()),
                }
            }
            Step::Reply(reply) => {
                if reply.done {
                    let ended = inside.as_ref().and_then(Value::as_str);
                    self.state().named.take_if(|named| Some(&**named) == ended);
                }
                self.reply(&reply, &message).await
            }
            _ => Ok(()),
        }
    }

    async fn reply(&self, reply: &Reply, message: &Value) -> io::Result<()> {
        match (
            replied(reply, request_id(message)),
            is_notification(message),
        ) {
            (Some(reply), false) => self.answer(&reply).await,
            _ => Ok(()),
        }
    }

    /// Returns the line for rmcp. It is parsed here in the same way as rmcp parses it. `None`: there is nothing
    /// to send.
    fn deliver(&self, mut message: Value, leaving: Leaving, limit: TimeLimit) -> Option<String> {
        let line = message.to_string();
        match serde_json::from_str(&line) {
            Ok(ClientJsonRpcMessage::Request(read)) => {
                let ours = self.register(&message, &read.request, leaving);
                self.transport.guard.lend(ours, limit);
                message["id"] = ours.into();
            }
            Ok(ClientJsonRpcMessage::Notification(read)) => {
                if let ClientNotification::CancelledNotification(read) = read.notification
                    && let Some(id) = read.params.request_id
                {
                    let ours = self.state().requests.cancelled(&id)?;
                    message["params"]["requestId"] = ours.into();
                }
            }
            _ => {}
        }
        Some(message.to_string())
    }

    /// Keeps what the answer to this request will need. Returns our id for the request.
    fn register(&self, message: &Value, read: &ClientRequest, leaving: Leaving) -> i64 {
        let mut state = self.state();
        let begins = matches!(read, ClientRequest::InitializeRequest(_));
        // rmcp shuts down after an `initialize` that it refuses, so the session has begun in either case.
        state.begun |= begins;
        let ours = state.requests.next_id();
        let id = message["id"].clone();
        let request = Request {
            id,
            begins,
            leaving,
        };
        state.requests.insert(ours, Open::Client(request.into()));
        ours
    }

    /// Has rmcp begin with what another process negotiated, before any other message. Returns false if rmcp
    /// refuses it; nothing has begun in that case.
    async fn replay(
        &self,
        negotiated: &str,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> io::Result<bool> {
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
            REPLAYED: params,
        });
        let told = self
            .ask("server/discover", json!({"_meta": meta}), rmcp)
            .await?;
        let versions = told["result"]["supportedVersions"].as_array();
        if versions.is_none_or(|versions| !versions.contains(version)) {
            return Ok(false);
        }
        let begun = self.ask("initialize", params, rmcp).await?;
        if begun["result"]["protocolVersion"] != *version {
            return Ok(false);
        }
        self.state().begun = true;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        send(rmcp, &initialized.to_string()).await?;
        Ok(true)
    }

    /// Sends a request of our own, whose answer is not passed on. Returns null if rmcp has shut down.
    async fn ask(
        &self,
        method: &str,
        params: Value,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> io::Result<Value> {
        let (tell, told) = oneshot::channel();
        let id = {
            let requests = &mut self.state().requests;
            let id = requests.next_id();
            requests.insert(id, Open::Ours(tell));
            id
        };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        send(rmcp, &request.to_string()).await?;
        Ok(told.await.unwrap_or_default())
    }
}
