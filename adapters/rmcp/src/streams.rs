//! Sessions on stdio: what an author says, and the streams to serve.

use std::fmt;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};

use crate::guard::Guard;
use crate::relay::Relay;
use crate::transport::Transport;

const PIPE: usize = 64 * 1024;

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
            transport: Transport::new(self),
        }
    }
}

/// What [`Guard::streams`] returns.
pub struct Streams {
    transport: Transport,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Streams")
            .field(&self.transport.guard)
            .finish()
    }
}

impl Streams {
    /// How long a session lives, in whole seconds: 30 days unless set.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.transport.settings.ttl = Some(ttl);
        self
    }

    /// How long a session may be idle, as [`SessionLayer::idle`](crate::SessionLayer::idle) says.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.transport.settings.idle = Some(idle);
        self
    }

    /// Speaks SEP-1359, as [`SessionLayer::sep1359`](crate::SessionLayer::sep1359) does over HTTP.
    ///
    /// A session outlives the process: after a restart a message with a good `sessionId` and no
    /// `initialize` before it is served, with what the token says was negotiated.
    #[must_use]
    pub fn sep1359(mut self) -> Self {
        self.transport.settings.sep1359 = true;
        self
    }

    /// What to serve in place of the two `streams`. Call it in a runtime of tokio.
    ///
    /// Requests reach rmcp under numbers of the wrapper's own, so that no id which a client uses
    /// again mixes up two answers: `RequestContext::id` is such a number, and so is the
    /// `request_id` of a cancellation.
    pub fn wrap<R, W>(
        self,
        (read, write): (R, W),
    ) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (rmcp, ours) = tokio::io::duplex(PIPE);
        Relay::start(self.transport, read, write, ours);
        tokio::io::split(rmcp)
    }
}
