//! The caller of a request, and its state in a protected server. It is passed on in the request's extensions, where
//! extractors and handles find it. Without it they fail.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::request::Parts;
use rmcp::model::Extensions;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer};
use sealwax::{Error, Principal};
use sealwax_mcp::Profile;
use sealwax_mcp::{Event, Exchange, Failed, Step, Verdict};

use crate::Kind;
use crate::accept::TimeLimit;
use crate::guard::Guard;
use crate::refusal::{About, Asked, error_data, internal, token_id};

/// A request or a notification, as a handler receives it.
pub trait Received: sealed::Sealed {
    #[doc(hidden)]
    fn extensions(&self) -> &Extensions;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for RequestContext<RoleServer> {}
impl sealed::Sealed for NotificationContext<RoleServer> {}

impl Received for RequestContext<RoleServer> {
    fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

impl Received for NotificationContext<RoleServer> {
    fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

/// The caller of one request, shared by all clones of its context.
pub(crate) struct Caller {
    pub guard: Guard,
    asked: Asked,
    principal: OnceLock<Result<Option<Principal>, Failed>>,
    limit: TimeLimit,
    /// The token that the request carried.
    carried: OnceLock<String>,
    /// Set while the handler runs.
    exchange: Mutex<Option<Exchange>>,
    /// The changes that the handler made to the session by a function.
    updates: Mutex<Vec<Box<Update>>>,
    /// Makes the handler's result again.
    remake: Mutex<Option<Box<Remake>>>,
}

/// Makes the next value of a session from the current one, both as JSON.
pub(crate) type Update = dyn Fn(&str) -> Result<String, Error> + Send + Sync;

/// Makes a result from the value of a session, as JSON.
pub(crate) type Remake = dyn Fn(&str) -> Result<Box<dyn Any + Send>, Error> + Send + Sync;

/// What the transport's guard knows of a request: the principal, and how long it may still wait.
#[derive(Clone)]
pub(crate) struct Known {
    by: Guard,
    principal: Option<Principal>,
    limit: TimeLimit,
}

impl Caller {
    /// `lent` is the time limit that a stream lent the request.
    pub(crate) fn new(
        guard: &Guard,
        asked: Asked,
        extensions: &Extensions,
        lent: Option<TimeLimit>,
    ) -> Self {
        let parts = extensions.get::<Parts>();
        let known = parts.and_then(|parts| parts.extensions.get::<Known>());
        let known = known.filter(|known| known.by.is(guard));
        let principal = known.and_then(|known| known.principal.clone());
        let new = || TimeLimit::new(guard.accept_timeout());
        Self {
            guard: guard.clone(),
            asked,
            principal: principal.map_or_else(OnceLock::new, |principal| Ok(Some(principal)).into()),
            limit: known
                .map(|known| known.limit.clone())
                .or(lent)
                .unwrap_or_else(new),
            carried: OnceLock::new(),
            exchange: Mutex::default(),
            updates: Mutex::default(),
            remake: Mutex::default(),
        }
    }

    /// Returns the caller of the request that a handler received.
    pub(crate) fn of(context: &impl Received) -> Result<&Arc<Self>, Error> {
        context.extensions().get().ok_or(Error::InvalidArgument(
            "expected a request that a protected server received: serve what guard.protect(server) \
             returns"
                .into(),
        ))
    }

    /// Returns the principal, if it has been resolved.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.principal.get()?.as_ref().ok()?.as_ref()
    }

    /// Returns how long the request may still wait.
    pub(crate) fn limit(&self) -> TimeLimit {
        self.limit.clone()
    }

    /// Returns what the guard of the message inside needs to know.
    pub(crate) fn known(&self) -> Known {
        Known {
            by: self.guard.clone(),
            principal: self.principal().cloned(),
            limit: self.limit.clone(),
        }
    }

    /// Records the token that the request carried.
    pub(crate) fn carried(&self, token: String) {
        self.carried.get_or_init(|| token);
    }

    /// Returns the id of that token.
    pub(crate) fn token_id(&self) -> Option<String> {
        token_id(self.carried.get()?)
    }

    pub(crate) fn about(&self, kind: Kind, profile: Profile) -> About<'_> {
        About {
            request: Some(&self.asked),
            ..About::new(kind, profile, self.principal())
        }
    }

    /// Answers the engine's questions, until the next step is something else.
    pub(crate) async fn drive(
        &self,
        exchange: &mut Exchange,
        step: Step,
        context: &RequestContext<RoleServer>,
    ) -> Step {
        self.drive_within(&self.limit, exchange, step, context)
            .await
    }

    /// Does the same with another time limit.
    pub(crate) async fn drive_within(
        &self,
        limit: &TimeLimit,
        exchange: &mut Exchange,
        mut step: Step,
        context: &RequestContext<RoleServer>,
    ) -> Step {
        loop {
            step = match self.identified(exchange, step, context) {
                Step::Ask { question, .. } => {
                    let verdict = match (self.guard.accept(), self.principal()) {
                        (Some(accept), Some(principal)) => {
                            limit.ask(accept, question, principal).await
                        }
                        // The engine asks only if there is an `Accept`, and after the principal is known.
                        _ => Verdict::Unavailable(Failed("accept: none".into())),
                    };
                    self.on(exchange, Event::Answer(verdict))
                }
                Step::Ledger(command) => {
                    let reply = self.guard.record(&command, limit).await;
                    self.on(exchange, Event::Ledger(reply))
                }
                step => return step,
            };
        }
    }

    /// Does the same, without waiting for anything.
    pub(crate) fn identified(
        &self,
        exchange: &mut Exchange,
        mut step: Step,
        context: &RequestContext<RoleServer>,
    ) -> Step {
        while matches!(step, Step::Identify) {
            let found = self.principal.get_or_init(|| self.guard.principal(context));
            step = self.on(exchange, Event::Principal(found.clone()));
        }
        let refused = exchange.refused();
        self.guard
            .report_all(refused, Some(&self.asked), self.principal());
        step
    }

    /// Returns the next step.
    pub(crate) fn on(&self, exchange: &mut Exchange, event: Event<'_>) -> Step {
        exchange.on(event).unwrap_or_else(|error| {
            let reply = self
                .guard
                .refuse(&error, self.about(Kind::Session, Profile::DataLayer));
            Step::Reply(reply)
        })
    }

    /// Keeps the exchange while the handler runs. Using it afterwards is an error.
    pub(crate) fn keep(&self, exchange: Exchange) -> Kept<'_> {
        *self.exchange() = Some(exchange);
        Kept(self)
    }

    /// Uses the exchange on behalf of the handler.
    pub(crate) fn within<T>(
        &self,
        act: impl FnOnce(&mut Exchange) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &mut *self.exchange() {
            Some(exchange) => act(exchange),
            None => Err(Error::InvalidArgument(
                "expected a request that has not been answered yet".into(),
            )),
        }
    }

    /// Records a function that changed the session.
    pub(crate) fn update(&self, update: Box<Update>) {
        self.updates().push(update);
    }

    /// Records the function that makes the handler's result.
    pub(crate) fn remake(&self, remake: Box<Remake>) {
        *self.made_by() = Some(remake);
    }

    /// Makes the handler's result again from another value; `None` if the handler left no function.
    pub(crate) fn remade<A: 'static>(&self, value: &str) -> Option<Result<A, Failed>> {
        let remake = self.made_by();
        let remake = remake.as_ref()?;
        let made = catch_unwind(AssertUnwindSafe(|| remake(value)));
        Some(match made {
            Ok(Ok(made)) => made
                .downcast()
                .map(|made| *made)
                .map_err(|_| Failed("result: expected a result of the request's method".into())),
            Ok(Err(error)) => Err(Failed(format!("result: {error}"))),
            Err(_) => Err(Failed("result: the function panicked".into())),
        })
    }

    fn made_by(&self) -> MutexGuard<'_, Option<Box<Remake>>> {
        self.remake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies these functions to another value.
    pub(crate) fn updated(&self, mut value: String) -> Result<String, Failed> {
        for update in &*self.updates() {
            let made = catch_unwind(AssertUnwindSafe(|| update(&value)));
            let made = made.map_err(|_| Failed("update: the function panicked".into()))?;
            value = made.map_err(|error| Failed(format!("update: {error}")))?;
        }
        Ok(value)
    }

    fn updates(&self) -> MutexGuard<'_, Vec<Box<Update>>> {
        self.updates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exchange(&self) -> MutexGuard<'_, Option<Exchange>> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds the exchange of a running handler.
pub(crate) struct Kept<'a>(&'a Caller);

impl Kept<'_> {
    pub(crate) fn take(&self) -> Option<Exchange> {
        self.0.exchange().take()
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

/// Returns the error for a step that refuses.
pub(crate) fn refused(step: Step) -> ErrorData {
    match step {
        Step::Reply(reply) => error_data(reply),
        _ => internal(),
    }
}

/// There is no guard to report to, so the error is only logged.
pub(crate) fn unprotected(kind: Kind, error: &Error) -> ErrorData {
    let about = About::new(kind, Profile::DataLayer, None);
    about.refusal(error).log();
    internal()
}

/// Logs must not contain opened values.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Caller").field(&self.guard).finish()
    }
}
