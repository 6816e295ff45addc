//! Sessions of the transport without a store: a tower layer around a stateless HTTP service.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, Full, Limited};
use sealwax::Error;
use sealwax_mcp::{self, OnLost, TransportSettings};
use tower_layer::Layer;
use tower_service::Service;

use super::http::{BoxError, Boxed, boxed, serve};
use super::settings;
use crate::guard::Guard;

const MAX_BODY_SIZE: usize = 4 * 1024 * 1024;

impl Guard {
    /// Returns a layer that gives `Mcp-Session-Id` to clients of the revisions up to 2025-11-25, and verifies it
    /// before the inner service sees a request. The id is a token that holds what was negotiated, so that any
    /// replica with the keys can continue; [`Guard::negotiated`] reads it. `DELETE` ends the session if there is
    /// a [ledger](crate::GuardBuilder::ledger), and is answered with 405 otherwise.
    ///
    /// The inner service must be stateless (`with_legacy_session_mode(false)`). Such a server cannot send
    /// requests to a client of these revisions: no elicitation, sampling or roots. Requests of revision
    /// 2026-07-28 pass unchanged.
    ///
    /// Put it inside the authentication, which provides the principal:
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, from_claims};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// # let guard = Guard::builder(codec, from_claims).build()?;
    /// # let mcp = tower_service_like();
    /// # fn tower_service_like() -> axum::Router { axum::Router::new() }
    /// let app = axum::Router::new()
    ///     .fallback_service(mcp) // StreamableHttpService::new(…)
    ///     .layer(guard.layer());
    /// // .layer(authentication)
    /// # let _: axum::Router = app;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    pub fn layer(&self) -> SessionLayer {
        SessionLayer {
            guard: self.clone(),
            settings: settings(),
            max_body_size: MAX_BODY_SIZE,
        }
    }
}

/// The layer that [`Guard::layer`] returns.
#[must_use]
#[derive(Clone, Debug)]
pub struct SessionLayer {
    guard: Guard,
    settings: TransportSettings,
    max_body_size: usize,
}

impl SessionLayer {
    /// Sets how long a session is valid, in whole seconds: 30 days by default. Its id never changes, so using
    /// the session does not extend it.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.settings.ttl = Some(ttl);
        self
    }

    /// Sets how long a session may be idle, in whole seconds; without a limit by default. It needs a
    /// [ledger](crate::GuardBuilder::ledger), which records when a session was last used; without one every
    /// request is answered with an internal error.
    pub fn idle(mut self, idle: Duration) -> Self {
        self.settings.idle = Some(idle);
        self
    }

    /// Passes requests without a session on. By default they are answered with 400.
    pub fn optional(mut self) -> Self {
        self.settings.required = false;
        self
    }

    /// Serves a request whose session is lost as one without a session, and says so in the log: the session has expired,
    /// its key was retired, or it is of another audience. For clients that begin no session after a 404. Another user's
    /// session, and one that was ended, are refused always.
    pub fn serve_lost(mut self) -> Self {
        self.settings.on_lost = OnLost::Serve;
        self
    }

    /// Adds SEP-1359: `sessionId` and `sessionTimeout` in the result of `initialize`, `sessionId` on the
    /// messages of a peer that sends it, and `session/terminate`, which is an unknown method without a ledger.
    ///
    /// With a ledger, a session ends when another principal presents its token, as the proposal demands. So
    /// whoever stole a token can end the session.
    pub fn sep1359(mut self) -> Self {
        self.settings.sep1359 = true;
        self
    }

    /// Sets the largest body of a request, in bytes: 4 MiB by default.
    pub fn max_body_size(mut self, bytes: usize) -> Self {
        self.max_body_size = bytes;
        self
    }
}

impl<S> Layer<S> for SessionLayer {
    type Service = SessionService<S>;

    fn layer(&self, inner: S) -> SessionService<S> {
        SessionService {
            inner,
            guard: self.guard.clone(),
            engine: Arc::new(self.guard.around(self.settings)),
            max_body_size: self.max_body_size,
        }
    }
}

/// The service that [`SessionLayer`] makes.
#[derive(Clone, Debug)]
pub struct SessionService<S> {
    inner: S,
    guard: Guard,
    engine: Arc<Result<sealwax_mcp::Guard, Error>>,
    max_body_size: usize,
}

impl<S, B, R> Service<Request<B>> for SessionService<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Boxed>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        let (guard, engine) = (self.guard.clone(), Arc::clone(&self.engine));
        let limit = self.max_body_size;
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = Limited::new(body, limit).collect().await;
            let body = body.ok().map(|body| body.to_bytes());
            let inner = |request| async move { Ok(inner.call(request).await?.map(boxed)) };
            serve(&guard, &engine, parts, body, inner).await
        })
    }
}
