//! The guard and its options.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

use rmcp::model::{NumberOrString, RequestId};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax::{Codec, Error, Principal};
use sealwax_mcp::{Confirm, Event, Failed, Fault, LedgerSettings, Reply, Step};
use serde_json::Value;

use crate::event::{Timed, TokenEvent};
use crate::ledger::{Command, Ledger, LedgerError, record};
use crate::log;
use crate::principal::{IntoPrincipal, signed_in};
use crate::question::Question;
use crate::refusal::{About, Refusal};
use crate::sessions::{Initial, Sessions};
use crate::{Context, Kind};

/// Seals the tokens that a server sends to its clients, and opens and checks those that come back.
///
/// Make one for each server; cloning it is cheap. The [crate's front page](crate) shows a whole server.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing};
/// use sealwax_rmcp::{Guard, anonymous};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server has Codec::from_env
/// let codec = Codec::new(ring, "https://mcp.example.com")?;
/// let guard = Guard::builder(codec, anonymous)
///     .only("delete_note", ["id"])
///     .on_refused(|refusal| eprintln!("{}: {}", refusal.kind, refusal.code))
///     .build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct Guard(pub(crate) Arc<Inner>);

type PrincipalOf = dyn Fn(&Context) -> Result<Option<Principal>, Error> + Send + Sync;

type Hook<T> = dyn Fn(&T) + Send + Sync;

pub(crate) struct Inner {
    /// The engine's settings, to adapt them to a transport.
    pub settings: sealwax_mcp::GuardBuilder,
    pub engine: sealwax_mcp::Guard,
    pub options: Options,
    peer: OnceLock<Peer<RoleServer>>,
    /// Whether the log has the warning about an anonymous principal.
    warned: Once,
}

pub(crate) struct Options {
    principal: Box<PrincipalOf>,
    on_refused: Vec<Box<Hook<Refusal>>>,
    on_event: Vec<Box<Hook<TokenEvent>>>,
    pub ledger: Option<Box<dyn Ledger>>,
    /// Whether some tools run only for a confirmed call.
    pub confirms: bool,
    /// The functions that make their questions, by the tools' names.
    pub questions: Vec<(String, Box<Question>)>,
    pub has_sessions: bool,
    /// `None`: the server holds the state.
    pub initial: Option<Box<Initial>>,
}

impl Guard {
    /// Builds a guard with `codec`. `principal` resolves the caller, at most once per request:
    /// [`from_claims`](crate::from_claims), [`anonymous`](crate::anonymous), or your own function. If it returns `None`, the
    /// request is refused as unauthenticated; if it fails or panics, as the server's failure.
    pub fn builder<F, P>(codec: Codec, principal: F) -> GuardBuilder
    where
        F: Fn(&Context) -> P + Send + Sync + 'static,
        P: IntoPrincipal,
    {
        GuardBuilder {
            settings: sealwax_mcp::Guard::builder(codec),
            options: Options {
                principal: Box::new(move |context| principal(context).into_principal()),
                on_refused: Vec::new(),
                on_event: Vec::new(),
                ledger: None,
                confirms: false,
                questions: Vec::new(),
                has_sessions: false,
                initial: None,
            },
        }
    }

    /// Signs a principal out everywhere: refuses everything that was issued to it until now, and also what is issued
    /// within the ledger's clock tolerance after that. The ledger keeps the record for `retain_for`, which must be at least the
    /// longest lifetime of any token of the service, now or later; `None` keeps it for 400 days, longer than
    /// anything lives.
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
    /// [`LedgerError::InvalidArgument`] without a ledger, and for the anonymous principal;
    /// [`LedgerError::Unavailable`] if the ledger did not confirm the command.
    pub async fn revoke(
        &self,
        principal: &Principal,
        retain_for: Option<Duration>,
    ) -> Result<(), LedgerError> {
        let since = self.starts();
        let (exchange, step) = self.0.engine.revoke(principal, retain_for)?;
        match self.finish(&mut Timed::new(exchange, since), step).await {
            (Step::Done(_), _) => Ok(()),
            (_, why) => Err(LedgerError::Unavailable(why.unwrap_or_default())),
        }
    }

    /// Has an exchange that belongs to no request ask the ledger, and reports it. Returns the last step, and the last message.
    pub(crate) async fn finish(
        &self,
        exchange: &mut Timed,
        mut step: Step,
    ) -> (Step, Option<String>) {
        while let Step::Ledger(command) = step {
            step = self.recorded(exchange, &command).await;
        }
        let why = self.report(exchange);
        (step, why)
    }

    /// Has the ledger answer one question of such an exchange; returns the next step.
    pub(crate) async fn recorded(&self, exchange: &mut Timed, command: &Command) -> Step {
        let reply = record(self.0.options.ledger.as_deref(), command).await;
        exchange.on(Event::Ledger(reply)).unwrap_or(Step::Drop)
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Calls the author's function. The text of an error is for the log.
    pub(crate) fn principal(&self, context: &Context) -> Result<Option<Principal>, Failed> {
        let found = catch_unwind(AssertUnwindSafe(|| (self.0.options.principal)(context)));
        match found {
            Ok(Ok(principal)) => {
                if principal == Some(Principal::anonymous())
                    && let Some(sign) = signed_in(context)
                {
                    self.warn_of_anonymous(sign);
                }
                Ok(principal)
            }
            Ok(Err(Error::InvalidArgument(why))) => Err(Failed::Wrong(why.into_owned())),
            Ok(Err(error)) => Err(Failed::Wrong(error.to_string())),
            Err(_) => Err(Failed::Threw("a panic".into())),
        }
    }

    /// Warns once: the likeliest misuse is to leave `anonymous` in place.
    fn warn_of_anonymous(&self, sign: &str) {
        self.0.warned.call_once(|| {
            log::warn(&format!(
                "SECURITY: the principal is anonymous, but a request came with {sign}: what this guard seals for one user \
                 opens for every other. Put sealwax_rmcp::VerifiedClaims into the HTTP request's extensions where it is \
                 authenticated, and set Guard::builder(codec, from_claims)."
            ));
        });
    }

    /// Makes a request context that has only a `peer`, for messages that rmcp has not read yet.
    pub(crate) fn request(&self, peer: Option<Peer<RoleServer>>) -> Context {
        let peer = peer.unwrap_or_else(|| self.0.peer.get_or_init(nobodys_peer).clone());
        RequestContext::new(RequestId::from(NumberOrString::Number(0)), peer)
    }

    /// Returns the time, if somebody counts.
    pub(crate) fn starts(&self) -> Option<Instant> {
        (!self.0.options.on_event.is_empty()).then(Instant::now)
    }

    /// Reports what an exchange has for the log and the hooks. Returns the last message.
    pub(crate) fn report(&self, exchange: &mut Timed) -> Option<String> {
        let mut why = None;
        for refused in exchange.refused() {
            let refusal = Refusal::new(refused);
            self.refused(&refusal);
            why = Some(refusal.message);
        }
        if let Some(since) = exchange.since {
            for event in exchange.events() {
                let event = TokenEvent::new(event, since.elapsed());
                self.tell("on_event", event.kind, &self.0.options.on_event, &event);
            }
        }
        why
    }

    /// Reports a mistake that the adapter found.
    pub(crate) fn found(&self, code: &'static str, fault: Fault) {
        let entry = self.0.engine.report(code, fault);
        self.refused(&Refusal::new(entry));
    }

    /// Reports an error that belongs to no request, and returns the core's answer to it.
    pub(crate) fn refuse(&self, error: &Error, about: About<'_>) -> Reply {
        let (reply, fault) = about.refused(error);
        self.found(error.code(), fault);
        reply
    }

    fn refused(&self, refusal: &Refusal) {
        log::refusal(refusal);
        self.tell(
            "on_refused",
            refusal.kind,
            &self.0.options.on_refused,
            refusal,
        );
    }

    /// Calls the author's functions, which change no answer.
    fn tell<T>(&self, name: &str, kind: Kind, hooks: &[Box<Hook<T>>], told: &T) {
        for hook in hooks {
            if catch_unwind(AssertUnwindSafe(|| hook(told))).is_err() {
                let fault = Fault::new(kind, format!("{name}: the function panicked"));
                let entry = self.0.engine.report("invalid_argument", fault);
                log::refusal(&Refusal::new(entry));
            }
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.engine).finish()
    }
}

/// Makes a peer without a client. rmcp has no other constructor for one.
fn nobodys_peer() -> Peer<RoleServer> {
    struct Nobody;
    impl ServerHandler for Nobody {}
    let closed = (futures::sink::drain(), futures::stream::empty());
    serve_directly(Nobody, closed, None).peer().clone()
}

/// Sets the options of a [`Guard`].
pub struct GuardBuilder {
    settings: sealwax_mcp::GuardBuilder,
    options: Options,
}

impl GuardBuilder {
    /// Adds a function that receives every refusal, after the log: `tracing`, at level warn or error, or where nobody has
    /// subscribed to that, the standard error.
    #[must_use]
    pub fn on_refused(mut self, hook: impl Fn(&Refusal) + Send + Sync + 'static) -> Self {
        self.options.on_refused.push(Box::new(hook));
        self
    }

    /// Adds a function that receives what happens to tokens that are not refused: opened, sealed, ended, revoked. It is called
    /// at once, so it should do no more than count.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec, anonymous)
    ///     .on_event(|event| println!("{}: {} by key {:?}", event.kind, event.event.name(), event.key_id))
    ///     .build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn on_event(mut self, hook: impl Fn(&TokenEvent) + Send + Sync + 'static) -> Self {
        self.settings = self.settings.events(true);
        self.options.on_event.push(Box::new(hook));
        self
    }

    /// Sets how long one request waits for the ledger in all: 1 s by default, 60 s at most. The session of the
    /// transport, what the request carries and the commit share it; each operation on a handle has its own. One
    /// command of the ledger may take three tenths of it.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings = self.settings.time_limit(limit);
        self
    }

    /// Sets the [ledger](crate::ledger), which records used tokens, ends, and the latest state of each session.
    /// All replicas must share it. Without a ledger, a token that was used or ended still opens until it
    /// expires, and of two concurrent writes to a session the client keeps the last.
    ///
    /// With a ledger, a `requestState` is accepted once, what ends has ended at every replica, and a request
    /// with an older state of its session is answered with the latest one. If the ledger does not answer,
    /// nothing is accepted: the request gets an internal error, and `ledger_unavailable` is reported.
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
    pub fn ledger(self, ledger: impl Ledger) -> Self {
        self.ledger_with(ledger, LedgerSettings::default())
    }

    /// Sets a ledger with options. Whether it is `local` is what [`Ledger::is_local`] says.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// use sealwax_rmcp::ledger::{LedgerSettings, Memory};
    ///
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let introduced = LedgerSettings {
    ///     accept_issued_since: Some(1_800_000_000),
    ///     ..LedgerSettings::default()
    /// };
    /// let guard = Guard::builder(codec, anonymous)
    ///     .ledger_with(Memory::default(), introduced)
    ///     .build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn ledger_with(mut self, ledger: impl Ledger, settings: LedgerSettings) -> Self {
        self.settings = self.settings.ledger(LedgerSettings {
            local: ledger.is_local(),
            ..settings
        });
        self.options.ledger = Some(Box::new(ledger));
        self
    }

    /// Sets how long a `requestState` is valid, in whole seconds: 600 by default.
    #[must_use]
    pub fn request_state_ttl(mut self, ttl: Duration) -> Self {
        self.settings = self.settings.request_state_ttl(ttl);
        self
    }

    /// Binds the `requestState` of the tool or prompt `target` only to these of its arguments: those that decide
    /// what it does. By default it is bound to all of them.
    #[must_use]
    pub fn only<N: Into<String>>(
        mut self,
        target: impl Into<String>,
        arguments: impl IntoIterator<Item = N>,
    ) -> Self {
        self.settings = self.settings.only(target, arguments);
        self
    }

    /// Runs the tool `tool` only for a call that its user confirmed; its handler needs no code for it. `question` has arguments of
    /// the call in braces, which are shown as JSON; `{{` is a brace.
    ///
    /// A client of 2026-07-28 that elicits is asked by `input_required`, an earlier one by `elicitation/create` on stdio: over
    /// HTTP rmcp does not say who answers. One that shows the pages of servers (MCP Apps) shows a card. For others the tool does
    /// not run. The confirmation is bound to user, tool, arguments and question, and counts for ten minutes; with a
    /// [ledger](Self::ledger) it counts once.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec, anonymous)
    ///     .confirm("delete_note", "Delete note {id}?")
    ///     .confirm_with("empty", |arguments, _| async move {
    ///         Ok(format!("Delete all notes in {}?", arguments["folder"]))
    ///     })
    ///     .build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn confirm(self, tool: impl Into<String>, question: impl Into<String>) -> Self {
        let confirm = Confirm {
            message: Some(question.into()),
            ..Confirm::default()
        };
        self.confirmed(tool.into(), confirm)
    }

    /// As [`confirm`](Self::confirm), with a function that makes the question of the call's arguments, an object. If it fails,
    /// the call is answered with an internal error.
    #[must_use]
    pub fn confirm_with<F, P>(mut self, tool: impl Into<String>, question: F) -> Self
    where
        F: Fn(Value, Context) -> P + Send + Sync + 'static,
        P: Future<Output = Result<String, ErrorData>> + Send + 'static,
    {
        let tool = tool.into();
        let question: Box<Question> =
            Box::new(move |arguments, context| Box::pin(question(arguments, context)));
        self.options.questions.push((tool.clone(), question));
        self.confirmed(tool, Confirm::default())
    }

    fn confirmed(mut self, tool: String, confirm: Confirm) -> Self {
        self.options.confirms = true;
        self.settings = self.settings.confirm(tool, confirm);
        self
    }

    /// Has the model ask, where the user of a confirmed tool cannot be asked: it hears the question, and brings the answer with
    /// the same call, once. It proves no consent.
    #[must_use]
    pub fn preview(mut self, tool: impl Into<String>) -> Self {
        self.settings = self.settings.preview(tool);
        self
    }

    /// As [`confirm`](Self::confirm), for each tool that the server's own `tools/list` marks as destructive: each one unless its
    /// annotations have a `readOnlyHint` of true or a `destructiveHint` of false. Its user is asked `Run {tool} with {arguments}?`.
    #[must_use]
    pub fn confirm_destructive(self) -> Self {
        self.destructive(false)
    }

    /// As [`confirm_destructive`](Self::confirm_destructive), and the model asks as with [`preview`](Self::preview).
    #[must_use]
    pub fn preview_destructive(self) -> Self {
        self.destructive(true)
    }

    fn destructive(mut self, preview: bool) -> Self {
        self.options.confirms = true;
        self.settings = self.settings.confirm_destructive(preview);
        self
    }

    /// Sets how long a user may take to confirm, in whole seconds: 600 by default.
    #[must_use]
    pub fn confirm_ttl(mut self, ttl: Duration) -> Self {
        self.settings = self.settings.confirm_ttl(ttl);
        self
    }

    /// Adds data-layer sessions.
    #[must_use]
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.settings = self.settings.sessions(sessions.settings);
        self.options.has_sessions = true;
        self.options.initial = sessions.initial;
        self
    }

    /// Builds the guard.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a time out of its range, for an empty list of arguments, for a
    /// [`preview`](Self::preview) of a tool that is not confirmed, and for sessions with two
    /// lifetimes, with one where the server holds the state, or required by a method that never depends on one.
    pub fn build(self) -> Result<Guard, Error> {
        Ok(Guard(Arc::new(Inner {
            engine: self.settings.clone().build()?,
            settings: self.settings,
            options: self.options,
            peer: OnceLock::new(),
            warned: Once::new(),
        })))
    }
}

impl fmt::Debug for GuardBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardBuilder").field(&self.settings).finish()
    }
}
