//! The lines between the client and rmcp. The engine reads and changes them.

use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex as Locked, MutexGuard, PoisonError};

use futures::future::{Either, select};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, DiscoverRequest, ErrorData,
    GetExtensions as _, GetMeta as _, InitializeRequestParams, JsonRpcRequest, JsonRpcResponse,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use sealwax::Error;
use sealwax_mcp::{Connection, Event, Failed, Step};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::Passing;
use super::echo::Echo;
use crate::caller::Known;
use crate::guard::Guard;

type ToRmcp = mpsc::Sender<ClientJsonRpcMessage>;

/// An extension of a `server/discover` of our own: the params of an `initialize`, to learn whether they would be
/// refused. No client can send one.
#[derive(Clone)]
pub(crate) struct Replayed(pub InitializeRequestParams);

/// The relay between the client and rmcp.
struct Relay<W> {
    guard: Guard,
    connection: Result<Connection, Error>,
    client: Mutex<W>,
    state: Locked<State>,
}

#[derive(Default)]
struct State {
    /// The request of our own that rmcp has not answered yet. Its id is random, so no client can cancel it.
    asked: Option<(RequestId, oneshot::Sender<ServerJsonRpcMessage>)>,
    echoes: HashMap<RequestId, Echo>,
}

/// The relay, as rmcp's transport.
pub(crate) struct Relayed<W> {
    relay: Arc<Relay<W>>,
    from_client: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Relayed<W> {
    /// Starts to read the client's messages.
    pub(crate) fn start(
        guard: Guard,
        connection: Result<Connection, Error>,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: W,
    ) -> Self {
        let (to_rmcp, from_client) = mpsc::channel(1);
        let relay = Arc::new(Relay {
            guard,
            connection,
            client: Mutex::new(write),
            state: Locked::default(),
        });
        tokio::spawn(Arc::clone(&relay).incoming(read, to_rmcp));
        Self { relay, from_client }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> rmcp::transport::Transport<RoleServer> for Relayed<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let relay = Arc::clone(&self.relay);
        async move { relay.leave(message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.from_client.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.from_client.close();
        Ok(())
    }
}

/// No more answers will come.
impl<W> Drop for Relayed<W> {
    fn drop(&mut self) {
        self.from_client.close();
        self.relay.state().asked = None;
    }
}

impl<W> Relay<W> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    async fn incoming(self: Arc<Self>, read: impl AsyncRead + Unpin, to_rmcp: ToRmcp) {
        let mut lines = BufReader::new(read).split(b'\n');
        // Whoever serves may be gone, and the client has to hear of that without asking.
        while let Either::Left((Ok(Some(line)), _)) =
            select(pin!(lines.next_segment()), pin!(to_rmcp.closed())).await
        {
            if self.arrive(&line, &to_rmcp).await.is_err() {
                break;
            }
        }
    }

    async fn arrive(&self, line: &[u8], to_rmcp: &ToRmcp) -> io::Result<()> {
        let connection = match &self.connection {
            Ok(connection) => connection,
            Err(error) => return self.refuse(line, self.guard.unset(error)).await,
        };
        let begin = || connection.line(line);
        let (mut passing, mut step) = Passing::begin(&self.guard, None, begin).await;
        if let Step::Replay = step {
            let line = passing.exchange.text().unwrap_or_default();
            let answer = self.replay(&line, to_rmcp).await?;
            let refused = || Failed::Wrong("rmcp refuses what was negotiated".into());
            let answer = answer.as_deref().ok_or_else(refused);
            step = passing.on(Event::Replayed(answer)).await;
        }
        let mut text = passing.exchange.text();
        if let (Step::Deliver(deliver), Some(lines)) = (step, &text) {
            let known = passing.known(&deliver);
            for line in lines.split('\n') {
                if !self.deliver(line, known.clone(), to_rmcp).await? {
                    passing.on(Event::Broke(String::new())).await;
                }
            }
            text = passing.exchange.text();
        }
        self.write(text).await
    }

    /// Returns whether rmcp can read it.
    async fn deliver(&self, line: &str, known: Known, to_rmcp: &ToRmcp) -> io::Result<bool> {
        let Ok(mut message) = serde_json::from_str(line) else {
            return Ok(false);
        };
        match &mut message {
            ClientJsonRpcMessage::Request(request) => {
                request.request.extensions_mut().insert(known);
            }
            ClientJsonRpcMessage::Notification(read) => {
                if let ClientNotification::CancelledNotification(read) = &read.notification
                    && let Some(id) = &read.params.request_id
                {
                    self.state().echoes.remove(id);
                }
            }
            _ => {}
        }
        if self.guard.0.options.sessions.is_some()
            && let Some(echo) = Echo::of(&message)
        {
            self.state().echoes.insert(echo.id.clone(), echo);
        }
        send(to_rmcp, message).await?;
        Ok(true)
    }

    /// Answers a message that rmcp does not get as rmcp would, which ignores notifications.
    async fn refuse(&self, line: &[u8], error: ErrorData) -> io::Result<()> {
        // rmcp's own types read no message whose parameters are of another type: its client waits for an answer, too.
        #[derive(Default, Deserialize)]
        struct Sketch {
            id: Option<RequestId>,
            method: Option<IgnoredAny>,
        }
        let read: Sketch = serde_json::from_slice(line).unwrap_or_default();
        match (read.method, read.id) {
            (Some(_), None) => Ok(()),
            (method, id) => {
                let id = id.filter(|_| method.is_some());
                self.leave(ServerJsonRpcMessage::error(error, id)).await
            }
        }
    }

    /// Has rmcp begin with what another process negotiated. Returns its answer to this `initialize`; `None` if it would refuse.
    async fn replay(&self, line: &str, to_rmcp: &ToRmcp) -> io::Result<Option<String>> {
        // rmcp has no type for some of what was negotiated.
        let Ok(message) = serde_json::from_str(line) else {
            return Ok(None);
        };
        let ClientJsonRpcMessage::Request(JsonRpcRequest {
            id,
            request: ClientRequest::InitializeRequest(initialize),
            ..
        }) = &message
        else {
            return Ok(None);
        };
        // rmcp shuts down after an `initialize` that it refuses, but not after this request.
        let probe = ClientJsonRpcMessage::request(probe(&initialize.params), id.clone());
        let (id, version) = (id.clone(), initialize.params.protocol_version.clone());
        let accepts = match self.ask(&id, probe, to_rmcp).await? {
            ServerJsonRpcMessage::Response(JsonRpcResponse {
                result: ServerResult::DiscoverResult(offered),
                ..
            }) => offered.supported_versions.contains(&version),
            _ => false,
        };
        if !accepts {
            return Ok(None);
        }
        let begun = self.ask(&id, message, to_rmcp).await?;
        Ok(serde_json::to_string(&begun).ok())
    }

    /// Sends a request of our own, whose answer is not passed on.
    async fn ask(
        &self,
        id: &RequestId,
        request: ClientJsonRpcMessage,
        to_rmcp: &ToRmcp,
    ) -> io::Result<ServerJsonRpcMessage> {
        let (answer, answered) = oneshot::channel();
        self.state().asked = Some((id.clone(), answer));
        send(to_rmcp, request).await?;
        answered.await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Passes a message of rmcp's on.
    async fn leave(&self, message: ServerJsonRpcMessage) -> io::Result<()> {
        let id = match &message {
            ServerJsonRpcMessage::Response(answer) => Some(&answer.id),
            ServerJsonRpcMessage::Error(answer) => answer.id.as_ref(),
            _ => None,
        };
        let asked = self.state().asked.take_if(|(ours, _)| Some(&*ours) == id);
        if let Some((_, answer)) = asked {
            // The receiver is gone if the client is.
            let _ = answer.send(message);
            return Ok(());
        }
        let mut line = serde_json::to_string(&message)?;
        let echo = id.and_then(|id| self.state().echoes.remove(id));
        if let Some(changed) = echo.and_then(|echo| echo.put(&line)) {
            line = changed;
        }
        let Ok(connection) = &self.connection else {
            return self.write(Some(line)).await;
        };
        let begin = || connection.leaves(line.as_bytes(), None);
        let (mut passing, _) = Passing::begin(&self.guard, None, begin).await;
        self.write(passing.exchange.text()).await
    }

    /// Sends a line to the client, if there is one.
    async fn write(&self, line: Option<String>) -> io::Result<()> {
        let Some(mut line) = line else {
            return Ok(());
        };
        line.push('\n');
        let mut client = self.client.lock().await;
        client.write_all(line.as_bytes()).await?;
        client.flush().await
    }
}

/// Returns a request that rmcp answers as it would this `initialize`.
fn probe(params: &InitializeRequestParams) -> ClientRequest {
    let mut probe = ClientRequest::DiscoverRequest(DiscoverRequest::default());
    let meta = probe.get_meta_mut();
    meta.set_protocol_version(params.protocol_version.clone());
    meta.set_client_capabilities(params.capabilities.clone());
    meta.set_client_info(params.client_info.clone());
    probe.extensions_mut().insert(Replayed(params.clone()));
    probe
}

async fn send(to_rmcp: &ToRmcp, message: ClientJsonRpcMessage) -> io::Result<()> {
    let sent = to_rmcp.send(message).await;
    sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
}
