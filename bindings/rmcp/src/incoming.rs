//! The client's lines on their way to rmcp: the session is verified, and rmcp does not see it.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, Extensions};
use sealwax::{Answer, Error, Principal, Profile};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
    WriteHalf,
};
use tokio::sync::oneshot;

use crate::message::{REPLAYED, echo};
use crate::negotiated::Negotiated;
use crate::open_requests::{Open, Request};
use crate::refusal::{About, Reason, error_data, method_not_found, rpc_error};
use crate::relay::{Relay, send};
use crate::{Kind, Presented, sep1359};

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    pub(crate) async fn incoming(
        self: Arc<Self>,
        read: impl AsyncRead + Unpin,
        mut rmcp: WriteHalf<DuplexStream>,
    ) {
        let mut lines = BufReader::new(read).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
            // What is no JSON rmcp ignores as well.
            let Ok(message) = serde_json::from_slice(line) else {
                continue;
            };
            if self.arrive(message, &mut rmcp).await.is_err() {
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
    ) -> io::Result<()> {
        let mut session = None;
        if self.streams.sep1359
            && let Some(named) = take_session(&mut message)
            && message["method"] != "initialize"
        {
            session = self.enter(&message, &named, rmcp).await?;
            if session.is_none() {
                return Ok(());
            }
        }
        match self.deliver(message, session) {
            Some(line) => send(rmcp, &line).await,
            None => Ok(()),
        }
    }

    /// The session of a message that goes on to rmcp, which is ready for it. `None`: it does not go on.
    async fn enter(
        &self,
        message: &Value,
        named: &Value,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> io::Result<Option<String>> {
        // What is no text is no token either.
        let token = named.as_str().unwrap_or_default();
        if message["method"] == "session/terminate" {
            self.terminate(message, token).await?;
            return Ok(None);
        }
        let (negotiated, presented) = match self.verify(token).await {
            Ok(verified) => verified,
            Err(answer) => return self.refuse(message, answer).await.map(|()| None),
        };
        if !self.state().begun && !self.replay(&negotiated, rmcp).await? {
            let reason = Error::Malformed("a session that this server would begin").into();
            let answer = self.refused(token, &reason, Some(&presented.principal));
            return self.refuse(message, answer).await.map(|()| None);
        }
        self.state().named = Some(token.to_owned());
        Ok(Some(token.to_owned()))
    }

    async fn terminate(&self, message: &Value, token: &str) -> io::Result<()> {
        let guard = &self.streams.tokens.guard;
        let id = sep1359::request_id(message);
        if let Some(id) = id
            && !guard.remembers()
        {
            return self.answer(&rpc_error(id, &method_not_found())).await;
        }
        let presented = match self.verify(token).await {
            Ok((_, presented)) => presented,
            Err(answer) => return self.refuse(message, answer).await,
        };
        let principal = Some(&presented.principal);
        let Some(id) = id else {
            self.refused(token, &sep1359::no_request(), principal);
            return Ok(());
        };
        match guard.ended(&presented).await {
            Ok(()) => {
                self.state().named.take_if(|named| *named == token);
                self.answer(&sep1359::terminated(id)).await
            }
            Err(reason) => {
                let answer = self.refused(token, &reason, principal);
                self.refuse(message, answer).await
            }
        }
    }

    /// What was negotiated by the session. Else the error to answer.
    async fn verify(&self, token: &str) -> Result<(Negotiated, Presented), Answer> {
        let tokens = &self.streams.tokens;
        let (caller, context) = tokens.caller(Extensions::new());
        let verified = match caller.known(&context) {
            Ok(known) => tokens.open(token, known).await,
            Err(error) => Err(error.into()),
        };
        verified.map_err(|reason| self.refused(token, &reason, caller.principal()))
    }

    /// Tells the log and the hook, and gives the answer.
    fn refused(&self, token: &str, reason: &Reason, principal: Option<&Principal>) -> Answer {
        let about = About {
            principal,
            token: Some(token),
            token_id: None,
        };
        let guard = &self.streams.tokens.guard;
        guard.refuse_as(Kind::Session, Profile::Sep1359, Some(token), reason, about)
    }

    /// A notification and an answer get none.
    async fn refuse(&self, message: &Value, answer: Answer) -> io::Result<()> {
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(id)) => self.answer(&rpc_error(id, &error_data(answer))).await,
            _ => Ok(()),
        }
    }

    /// The line for rmcp, which reads here what it will read there. `None`: nothing is left to say.
    fn deliver(&self, mut message: Value, session: Option<String>) -> Option<String> {
        let line = message.to_string();
        match serde_json::from_str(&line) {
            Ok(ClientJsonRpcMessage::Request(read)) => {
                let ours = self.register(&message, &read.request, session);
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

    /// Remembers what the answer will need. Our id for the request.
    fn register(&self, message: &Value, read: &ClientRequest, session: Option<String>) -> i64 {
        let mut state = self.state();
        let begins = matches!(read, ClientRequest::InitializeRequest(_));
        // rmcp ends over one that it does not take, so from here on it has begun.
        state.begun |= begins;
        let id = state.requests.next_id();
        let request = Request {
            id: message["id"].clone(),
            tells_offers: begins || matches!(read, ClientRequest::DiscoverRequest(_)),
            initialize: begins.then(|| message["params"].clone()),
            session,
            echo: echo(&self.streams.tokens.guard, message),
        };
        state.requests.insert(id, Open::Client(request));
        id
    }

    /// Has rmcp begin with what another process agreed on, before anything else. False where it does
    /// not want to: nothing has begun then.
    async fn replay(
        &self,
        negotiated: &Negotiated,
        rmcp: &mut WriteHalf<DuplexStream>,
    ) -> io::Result<bool> {
        let (version, client) = (&negotiated.protocol_version, &negotiated.client_info);
        let params = json!({
            "protocolVersion": version,
            "capabilities": negotiated.client_capabilities,
            "clientInfo": client,
        });
        // rmcp ends over an `initialize` that is refused, and goes on after this.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": negotiated.client_capabilities,
            "io.modelcontextprotocol/clientInfo": client,
            REPLAYED: params,
        });
        let told = self
            .ask("server/discover", json!({"_meta": meta}), rmcp)
            .await?;
        let versions = told["result"]["supportedVersions"].as_array();
        if versions.is_none_or(|versions| !versions.contains(&json!(version))) {
            return Ok(false);
        }
        let begun = self.ask("initialize", params, rmcp).await?;
        if begun["result"]["protocolVersion"] != json!(version) {
            return Ok(false);
        }
        self.state().begun = true;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        send(rmcp, &initialized.to_string()).await?;
        Ok(true)
    }

    /// A request of ours, whose answer nobody else sees. Null where rmcp is gone.
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

/// Takes off the session that a message names: beside its method, or in an answer of the client
/// inside.
fn take_session(message: &mut Value) -> Option<Value> {
    let message = message.as_object_mut()?;
    message.remove("sessionId").or_else(|| {
        let result = message.get_mut("result")?.as_object_mut()?;
        result.remove("sessionId")
    })
}
