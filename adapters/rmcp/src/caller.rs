//! The caller of a request, and its state in a protected server. It is passed on in the request's extensions, where
//! extractors and handles find it. Without it they fail.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use http::request::Parts;
use rmcp::model::Extensions;
use sealwax::{Error, Principal};
use sealwax_mcp::{Event, Failed, Origin, Profile, Reply, Step};

use crate::event::Timed;
use crate::guard::Guard;
use crate::ledger::record;
use crate::refusal::About;
use crate::{Context, Kind};

/// The request that a refusal belongs to.
#[derive(Default)]
pub(crate) struct Request {
    pub method: String,
    pub target: Option<String>,
}

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
    pub request: Request,
    principal: OnceLock<Result<Option<Principal>, Failed>>,
    /// How long the request may still wait, if the transport's guard waited for it before.
    pub within: Option<Duration>,
    /// Set while the handler runs.
    running: Mutex<Option<Running>>,
}

/// What the transport's guard knows of a request: the principal, and how long it may still wait.
#[derive(Clone)]
pub(crate) struct Known {
    guard: Guard,
    principal: Option<Principal>,
    within: Duration,
}

impl Caller {
    pub(crate) fn new(guard: &Guard, request: Request, extensions: &Extensions) -> Self {
        let over_http = extensions.get::<Parts>();
        let known = over_http.map_or_else(|| extensions.get(), |parts| parts.extensions.get());
        let known = known.filter(|known: &&Known| known.guard.is(guard));
        let principal = known.and_then(|known| known.principal.clone());
        Self {
            guard: guard.clone(),
            request,
            principal: principal.map_or_else(OnceLock::new, |principal| Ok(Some(principal)).into()),
            within: known.map(|known| known.within),
            running: Mutex::default(),
        }
    }

    /// Returns the caller of the request that a handler received.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Arc<Self>, Error> {
        extensions.get().ok_or(Error::InvalidArgument(
            "expected a request that a protected server received: serve what guard.protect(server) \
             returns"
                .into(),
        ))
    }

    /// Returns the principal, if it has been resolved.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.principal.get()?.as_ref().ok()?.as_ref()
    }

    /// Returns what the guard of the message inside needs to know.
    pub(crate) fn known(&self, within: Duration) -> Known {
        Known {
            guard: self.guard.clone(),
            principal: self.principal().cloned(),
            within,
        }
    }

    /// Reports an error that the adapter found, and returns the core's answer to it.
    pub(crate) fn refuse(&self, error: &Error, about: About<'_>) -> Reply {
        let (reply, mut fault) = about.refused(error);
        let target = self.request.target.as_deref();
        fault.origin = Origin::new(
            Some(self.request.method.as_str().into()),
            target.map(Into::into),
        );
        fault.origin.principal = self.principal().cloned().map(Into::into);
        self.guard.found(error.code(), fault);
        reply
    }

    /// Answers the engine's questions, until the next step is something else. `context` is for the
    /// principal, unless that is known.
    pub(crate) async fn drive(
        &self,
        exchange: &mut Timed,
        mut step: Step,
        context: Option<&Context>,
    ) -> Step {
        let ledger = self.guard.0.options.ledger.as_deref();
        loop {
            step = match self.identified(exchange, step, context) {
                Step::Ledger(command) => {
                    let reply = record(ledger, &command).await;
                    self.on(exchange, Event::Ledger(reply))
                }
                step => return step,
            };
        }
    }

    /// Does the same, without waiting for anything.
    pub(crate) fn identified(
        &self,
        exchange: &mut Timed,
        mut step: Step,
        context: Option<&Context>,
    ) -> Step {
        while matches!(step, Step::Identify) {
            let find = || context.map_or(Ok(None), |context| self.guard.principal(context));
            let found = self.principal.get_or_init(find);
            step = self.on(exchange, Event::Principal(found.clone()));
        }
        self.guard.report(exchange);
        step
    }

    /// Returns the next step.
    pub(crate) fn on(&self, exchange: &mut Timed, event: Event<'_>) -> Step {
        if let Event::Result(_) = event {
            exchange.since = self.guard.starts();
        }
        let step = exchange.on(event);
        self.checked(step)
    }

    /// Returns the next step, unless the adapter has made a mistake.
    pub(crate) fn checked(&self, step: Result<Step, Error>) -> Step {
        step.unwrap_or_else(|error| {
            Step::Reply(self.refuse(&error, About::new(Kind::Session, Profile::DataLayer)))
        })
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
        self.running().as_mut().map_or_else(
            || {
                let why = "expected a request that has not been answered yet";
                Err(Error::InvalidArgument(why.into()))
            },
            act,
        )
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
