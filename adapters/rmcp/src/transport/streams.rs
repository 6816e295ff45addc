//! Sessions on stdio: their options, and the streams to serve.

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use sealwax_mcp::TransportSettings;
use tokio::io::{AsyncRead, AsyncWrite};

use super::settings;
use super::stdio::Relayed;
use crate::guard::Guard;

impl Guard {
    /// Returns the options of sessions on stdio, or on other streams of lines. The wrapped streams declare the
    /// `sessions` capability, which rmcp's types lack, and add [SEP-1359](Streams::sep1359) if you ask for it.
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
    pub fn streams(&self) -> Streams {
        Streams {
            guard: self.clone(),
            settings: settings(),
        }
    }
}

/// The options of sessions on streams, as [`Guard::streams`] returns them.
#[must_use]
#[derive(Clone, Debug)]
pub struct Streams {
    guard: Guard,
    settings: TransportSettings,
}

impl Streams {
    /// Sets how long a session is valid, in whole seconds: 30 days by default.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.settings.ttl = Some(ttl);
        self
    }

    /// Sets how long a session may be idle, as [`SessionLayer::idle`](crate::SessionLayer::idle) does.
    pub fn idle(mut self, idle: Duration) -> Self {
        self.settings.idle = Some(idle);
        self
    }

    /// Adds SEP-1359, as [`SessionLayer::sep1359`](crate::SessionLayer::sep1359) does over HTTP.
    ///
    /// A session outlives the process: after a restart, a message with a good `sessionId` is served without
    /// `initialize`, with what its token says was negotiated.
    pub fn sep1359(mut self) -> Self {
        self.settings.sep1359 = true;
        self
    }

    /// Wraps the two `streams`; serve the result in their place. Call it in a runtime of tokio.
    pub fn wrap<R, W>(
        self,
        (read, write): (R, W),
    ) -> impl rmcp::transport::Transport<RoleServer, Error = io::Error> + 'static
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let connection = self.guard.around(self.settings);
        let connection = connection.map(|engine| engine.connection());
        Relayed::start(self.guard, connection, read, write)
    }
}
