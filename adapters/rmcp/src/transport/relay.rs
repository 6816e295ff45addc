//! Messages between the client and rmcp, whose types lack the members that sessions add.

use std::io;
use std::sync::{Arc, Mutex as Locked, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, mpsc};

use super::Transport;
use super::message::add_session_id;
use super::open_requests::{Open, OpenRequests, Request};

/// The places in which rmcp repeats the id of a request.
const SUBSCRIPTION: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const ENDED_SUBSCRIPTION: &str = "/result/_meta/io.modelcontextprotocol~1subscriptionId";

/// The relay between the client and rmcp.
pub(crate) struct Relay<W> {
    pub transport: Transport,
    client: Mutex<W>,
    state: Locked<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Whether rmcp has seen an `initialize`.
    pub begun: bool,
    /// The session that the client named last, for messages that are no answers.
    pub session_id: Option<String>,
    pub requests: OpenRequests,
}

/// The relay, as rmcp's transport.
pub(crate) struct Relayed<W> {
    relay: Arc<Relay<W>>,
    from_client: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Relayed<W> {
    /// Starts to read the client's messages.
    pub(crate) fn start(
        transport: Transport,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: W,
    ) -> Self {
        let (to_rmcp, from_client) = mpsc::channel(1);
        let relay = Arc::new(Relay {
            transport,
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
        async move {
            let mut message = serde_json::to_value(message)?;
            match relay.leave(&mut message) {
                true => relay.answer(&message).await,
                false => Ok(()),
            }
        }
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
        self.relay.state().requests.close();
    }
}

impl<W> Relay<W> {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a message of rmcp. Returns whether it is for the client.
    fn leave(&self, message: &mut Value) -> bool {
        let state = &mut *self.state();
        if message.get("method").is_some() {
            if let Some(subscription) = message.pointer_mut(SUBSCRIPTION)
                && let Some(id) = state.requests.client_id(subscription)
            {
                *subscription = id.clone();
            }
            if let Some(token) = &state.session_id {
                add_session_id(message, token);
            }
            return true;
        }
        match state.requests.answered(&message["id"]) {
            Some(Open::Client(request)) => {
                finish(*request, message);
                true
            }
            Some(Open::Ours(answer)) => {
                // The receiver is gone if the client is.
                let _ = answer.send(message.take());
                false
            }
            // Without a request, only an answer without an id is passed on; any other belongs to a cancelled request.
            None => message["id"].is_null(),
        }
    }
}

impl<W: AsyncWrite + Unpin> Relay<W> {
    /// Sends a message to the client.
    pub(crate) async fn answer(&self, message: &Value) -> io::Result<()> {
        let mut client = self.client.lock().await;
        client.write_all(format!("{message}\n").as_bytes()).await?;
        client.flush().await
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
