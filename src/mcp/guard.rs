//! The settings of a guard.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use serde_json::{Map, Value};

use super::context::canonical;
use super::exchange::Exchange;
use super::{Message, Step, TransportMessage};
use crate::ledger::{Command, Namespace};
use crate::{Codec, Error, Principal, RequestContext, View, check_ttl};

/// The rules of a server's guard: a codec and settings. It is cheap to clone and safe to share
/// between threads. See the [module](super) for the use in an adapter.
#[derive(Clone)]
pub struct Guard(Arc<Settings>);

pub(super) struct Settings {
    pub codec: Codec,
    /// For public cursors, which any user may present.
    pub public: View,
    pub request_state_ttl: Option<Duration>,
    /// Targets, and the names of the arguments that their `requestState` is bound to.
    pub only: Vec<(String, Vec<String>)>,
    pub sessions: Option<SessionSettings>,
    pub transport: TransportSettings,
    pub asks: bool,
    pub ledger: Option<Ledger>,
}

impl Settings {
    /// Returns whether ends are remembered, by `accept` or a ledger.
    pub fn remembers(&self) -> bool {
        self.asks || self.ledger.is_some()
    }
}

/// The ledger of a guard.
pub(super) struct Ledger {
    pub names: Namespace,
    pub settings: LedgerSettings,
    /// The time from which a message opens it, in Unix seconds.
    opens: AtomicU32,
}

/// The value for an open ledger.
const OPEN: u32 = u32::MAX;

/// Settings of a [ledger](crate::ledger).
#[derive(Clone, Debug, Default)]
pub struct LedgerSettings {
    /// Distinguishes two ledgers of one audience in one store; empty by default.
    pub label: String,
    /// The largest difference between the clocks of the replicas and of the store, in whole
    /// seconds: 5 by default, and 0 if the ledger is `local`.
    pub allowance: Option<Duration>,
    /// Whether the ledger is on this machine, as a file or in memory, so that there is one clock.
    pub local: bool,
    /// Accepts tokens older than the ledger if they were made since this time, in Unix seconds: for
    /// the day on which the ledger is introduced. Tokens used or ended since then, and outdated
    /// states of sessions, are accepted too.
    pub adopt: Option<u64>,
    /// Whether a `requestState` may be used any number of times.
    pub reusable_request_state: bool,
}

impl LedgerSettings {
    pub(super) fn allowance(&self) -> Duration {
        let usual = Duration::from_secs(if self.local { 0 } else { 5 });
        self.allowance.unwrap_or(usual)
    }
}

/// Settings of data-layer sessions.
#[derive(Clone, Debug, Default)]
pub struct SessionSettings {
    /// The lifetime of a session without a write, in whole seconds: 24 hours by default.
    pub ttl: Option<Duration>,
    /// Whether it lives up to the codec's `session_max_age`.
    pub no_expiry: bool,
    /// Whether the server holds the session's value, by its ulid: only the id is verified then.
    pub held_by_server: bool,
    /// The requests that are refused without a session.
    pub required: Required,
}

/// The requests that need a session.
#[derive(Clone, Debug, Default)]
pub struct Required {
    /// Every request but `initialize`, `ping`, `server/discover`, `sessions/create` and lists.
    pub all: bool,
    /// Methods.
    pub methods: Vec<String>,
    /// Tools, by name.
    pub tools: Vec<String>,
}

/// Settings of sessions of the transport, for [`Guard::transport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportSettings {
    /// Whether an HTTP request without a session is refused: true by default.
    pub required: bool,
    /// The lifetime of a session, in whole seconds: 30 days by default.
    pub ttl: Option<Duration>,
    /// The time that a session may be idle, in whole seconds; this requires a ledger.
    pub idle: Option<Duration>,
    /// Whether to speak SEP-1359.
    pub sep1359: bool,
    /// Whether to add the `sessions` capability here, if the SDK's handlers cannot.
    pub declares: bool,
}

impl Default for TransportSettings {
    fn default() -> Self {
        Self {
            required: true,
            ttl: None,
            idle: None,
            sep1359: false,
            declares: false,
        }
    }
}

impl Guard {
    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder(codec: Codec) -> GuardBuilder {
        GuardBuilder {
            codec,
            request_state_ttl: None,
            only: Vec::new(),
            sessions: None,
            transport: TransportSettings::default(),
            asks: false,
            ledger: None,
        }
    }

    /// Signs a principal out everywhere: everything that began until now, or begins within the
    /// allowance after it, is refused. The ledger remembers it for
    /// [`CEILING`](crate::ledger::CEILING), longer than anything lives. Shorter `lives` save space:
    /// the longest lifetime of anything that the service issues, now or later.
    ///
    /// The exchange asks the ledger, and ends with [`Step::Done`] once the ledger has recorded it.
    /// After a [`Step::Reply`] the principal is possibly not signed out; [`Exchange::refused`] has the
    /// reason.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a ledger, and for a principal without client and subject.
    pub fn revoke(
        &self,
        principal: &Principal,
        lives: Option<Duration>,
    ) -> Result<(Exchange, Step), Error> {
        let command = self.ledger()?.names.revoke(principal, lives)?;
        Ok(Exchange::of_revocation(self.clone(), command))
    }

    /// Returns the command that opens the ledger, if it is not open. Only one message in `pause`
    /// seconds gets it; each one does if `pause` is 0.
    pub(super) fn opens_ledger(&self, pause: u32) -> Option<Command> {
        let ledger = self.settings().ledger.as_ref()?;
        let opens = ledger.opens.load(Ordering::Relaxed);
        if opens == OPEN {
            return None;
        }
        let now = u32::try_from(self.settings().codec.clock().now()).unwrap_or(OPEN - 1);
        let next = now.saturating_add(pause).min(OPEN - 1);
        let ours = (opens <= now || pause == 0)
            && ledger
                .opens
                .compare_exchange(opens, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        ours.then(|| ledger.names.open())
    }

    pub(super) fn ledger_is_open(&self) {
        if let Some(ledger) = &self.settings().ledger {
            ledger.opens.store(OPEN, Ordering::Relaxed);
        }
    }

    fn ledger(&self) -> Result<&Ledger, Error> {
        let ledger = self.settings().ledger.as_ref();
        ledger.ok_or_else(|| Error::argument("ledger: expected a guard that has one"))
    }

    /// Begins the exchange of a message at the SDK's handlers.
    #[must_use]
    pub fn message(&self, message: Message<'_>) -> (Exchange, Step) {
        Exchange::of_message(self.clone(), message)
    }

    /// Begins the exchange of a message around HTTP or stdio.
    #[must_use]
    pub fn transport(&self, transport: TransportMessage<'_>) -> (Exchange, Step) {
        Exchange::of_transport(self.clone(), transport)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.codec).finish()
    }
}

/// Sets the options of a [`Guard`].
#[derive(Clone, Debug)]
pub struct GuardBuilder {
    codec: Codec,
    pub(super) request_state_ttl: Option<Duration>,
    pub(super) only: Vec<(String, Vec<String>)>,
    pub(super) sessions: Option<SessionSettings>,
    pub(super) transport: TransportSettings,
    pub(super) asks: bool,
    pub(super) ledger: Option<LedgerSettings>,
}

impl GuardBuilder {
    /// Sets the lifetime of a `requestState`, in whole seconds: 600 by default.
    #[must_use]
    pub fn request_state_ttl(mut self, ttl: Duration) -> Self {
        self.request_state_ttl = Some(ttl);
        self
    }

    /// Binds the `requestState` of the tool or prompt `target` to these of its arguments only; by
    /// default it is bound to all.
    #[must_use]
    pub fn only<N: Into<String>>(
        mut self,
        target: impl Into<String>,
        arguments: impl IntoIterator<Item = N>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        self.only.push((target.into(), arguments));
        self
    }

    /// Enables data-layer sessions.
    #[must_use]
    pub fn sessions(mut self, sessions: SessionSettings) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Sets the options of sessions of the transport.
    #[must_use]
    pub fn transport(mut self, transport: TransportSettings) -> Self {
        self.transport = transport;
        self
    }

    /// Sets whether there is an `accept`, which is asked before a token counts, and remembers ends:
    /// false by default.
    #[must_use]
    pub fn asks(mut self, asks: bool) -> Self {
        self.asks = asks;
        self
    }

    /// Sets a ledger, which remembers uses, ends, and the latest states.
    #[must_use]
    pub fn ledger(mut self, ledger: LedgerSettings) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Builds the guard.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a lifetime of zero or over 4,294,967,295 seconds, for an
    /// `only` without names, for a required method that never depends on a session, and for a
    /// lifetime of sessions whose value the server holds.
    pub fn build(self) -> Result<Guard, Error> {
        for (name, ttl) in [
            ("request_state_ttl", self.request_state_ttl),
            ("ttl of the transport's sessions", self.transport.ttl),
            ("idle time of the transport's sessions", self.transport.idle),
        ] {
            check(name, ttl)?;
        }
        for (target, names) in &self.only {
            // Checks now, so that an invalid `only` does not surface in a request.
            let mut arguments = Map::new();
            for name in names {
                arguments.insert(name.clone(), Value::Null);
            }
            let arguments = canonical(arguments);
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            RequestContext::only("tools/call", target, Some(&arguments), &names)
                .map_err(|error| Error::argument(format!("only: {error}")))?;
        }
        if let Some(sessions) = &self.sessions {
            sessions.check()?;
        }
        if self.transport.idle.is_some() && self.ledger.is_none() {
            return Err(Error::argument(
                "idle: expected a guard with a ledger, which knows when a session was last seen",
            ));
        }
        let ledger = self.ledger.map(|settings| Ledger {
            names: Namespace::new(self.codec.audience(), &settings.label),
            settings,
            opens: AtomicU32::new(0),
        });
        Ok(Guard(Arc::new(Settings {
            public: self.codec.view(&Principal::anonymous())?,
            codec: self.codec,
            request_state_ttl: self.request_state_ttl,
            only: self.only,
            sessions: self.sessions,
            transport: self.transport,
            asks: self.asks,
            ledger,
        })))
    }
}

fn check(name: &str, ttl: Option<Duration>) -> Result<(), Error> {
    let Some(Err(error)) = ttl.map(check_ttl) else {
        return Ok(());
    };
    Err(Error::argument(format!("{name}: {error}")))
}

impl SessionSettings {
    fn check(&self) -> Result<(), Error> {
        check("ttl of sessions", self.ttl)?;
        if self.ttl.is_some() && self.no_expiry {
            return Err(Error::argument(
                "sessions: expected a ttl or no expiry, found both",
            ));
        }
        if self.held_by_server && (self.ttl.is_some() || self.no_expiry) {
            return Err(Error::argument(
                "sessions: expected no lifetime where the server holds them: they live as long as the \
                 codec's session_max_age",
            ));
        }
        match self.required.methods.iter().find(|method| is_free(method)) {
            None => Ok(()),
            Some(free) => Err(Error::argument(format!(
                "required: expected methods that may depend on a session, found {free}: leave it out"
            ))),
        }
    }

    /// Returns the core's sessions of one principal.
    pub(super) fn of<'v>(&self, view: &'v View) -> crate::Sessions<'v> {
        match self.ttl {
            Some(ttl) => view.sessions().ttl(ttl),
            None if self.no_expiry => view.sessions().no_expiry(),
            None => view.sessions(),
        }
    }
}

impl Required {
    pub(super) fn by(&self, method: &str, target: Option<&str>) -> bool {
        (self.all && !is_free(method))
            || has(&self.methods, method)
            || (method == "tools/call" && target.is_some_and(|tool| has(&self.tools, tool)))
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|one| one == name)
}

/// Returns whether a method must work without a session: those before one begins, and lists, which
/// are the same for all users.
fn is_free(method: &str) -> bool {
    let always = matches!(
        method,
        "initialize" | "ping" | "server/discover" | "sessions/create"
    );
    always || is_list(method)
}

/// Returns whether a method is a list; lists never depend on a session.
pub(super) fn is_list(method: &str) -> bool {
    method.ends_with("/list")
}
