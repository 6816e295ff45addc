//! The caller of a request, and its state in a protected server. It is passed on in the request's extensions, where
//! extractors and handles find it. Without it they fail.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{Extensions, NumberOrString};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Error, Principal};
use sealwax_mcp::{Failed, Fault, Origin, Reply};

use crate::foreign::{panicked, wrong};
use crate::guard::Guard;
use crate::hooks::{Timed, unprotected, warn};
use crate::principal::{parts, signed_in};
use crate::refusal::About;
use crate::{Context, Kind};

/// The exchange of a request whose handler runs, and the token that the request carried.
pub(crate) struct Running {
    pub exchange: Timed,
    pub token: Option<String>,
    /// Whether the handler could seal no state for this request.
    pub unbound: bool,
}

impl Running {
    pub(crate) fn new(exchange: Timed, token: Option<String>) -> Self {
        Self {
            exchange,
            token,
            unbound: false,
        }
    }
}

/// The caller of one request, shared by all clones of its context.
pub(crate) struct Caller {
    pub guard: Guard,
    /// The request that a refusal belongs to.
    origin: Origin,
    principal: OnceLock<Result<Option<Principal>, Failed>>,
    /// How long the request may still wait, if the transport's guard waited for it before.
    pub within: Option<Duration>,
    /// Set while the handler runs.
    running: Mutex<Option<Running>>,
}

/// What the transport's guard knows of a request: whose it is, how long it may still wait, and the id of its session's token.
#[derive(Clone)]
pub(crate) struct Known {
    pub caller: Arc<Caller>,
    pub within: Duration,
    pub session: Option<String>,
}

impl Caller {
    pub(crate) fn new(guard: &Guard, origin: Origin, extensions: &Extensions) -> Self {
        let over_http = parts(extensions);
        let known = over_http.map_or_else(|| extensions.get(), |parts| parts.extensions.get());
        let known = known.filter(|known: &&Known| known.caller.guard.is(guard));
        Self {
            guard: guard.clone(),
            origin,
            principal: known.map_or_else(OnceLock::new, |known| known.caller.principal.clone()),
            within: known.map(|known| known.within),
            running: Mutex::default(),
        }
    }

    /// Returns that of what belongs to no request.
    pub(crate) fn nobody(guard: &Guard) -> Self {
        Self::new(guard, Origin::default(), &Extensions::new())
    }

    /// Returns the caller of the request that a handler received.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Arc<Self>, Error> {
        extensions.get().ok_or(Error::InvalidArgument(
            "expected a request that a protected server received: serve what guard.protect(server) \
             returns"
                .into(),
        ))
    }

    /// Returns the same, or the answer to a handler that uses this kind of token elsewhere.
    pub(crate) fn protected(extensions: &Extensions, kind: Kind) -> Result<&Arc<Self>, ErrorData> {
        Self::of(extensions).map_err(|error| unprotected(kind, &error))
    }

    /// Returns the principal, if it has been resolved.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.principal.get()?.as_ref().ok()?.as_ref()
    }

    /// Returns the principal. The author's function is called once for a request.
    pub(crate) fn found(&self, context: Option<&Context>) -> Result<Option<Principal>, Failed> {
        let find = || context.map_or(Ok(None), |context| self.guard.principal(context));
        let found = self.principal.get_or_init(find);
        found.clone()
    }

    /// Reports an error that the adapter found, and returns the core's answer to it.
    pub(crate) fn refuse(&self, error: &Error, about: About<'_>) -> Reply {
        let mut fault = Fault::new(about.kind, error.to_string());
        fault.id = about.id;
        fault.origin = self.origin.clone();
        fault.origin.principal = self.principal().cloned().map(Into::into);
        let refused = self.guard.0.engine.report(error.code(), fault);
        self.guard.refused(refused);
        about.profile.answer(error, about.session_id).into()
    }

    /// Keeps the exchange while the handler runs. Using it afterwards is an error.
    pub(crate) fn keep(&self, running: Running) -> Kept<'_> {
        *self.running() = Some(running);
        Kept(self)
    }

    /// Uses the exchange on behalf of the handler.
    pub(crate) fn within<T>(
        &self,
        act: impl FnOnce(&mut Running) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &mut *self.running() {
            Some(running) => act(running),
            None => Err(Error::InvalidArgument(
                "expected a request that has not been answered yet".into(),
            )),
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds the exchange of a running handler.
pub(crate) struct Kept<'a>(&'a Caller);

impl Kept<'_> {
    pub(crate) fn take(&self) -> Option<Running> {
        self.0.running().take()
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

/// Logs must not contain opened values.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Caller").field(&self.guard).finish()
    }
}

impl Guard {
    /// Calls the author's function. The text of an error is for the log.
    fn principal(&self, context: &Context) -> Result<Option<Principal>, Failed> {
        let found = catch_unwind(AssertUnwindSafe(|| (self.0.options.principal)(context)));
        let principal = found.map_err(panicked)?.map_err(wrong)?;
        if principal == Some(Principal::anonymous())
            && let Some(sign) = signed_in(context)
        {
            // The likeliest misuse is to leave `anonymous` in place.
            self.0.warned.call_once(|| {
                warn(&format!(
                    "SECURITY: the principal is anonymous, but a request came with {sign}: what this guard seals for one user \
                     opens for every other. Put sealwax_rmcp::VerifiedClaims into the HTTP request's extensions where it is \
                     authenticated, and set Guard::builder(codec, from_claims)."
                ));
            });
        }
        Ok(principal)
    }

    /// Makes a request context that has only a `peer`, for messages that rmcp has not read yet.
    pub(crate) fn request(&self, peer: Option<Peer<RoleServer>>) -> Context {
        let peer = peer.unwrap_or_else(|| self.0.peer.get_or_init(nobodys_peer).clone());
        RequestContext::new(NumberOrString::Number(0), peer)
    }
}

/// Makes a peer without a client. rmcp has no other constructor for one.
fn nobodys_peer() -> Peer<RoleServer> {
    struct Nobody;
    impl ServerHandler for Nobody {}
    let closed = (futures::sink::drain(), futures::stream::empty());
    serve_directly(Nobody, closed, None).peer().clone()
}
