//! What an author makes once: the guard and its options.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{NumberOrString, RequestId};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::mcp::{self, Failed, Refused, Reply};
use sealwax::{Codec, Error, Principal};
use serde_json::Value;

use crate::accept::Accept;
use crate::principal::IntoPrincipal;
use crate::refusal::{About, Refusal};

const ACCEPT_TIMEOUT: Duration = Duration::from_secs(1);

/// Seals what leaves a server for its clients, and opens and checks what comes back.
///
/// One for a server, cloned cheaply; see the [crate's front page](crate) for what it does.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing};
/// use sealwax_rmcp::{Guard, anonymous};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server reads KeyRing::from_env()
/// let codec = Codec::new(ring, "https://mcp.example.com")?;
/// let guard = Guard::builder(codec, anonymous)
///     .only("delete_note", ["id"])
///     .on_refused(|refusal| eprintln!("{}: {}", refusal.kind, refusal.code))
///     .build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct Guard(Arc<Settings>);

type PrincipalOf = dyn Fn(&RequestContext<RoleServer>) -> Result<Principal, Error> + Send + Sync;

type Hook = dyn Fn(&Refusal) + Send + Sync;

/// What a session begins with, as JSON; or why there is none. The author's own answer is an error.
pub(crate) type Initial = Result<Result<String, Failed>, ErrorData>;

pub(crate) type InitialOf =
    dyn Fn(RequestContext<RoleServer>, Option<Value>) -> BoxFuture<'static, Initial> + Send + Sync;

/// Data-layer sessions, said once the guard is there.
pub(crate) struct WithSessions {
    pub rules: mcp::GuardBuilder,
    pub engine: mcp::Guard,
    /// `None`: the server holds the state.
    pub initial: Option<Box<InitialOf>>,
}

pub(crate) struct Settings {
    rules: mcp::GuardBuilder,
    engine: mcp::Guard,
    sessions: OnceLock<WithSessions>,
    options: Options,
    peer: OnceLock<Peer<RoleServer>>,
}

struct Options {
    principal: Box<PrincipalOf>,
    on_refused: Option<Box<Hook>>,
    accept: Option<Box<dyn Accept>>,
    accept_timeout: Duration,
}

impl Guard {
    /// A guard with `codec`, for the principals that `principal` finds in a request:
    /// [`from_claims`](crate::from_claims), [`anonymous`](crate::anonymous), or a function of
    /// yours, which is asked at most once a request. A request in which it finds none, or in which
    /// it panics, is refused.
    pub fn builder<F, P>(codec: Codec, principal: F) -> GuardBuilder
    where
        F: Fn(&RequestContext<RoleServer>) -> P + Send + Sync + 'static,
        P: IntoPrincipal,
    {
        GuardBuilder {
            rules: mcp::Guard::builder(codec),
            options: Options {
                principal: Box::new(move |context| principal(context).into_principal()),
                on_refused: None,
                accept: None,
                accept_timeout: ACCEPT_TIMEOUT,
            },
        }
    }

    /// The rules.
    pub(crate) fn engine(&self) -> &mcp::Guard {
        let sessions = self.0.sessions.get();
        sessions.map_or(&self.0.engine, |it| &it.engine)
    }

    /// The rules, to be changed for a part of the server.
    pub(crate) fn rules(&self) -> mcp::GuardBuilder {
        let sessions = self.0.sessions.get();
        sessions.map_or(&self.0.rules, |it| &it.rules).clone()
    }

    pub(crate) fn sessions_slot(&self) -> &OnceLock<WithSessions> {
        &self.0.sessions
    }

    pub(crate) fn accept(&self) -> Option<&dyn Accept> {
        self.0.options.accept.as_deref()
    }

    pub(crate) fn accept_timeout(&self) -> Duration {
        self.0.options.accept_timeout
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Asks the author's function, whose text is for the log.
    pub(crate) fn principal(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Principal, Failed> {
        let found = catch_unwind(AssertUnwindSafe(|| (self.0.options.principal)(context)));
        match found {
            Ok(Ok(principal)) => Ok(principal),
            Ok(Err(Error::InvalidArgument(why))) => Err(Failed(why.into_owned())),
            Ok(Err(error)) => Err(Failed(error.to_string())),
            Err(_) => Err(Failed("principal: the function panicked".into())),
        }
    }

    /// A request with nothing but `peer`, where rmcp has made none.
    pub(crate) fn request(&self, peer: Option<Peer<RoleServer>>) -> RequestContext<RoleServer> {
        let peer = peer.unwrap_or_else(|| self.0.peer.get_or_init(nobodys_peer).clone());
        RequestContext::new(RequestId::from(NumberOrString::Number(0)), peer)
    }

    /// Tells the log and the hook.
    pub(crate) fn report(&self, refusal: &Refusal) {
        refusal.log();
        if let Some(hook) = &self.0.options.on_refused
            && catch_unwind(AssertUnwindSafe(|| hook(refusal))).is_err()
        {
            tracing::error!("on_refused panicked; the answer is the same");
        }
    }

    /// Tells what the engine refused.
    pub(crate) fn report_all(&self, refused: Vec<Refused>, principal: Option<&Principal>) {
        for one in refused {
            self.report(&Refusal {
                code: one.code,
                kind: one.item,
                token_id: one.token_id,
                principal: principal.cloned(),
                message: one.message,
            });
        }
    }

    /// Tells what the adapter itself found wrong, and gives the core's answer to it.
    pub(crate) fn refuse(&self, error: &Error, about: About<'_>) -> Reply {
        let (profile, session_id) = (about.profile, about.session_id);
        self.report(&about.refusal(error));
        error.answer(profile, session_id).into()
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.engine).finish()
    }
}

/// A peer that nobody is behind, because rmcp makes none otherwise.
fn nobodys_peer() -> Peer<RoleServer> {
    struct Nobody;
    impl ServerHandler for Nobody {}
    let closed = (futures::sink::drain(), futures::stream::empty());
    serve_directly(Nobody, closed, None).peer().clone()
}

/// Sets the options of a [`Guard`].
pub struct GuardBuilder {
    rules: mcp::GuardBuilder,
    options: Options,
}

impl GuardBuilder {
    /// Told of everything that is refused, after the log (`tracing`, level warn).
    #[must_use]
    pub fn on_refused(mut self, hook: impl Fn(&Refusal) + Send + Sync + 'static) -> Self {
        self.options.on_refused = Some(Box::new(hook));
        self
    }

    /// Asked before a token is accepted: [`SingleUse`](crate::SingleUse), or a store of yours.
    #[must_use]
    pub fn accept(mut self, accept: impl Accept) -> Self {
        self.rules = self.rules.asks(true);
        self.options.accept = Some(Box::new(accept));
        self
    }

    /// How long to wait for [`Accept`], for all that it is asked at once: 1 s unless set. A session of the
    /// transport is asked about before its request, and each handle by itself.
    #[must_use]
    pub fn accept_timeout(mut self, limit: Duration) -> Self {
        self.options.accept_timeout = limit;
        self
    }

    /// How long a `requestState` lives, in whole seconds: 600 unless set.
    #[must_use]
    pub fn request_state_ttl(mut self, ttl: Duration) -> Self {
        self.rules = self.rules.request_state_ttl(ttl);
        self
    }

    /// Binds the `requestState` of the tool or prompt `target` to these of its arguments alone:
    /// those that decide what is done. All of them unless set.
    #[must_use]
    pub fn only<N: Into<String>>(
        mut self,
        target: impl Into<String>,
        arguments: impl IntoIterator<Item = N>,
    ) -> Self {
        self.rules = self.rules.only(target, arguments);
        self
    }

    /// The guard.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a time of zero, or for no argument where some were to be
    /// named.
    pub fn build(self) -> Result<Guard, Error> {
        if self.options.accept_timeout.is_zero() {
            return Err(Error::InvalidArgument(
                "accept_timeout: expected a time".into(),
            ));
        }
        Ok(Guard(Arc::new(Settings {
            engine: self.rules.clone().build()?,
            rules: self.rules,
            sessions: OnceLock::new(),
            options: self.options,
            peer: OnceLock::new(),
        })))
    }
}

impl fmt::Debug for GuardBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardBuilder").field(&self.rules).finish()
    }
}
