//! Lines of JSON between the client and rmcp, whose types lack the members that sessions add.

use std::sync::{Arc, Mutex as Locked, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::sync::Mutex;

use crate::transport::Transport;
use crate::transport::open_requests::OpenRequests;

/// The relay between the client and rmcp.
pub(crate) struct Relay<W> {
    pub transport: Transport,
    pub client: Mutex<W>,
    state: Locked<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Whether rmcp has seen an `initialize`.
    pub begun: bool,
    /// The session that the client named last, for messages that are no answers.
    pub named: Option<String>,
    pub requests: OpenRequests,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Relay<W> {
    /// Starts a task for each direction.
    pub(crate) fn start(
        transport: Transport,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: W,
        rmcp: DuplexStream,
    ) {
        let (from_rmcp, to_rmcp) = tokio::io::split(rmcp);
        let relay = Arc::new(Self {
            transport,
            client: Mutex::new(write),
            state: Locked::default(),
        });
        tokio::spawn(Arc::clone(&relay).incoming(read, to_rmcp));
        tokio::spawn(relay.outgoing(from_rmcp));
    }

    pub(crate) async fn answer(&self, message: &Value) -> std::io::Result<()> {
        send(&mut *self.client.lock().await, &message.to_string()).await
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), line: &str) -> std::io::Result<()> {
    to.write_all(format!("{line}\n").as_bytes()).await?;
    to.flush().await
}
