//! What an author makes once: the guard and its options.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{NumberOrString, RequestId};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::mcp::{self, Event, Failed, LedgerSettings, Refused, Reply, Step};
use sealwax::{Codec, Error, Principal};
use serde_json::Value;
use tokio::time::Instant;

use crate::accept::Accept;
use crate::ledger::{Command, Ledger, LedgerError};
use crate::ledger_client::LedgerClient;
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
    ledger: Option<LedgerClient>,
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
                ledger: None,
            },
            ledger: None,
            ledger_settings: None,
        }
    }

    /// Signs a principal out everywhere: whatever of theirs began until now is refused, and so is what begins
    /// within the ledger's allowance after it. The ledger keeps that for as long as `lives`, the longest life
    /// of anything that the service gives out; for ever if `None`.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing, Principal};
    /// # use sealwax_rmcp::ledger::Memory;
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec, anonymous).ledger(Memory::default()).build()?;
    /// guard.revoke(&Principal::subject("alice"), None).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LedgerError::InvalidArgument`] without a ledger, and for a principal that is nobody;
    /// [`LedgerError::Unavailable`] where it is not known that anybody was signed out.
    pub async fn revoke(
        &self,
        principal: &Principal,
        lives: Option<Duration>,
    ) -> Result<(), LedgerError> {
        let until = Instant::now() + self.accept_timeout();
        let (mut exchange, mut step) = self.engine().revoke(principal, lives)?;
        while let Step::Ledger(command) = step {
            let reply = self.record(&command, until).await;
            step = exchange.on(Event::Ledger(reply))?;
        }
        let refused = exchange.refused();
        let why = refused.last().map(|one| one.message.clone());
        self.report_all(refused, Some(principal));
        match step {
            Step::Done(_) => Ok(()),
            _ => Err(LedgerError::Unavailable(why.unwrap_or_default())),
        }
    }

    /// Has the ledger do a command.
    pub(crate) async fn record(
        &self,
        command: &Command,
        deadline: Instant,
    ) -> Result<Vec<String>, Failed> {
        match &self.0.options.ledger {
            Some(ledger) => ledger.record(command, deadline).await,
            // The engine asks only where there is one.
            None => Err(Failed("ledger: none".into())),
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
    ledger: Option<Box<dyn Ledger>>,
    ledger_settings: Option<LedgerSettings>,
}

impl GuardBuilder {
    /// Told of everything that is refused, after the log (`tracing`, level warn).
    #[must_use]
    pub fn on_refused(mut self, hook: impl Fn(&Refusal) + Send + Sync + 'static) -> Self {
        self.options.on_refused = Some(Box::new(hook));
        self
    }

    /// Asked before a token is accepted, besides the ledger: a rule of yours.
    #[must_use]
    pub fn accept(mut self, accept: impl Accept) -> Self {
        self.rules = self.rules.asks(true);
        self.options.accept = Some(Box::new(accept));
        self
    }

    /// How long to wait for [`Accept`] and the ledger, for all that they are asked at once: 1 s unless set. A
    /// session of the transport is asked about before its request, and each handle by itself. One command of the
    /// ledger may take three tenths of it.
    #[must_use]
    pub fn accept_timeout(mut self, limit: Duration) -> Self {
        self.options.accept_timeout = limit;
        self
    }

    /// Remembers what was used, what ended, and which state of a session is the latest: one that all replicas
    /// share, see [`ledger`](crate::ledger). Without one, a token that was used or ended opens until it expires,
    /// and of two writers of a session the client keeps the last.
    ///
    /// With one, a `requestState` comes back once; what ends has ended everywhere; a request with an older
    /// state of its session is answered with the latest one. Where the ledger has no answer, nothing is
    /// accepted: the request gets an internal error, and `ledger_unavailable` is reported.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// use sealwax_rmcp::ledger::Memory; // for one process; Sqlite for a machine, Redis for a fleet
    ///
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec, anonymous).ledger(Memory::default()).build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn ledger(mut self, ledger: impl Ledger) -> Self {
        self.ledger = Some(Box::new(ledger));
        self
    }

    /// Tells apart two ledgers of one audience in one store; empty unless set.
    #[must_use]
    pub fn ledger_label(mut self, label: impl Into<String>) -> Self {
        self.settings().label = label.into();
        self
    }

    /// How far the clocks of the replicas and of the store may differ, in whole seconds: 5 unless set, and 0
    /// for a ledger on this machine.
    #[must_use]
    pub fn ledger_allowance(mut self, allowance: Duration) -> Self {
        self.settings().allowance = Some(allowance);
        self
    }

    /// Lets in what is older than the ledger, if it was made from this moment on, in Unix seconds: for the day
    /// when the ledger is introduced. What was used or ended since then, or was not a session's latest state,
    /// is let in too.
    #[must_use]
    pub fn ledger_adopt(mut self, from: u64) -> Self {
        self.settings().adopt = Some(from);
        self
    }

    /// With a ledger, a `requestState` may come back any number of times; once unless set.
    #[must_use]
    pub fn reusable_request_state(mut self) -> Self {
        self.settings().reusable_request_state = true;
        self
    }

    fn settings(&mut self) -> &mut LedgerSettings {
        self.ledger_settings.get_or_insert_default()
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
    /// [`Error::InvalidArgument`] for a time of zero, for no argument where some were to be named, or for
    /// how to use a ledger where there is none.
    pub fn build(mut self) -> Result<Guard, Error> {
        if self.options.accept_timeout.is_zero() {
            return Err(Error::InvalidArgument(
                "accept_timeout: expected a time".into(),
            ));
        }
        match (self.ledger, self.ledger_settings) {
            (Some(ledger), settings) => {
                self.rules = self.rules.ledger(LedgerSettings {
                    local: ledger.is_local(),
                    ..settings.unwrap_or_default()
                });
                self.options.ledger = Some(LedgerClient::new(ledger, self.options.accept_timeout));
            }
            (None, None) => {}
            (None, Some(_)) => {
                return Err(Error::InvalidArgument(
                    "ledger: expected one, found only how to use it".into(),
                ));
            }
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
