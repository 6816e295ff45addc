//! The settings of a guard.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::confirm::Confirm;
use crate::confirm::destructive::{Destructive, Shape};
use crate::confirm::unshown::Unshown;
use crate::exchange::caller::{Caller, Callers};
use crate::ledger::{Command, Namespace};
use crate::message::json;
use crate::message::members::Millis;
use crate::settings::{LedgerSettings, SessionSettings, TransportSettings, check};
use sealwax::{Codec, Error, Principal, RequestContext, View};

/// The rules of a server's guard: a codec and settings. It is cheap to clone and safe to share
/// between threads. See the [module](super) for the use in an adapter.
#[derive(Clone)]
pub struct Guard(Arc<Settings>);

/// What an author chose, and what is made of it or becomes known.
pub(super) struct Settings {
    chosen: GuardBuilder,
    /// Those tools that the server marks as destructive, if they are confirmed too.
    pub destructive: Option<Box<Destructive>>,
    /// Whether the calls of any tool are.
    pub confirms: bool,
    /// Whose clients do not ask.
    pub unshown: Unshown,
    /// What the lists of this server's said of those that are confirmed by their names.
    shapes: Mutex<Vec<(String, Shape)>>,
    pub ledger: Option<Ledger>,
    /// Whether a confirmed tool that a list does not have is yet to be told.
    pub misspelt: AtomicBool,
    callers: Callers,
}

impl Deref for Settings {
    type Target = GuardBuilder;

    fn deref(&self) -> &GuardBuilder {
        &self.chosen
    }
}

impl Settings {
    /// Returns whether the model may bring the answer of some.
    pub fn previews(&self) -> bool {
        let destructive = self.destructive.as_ref();
        let mut confirm = self.confirm.iter();
        destructive.is_some_and(|all| all.preview) || confirm.any(|(_, one)| one.preview)
    }

    /// Returns whether a tool is confirmed by its name.
    pub fn names(&self, tool: &str) -> bool {
        self.confirm.iter().any(|(name, _)| name == tool)
    }

    /// Returns what a list said of a tool that is confirmed by its name, if one came by.
    pub fn shape(&self, tool: &str) -> Option<Shape> {
        let all = self.shapes.lock().ok()?;
        let found = all.iter().find(|(name, _)| name == tool);
        found.map(|(_, shape)| *shape)
    }

    /// Keeps what a list says of a tool.
    pub fn keep_shape(&self, tool: &str, shape: Shape) {
        if let Ok(mut all) = self.shapes.lock() {
            match all.iter_mut().find(|(name, _)| name == tool) {
                Some((_, known)) => *known = shape,
                None => all.push((tool.into(), shape)),
            }
        }
    }
}

/// The ledger of a guard.
pub(super) struct Ledger {
    pub names: Namespace,
    pub settings: LedgerSettings,
    /// The time from which a message opens it, in Unix seconds.
    opens: AtomicU32,
}

/// The pause before another try to open a ledger, in seconds: each try delays a message.
pub(super) const PAUSE: u32 = 5;

/// The longest time for which a confirmation counts: a ledger keeps for as long that it was used.
pub(super) const LONGEST_CONFIRM_TTL: Duration = Duration::from_secs(86_400);

/// The longest time limit: a client would not wait for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The value for an open ledger.
const OPEN: u32 = u32::MAX;

impl Guard {
    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder(codec: Codec) -> GuardBuilder {
        GuardBuilder {
            codec,
            request_state_ttl: None,
            only: Vec::new(),
            confirm: Vec::new(),
            previews: Vec::new(),
            destructive: None,
            confirm_ttl: None,
            sessions: None,
            transport: TransportSettings::default(),
            events: false,
            mints_at_once: false,
            time_limit: Duration::from_secs(1),
            ledger: None,
        }
    }

    /// Returns whether the exchange of some messages may begin late, once something leaves for them, or
    /// their handler uses a handle: notifications, and requests that bring no token and
    /// [need no caller](crate::TokenFields::needs_caller). Until then there is nothing to check.
    #[must_use]
    pub fn defers(&self) -> bool {
        self.settings().sessions.is_none() && !self.settings().confirms
    }

    /// Returns the command that opens the ledger, if it is not open. Only one message in `pause`
    /// seconds gets it; each one does if `pause` is 0.
    pub(super) fn opens_ledger(&self, pause: u32) -> Option<Command> {
        let ledger = self.settings().ledger.as_ref()?;
        let opens = ledger.opens.load(Ordering::Relaxed);
        if opens == OPEN {
            return None;
        }
        let now = u32::try_from(self.now()).unwrap_or(OPEN - 1);
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

    pub(super) fn caller(&self, principal: Principal) -> Result<Caller, Error> {
        let settings = self.settings();
        settings.callers.get(principal, |principal| {
            let ledger = settings.ledger.as_ref();
            let principal_key = ledger.map(|ledger| ledger.names.principal_key(&principal));
            Ok(Caller {
                view: Arc::new(settings.codec.view(&principal)?),
                principal_key: principal_key.unwrap_or_default().into(),
                principal: Arc::new(principal),
            })
        })
    }

    /// Returns the view for public cursors, which any user may present.
    pub(super) fn public(&self) -> Result<Arc<View>, Error> {
        Ok(self.caller(Principal::anonymous())?.view)
    }

    pub(super) fn ledger(&self) -> Result<&Ledger, Error> {
        let ledger = self.settings().ledger.as_ref();
        ledger.ok_or_else(|| Error::argument("ledger: expected a guard that has one"))
    }

    /// Returns the codec's time, in Unix seconds.
    pub(super) fn now(&self) -> u64 {
        self.now_ms() / 1000
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.settings().codec.environment().now_ms()
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
    pub(super) codec: Codec,
    pub(super) request_state_ttl: Option<Duration>,
    /// Targets, and the names of the arguments that their `requestState` is bound to.
    pub(super) only: Vec<(String, Vec<String>)>,
    /// The tools whose calls are confirmed.
    pub(super) confirm: Vec<(String, Confirm)>,
    pub(super) previews: Vec<String>,
    /// Whether those that are marked as destructive are confirmed, and for which the model asks.
    pub(super) destructive: Option<bool>,
    pub(super) confirm_ttl: Option<Duration>,
    pub(super) sessions: Option<SessionSettings>,
    pub(super) transport: TransportSettings,
    pub(super) events: bool,
    pub(super) mints_at_once: bool,
    pub(super) time_limit: Duration,
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

    /// Runs the tool `tool` only for a call that its user confirmed.
    #[must_use]
    pub fn confirm(mut self, tool: impl Into<String>, confirm: Confirm) -> Self {
        self.confirm.push((tool.into(), confirm));
        self
    }

    /// Has the model ask, and bring the answer, where the user of a confirmed tool cannot be asked: [`Confirm::preview`].
    #[must_use]
    pub fn preview(mut self, tool: impl Into<String>) -> Self {
        self.previews.push(tool.into());
        self
    }

    /// Runs each tool that the server's own `tools/list` marks as destructive only for a call that its user confirmed; with
    /// `preview`, as [`Confirm::preview`]. By the specification that is each one unless its annotations have a `readOnlyHint` of
    /// true, or a `destructiveHint` of false. One of [`confirm`](Self::confirm) keeps its own question.
    #[must_use]
    pub fn confirm_destructive(mut self, preview: bool) -> Self {
        self.destructive = Some(preview);
        self
    }

    /// Sets how long a user may take to confirm, in whole seconds: 600 by default.
    #[must_use]
    pub fn confirm_ttl(mut self, ttl: Duration) -> Self {
        self.confirm_ttl = Some(ttl);
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

    /// Sets whether to collect what happens to tokens, for [`Exchange::events`](crate::Exchange::events):
    /// false by default.
    #[must_use]
    pub fn events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Has every message open the ledger, for an adapter whose handlers mint without waiting for it.
    #[must_use]
    pub fn mints_at_once(mut self) -> Self {
        self.mints_at_once = true;
        self
    }

    /// Sets how long everything that is asked for one request, or for one operation on a handle, may
    /// wait together: one second by default. A command of the ledger gets three tenths of it, so that
    /// the engine can try it once more.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
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
    /// [`Error::InvalidArgument`] for a lifetime of zero or over 4,294,967,295 seconds, of a confirmation over a day, for a time
    /// limit under a millisecond or over 60 seconds, for an `only` without names, for a `confirm` whose question has other braces than those of arguments, for a required method that never depends on a session, and for a
    /// lifetime of sessions whose value the server holds.
    pub fn build(mut self) -> Result<Guard, Error> {
        for (name, ttl) in [
            ("request_state_ttl", self.request_state_ttl),
            ("confirm_ttl", self.confirm_ttl),
            ("ttl of the transport's sessions", self.transport.ttl),
            ("idle time of the transport's sessions", self.transport.idle),
        ] {
            check(name, ttl)?;
        }
        if let Some(ttl) = self.confirm_ttl.filter(|ttl| *ttl > LONGEST_CONFIRM_TTL) {
            return Err(Error::argument(format!(
                "confirm_ttl: expected at most a day, found {} seconds",
                ttl.as_secs()
            )));
        }
        for (target, names) in &self.only {
            // Checks now, so that an invalid `only` does not surface in a request.
            let mut arguments = Map::new();
            for name in names {
                arguments.insert(name.clone(), Value::Null);
            }
            let arguments = json::written(&Value::Object(arguments));
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            RequestContext::only("tools/call", target, Some(&arguments), &names)
                .map_err(|error| Error::argument(format!("only: {error}")))?;
        }
        for tool in &self.previews {
            let mut all = self.confirm.iter_mut();
            let (_, confirm) = all
                .find(|(confirmed, _)| confirmed == tool)
                .ok_or_else(|| {
                    Error::argument(format!(
                        "preview: expected a tool that is confirmed, found {tool}"
                    ))
                })?;
            confirm.preview = true;
        }
        for (tool, confirm) in &self.confirm {
            let bound = self.only.iter().find(|(target, _)| target == tool);
            confirm.check(tool, bound.map(|(_, names)| &**names))?;
        }
        if let Some(sessions) = &self.sessions {
            sessions.check()?;
        }
        if !(Duration::from_millis(1)..=LONGEST_WAIT).contains(&self.time_limit) {
            return Err(Error::argument(format!(
                "time limit: expected at least a millisecond and at most 60 seconds, found {} ms",
                Millis::of(self.time_limit)
            )));
        }
        if self.transport.idle.is_some() && self.ledger.is_none() {
            return Err(Error::argument(
                "idle: expected a guard with a ledger, which knows when a session was last seen",
            ));
        }
        let ledger = self.ledger.take().map(|settings| Ledger {
            names: Namespace::new(self.codec.audience(), &settings.label),
            settings,
            opens: AtomicU32::new(0),
        });
        Ok(Guard(Arc::new(Settings {
            confirms: !self.confirm.is_empty() || self.destructive.is_some(),
            destructive: self.destructive.map(Destructive::new).map(Box::new),
            unshown: Unshown::default(),
            shapes: Mutex::default(),
            ledger,
            misspelt: AtomicBool::new(true),
            callers: Callers::default(),
            chosen: self,
        })))
    }
}
