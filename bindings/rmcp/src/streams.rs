//! SEP-1359 on stdio: lines of JSON on their way between the client and rmcp, whose types have no
//! place for what the proposal adds.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex as Locked, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::Extensions;
use sealwax::Profile;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream,
    ReadHalf, WriteHalf,
};
use tokio::sync::{Mutex, oneshot};

use crate::layer::{add_capability, name};
use crate::negotiated::{Negotiated, Tokens};
use crate::refusal::{About, Reason, rpc_error};
use crate::session_boundary::{SESSION, echo, put_echo};
use crate::{Guard, Kind};

const PIPE: usize = 64 * 1024;
/// The id of an `initialize` of ours, whose answer nobody else sees.
const REPLAY: &str = "sealwax-replay";

impl Guard {
    /// Sessions on stdio, or other streams of lines: tells the `sessions` capability, for which
    /// rmcp has no place, and speaks [SEP-1359](Streams::sep1359) if asked to.
    ///
    /// ```no_run
    /// # use rmcp::{ServerHandler, ServiceExt as _};
    /// # use sealwax_rmcp::Guard;
    /// # async fn serve(guard: Guard, server: impl ServerHandler) {
    /// let stdio = (tokio::io::stdin(), tokio::io::stdout());
    /// let stdio = guard.streams().sep1359().wrap(stdio);
    /// let running = guard.protect(server).serve(stdio).await;
    /// # }
    /// ```
    #[must_use]
    pub fn streams(&self) -> Streams {
        Streams {
            tokens: Tokens::new(self.clone()),
            sep1359: false,
        }
    }
}

/// What [`Guard::streams`] returns.
pub struct Streams {
    tokens: Tokens,
    sep1359: bool,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Streams").field(&self.tokens.guard).finish()
    }
}

impl Streams {
    /// How long a session lives, in whole seconds: 30 days unless set.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.tokens.ttl = Some(ttl);
        self
    }

    /// Speaks SEP-1359, as [`SessionLayer::sep1359`](crate::SessionLayer::sep1359) does over HTTP.
    ///
    /// A session outlives the process: after a restart a message with a good `sessionId` and no
    /// `initialize` before it is served, with what the token says was negotiated.
    #[must_use]
    pub fn sep1359(mut self) -> Self {
        self.sep1359 = true;
        self.tokens.end_on_mismatch = true;
        self
    }

    /// What to serve in place of the two `streams`. Call it in a runtime of tokio.
    pub fn wrap<R, W>(
        self,
        (read, write): (R, W),
    ) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (rmcp, ours) = tokio::io::duplex(PIPE);
        let (from_rmcp, to_rmcp) = tokio::io::split(ours);
        let relay = Arc::new(Relay {
            streams: self,
            client: Mutex::new(write),
            state: Locked::default(),
        });
        tokio::spawn(Arc::clone(&relay).incoming(BufReader::new(read), to_rmcp));
        tokio::spawn(relay.outgoing(BufReader::new(from_rmcp)));
        tokio::io::split(rmcp)
    }
}

/// Between the client and rmcp.
struct Relay<W> {
    streams: Streams,
    client: Mutex<W>,
    state: Locked<State>,
}

#[derive(Default)]
struct State {
    /// Whether rmcp has seen an `initialize`.
    begun: bool,
    /// The one that rmcp has not answered yet.
    initialize: Option<Value>,
    /// Told once rmcp has answered the one of ours.
    replayed: Option<oneshot::Sender<()>>,
    /// The session that the client named last, for what is no answer.
    named: Option<String>,
    /// The sessions of requests that rmcp has not answered yet, by their ids.
    open: HashMap<String, String>,
    /// The data-layer sessions that rmcp would leave out of their results.
    echo: HashMap<String, String>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    async fn incoming(
        self: Arc<Self>,
        read: impl AsyncRead + Unpin,
        mut rmcp: WriteHalf<DuplexStream>,
    ) where
        Self: Send,
    {
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            self.note_echo(&line);
            let sent = match serde_json::from_str::<Value>(&line) {
                Ok(message) if self.streams.sep1359 && message.is_object() => {
                    self.arrive(message, &mut rmcp).await
                }
                Ok(message) => {
                    self.note_initialize(&message);
                    send(&mut rmcp, &line).await
                }
                // rmcp has an answer to what is no JSON.
                Err(_) => send(&mut rmcp, &line).await,
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
        self.note_initialize(&message);
        let (Some(named), false) = (named, message["method"] == "initialize") else {
            return send(rmcp, &message.to_string()).await;
        };
        let token = named.as_str().unwrap_or_default();
        let verified = self
            .verify(token, message["method"] == "session/terminate")
            .await;
        let (negotiated, ended) = match verified {
            Ok(verified) => verified,
            Err(answer) => return self.refuse(&message, answer).await,
        };
        if ended {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}});
            return self.answer(&answer).await;
        }
        if !self.state().begun {
            self.replay(&negotiated, rmcp).await?;
        }
        {
            let mut state = self.state();
            state.named = Some(token.to_owned());
            if message.get("method").is_some() && message.get("id").is_some() {
                state
                    .open
                    .insert(message["id"].to_string(), token.to_owned());
            }
        }
        send(rmcp, &message.to_string()).await
    }

    fn note_echo(&self, line: &str) {
        if !line.contains(SESSION) {
            return;
        }
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if let (Some(id), Some(asked)) = (
            echo(&self.streams.tokens.guard, &message),
            message.get("id"),
        ) {
            self.state().echo.insert(asked.to_string(), id);
        }
    }

    fn note_initialize(&self, message: &Value) {
        if message["method"] == "initialize" {
            let mut state = self.state();
            state.begun = true;
            state.initialize = Some(message.clone());
        }
    }

    /// What was negotiated, and whether the session has ended as it was asked to. Else the error to
    /// answer.
    async fn verify(&self, token: &str, end: bool) -> Result<(Negotiated, bool), sealwax::Answer> {
        let tokens = &self.streams.tokens;
        let (caller, context) = tokens.caller(Extensions::new());
        let verified = async {
            let known = caller.known(&context)?;
            let (negotiated, presented) = tokens.open(token, known).await?;
            if end {
                tokens.guard.ended(&presented).await?;
            }
            Ok::<_, Reason>((negotiated, end))
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
    async fn refuse(&self, message: &Value, answer: sealwax::Answer) -> std::io::Result<()> {
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

    async fn outgoing(self: Arc<Self>, rmcp: BufReader<ReadHalf<DuplexStream>>) {
        let mut lines = rmcp.lines();
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
            name(message, &token);
        }
    }

    /// Gives the session to the result of `initialize`, or an error in its place.
    fn begin(&self, initialize: &Value, message: &mut Value) {
        if message["result"]["protocolVersion"].is_null() {
            return;
        }
        let tokens = &self.streams.tokens;
        let (caller, context) = tokens.caller(Extensions::new());
        let sealed = caller.known(&context).and_then(|known| {
            let negotiated = Negotiated::of(&initialize["params"], &message["result"]);
            tokens.seal(&negotiated, known)
        });
        match sealed {
            Ok(sealed) => {
                message["result"]["sessionId"] = sealed.token.into();
                message["result"]["sessionTimeout"] = sealed.lives.into();
            }
            Err(error) => {
                let about = About {
                    principal: caller.principal(),
                    ..About::default()
                };
                let reason = Reason::NotSealed(error);
                let guard = &tokens.guard;
                let answer = guard.refuse_as(Kind::Session, Profile::Sep1359, None, &reason, about);
                *message = rpc_error(&initialize["id"], answer);
            }
        }
    }

    async fn answer(&self, message: &Value) -> std::io::Result<()> {
        send(&mut *self.client.lock().await, &message.to_string()).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(to: &mut (impl AsyncWrite + Unpin), line: &str) -> std::io::Result<()> {
    to.write_all(format!("{line}\n").as_bytes()).await?;
    to.flush().await
}
