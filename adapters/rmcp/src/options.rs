//! The options of a guard.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::ErrorData;
use sealwax::{Codec, Error, Principal};
use sealwax_mcp::{Confirm, LedgerSettings};
use serde_json::Value;

use crate::Context;
use crate::handler::sessions::Sessions;
use crate::hooks::{Hook, Refusal, TokenEvent};
use crate::ledger::Ledger;

/// Sets the options of a [`Guard`](crate::Guard).
#[must_use]
pub struct GuardBuilder {
    /// The engine's settings, which a transport adds to.
    pub(crate) settings: sealwax_mcp::GuardBuilder,
    pub(crate) principal: Box<PrincipalOf>,
    pub(crate) on_refused: Vec<Box<Hook<Refusal>>>,
    pub(crate) on_event: Vec<Box<Hook<TokenEvent>>>,
    pub(crate) ledger: Option<Box<dyn Ledger>>,
    /// Whether some tools run only for a confirmed call.
    pub(crate) confirms: bool,
    /// The functions that make their questions, by the tools' names.
    pub(crate) questions: Vec<(String, Box<Question>)>,
    pub(crate) sessions: Option<Sessions>,
}

type PrincipalOf = dyn Fn(&Context) -> Result<Option<Principal>, Error> + Send + Sync;

/// Makes the question of a confirmation of a call's arguments.
pub(crate) type Question =
    dyn Fn(Value, Context) -> BoxFuture<'static, Result<String, ErrorData>> + Send + Sync;

impl GuardBuilder {
    pub(crate) fn new(
        codec: Codec,
        principal: impl Fn(&Context) -> Result<Option<Principal>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            settings: sealwax_mcp::Guard::builder(codec).mints_at_once(),
            principal: Box::new(principal),
            on_refused: Vec::new(),
            on_event: Vec::new(),
            ledger: None,
            confirms: false,
            questions: Vec::new(),
            sessions: None,
        }
    }

    /// Adds a function that receives every refusal, after the log: `tracing`, at level warn or error, or where nobody has
    /// subscribed to that, the standard error.
    pub fn on_refused(mut self, hook: impl Fn(&Refusal) + Send + Sync + 'static) -> Self {
        self.on_refused.push(Box::new(hook));
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
    pub fn on_event(mut self, hook: impl Fn(&TokenEvent) + Send + Sync + 'static) -> Self {
        self.settings = self.settings.events(true);
        self.on_event.push(Box::new(hook));
        self
    }

    /// Sets how long one request waits for the ledger in all: 1 s by default, 60 s at most. The session of the
    /// transport, what the request carries and the commit share it; each operation on a handle has its own. One
    /// command of the ledger may take three tenths of it.
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
    pub fn ledger_with(mut self, ledger: impl Ledger, settings: LedgerSettings) -> Self {
        self.settings = self.settings.ledger(LedgerSettings {
            local: ledger.is_local(),
            ..settings
        });
        self.ledger = Some(Box::new(ledger));
        self
    }

    /// Sets how long a `requestState` is valid, in whole seconds: 600 by default.
    pub fn request_state_ttl(mut self, ttl: Duration) -> Self {
        self.settings = self.settings.request_state_ttl(ttl);
        self
    }

    /// Binds the `requestState` of the tool or prompt `target` only to these of its arguments: those that decide
    /// what it does. By default it is bound to all of them.
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
    pub fn confirm(self, tool: impl Into<String>, question: impl Into<String>) -> Self {
        let confirm = Confirm {
            message: Some(question.into()),
            ..Confirm::default()
        };
        self.confirmed(tool.into(), confirm)
    }

    /// As [`confirm`](Self::confirm), with a function that makes the question of the call's arguments, an object. If it fails,
    /// the call is answered with an internal error.
    pub fn confirm_with<F, P>(mut self, tool: impl Into<String>, question: F) -> Self
    where
        F: Fn(Value, Context) -> P + Send + Sync + 'static,
        P: Future<Output = Result<String, ErrorData>> + Send + 'static,
    {
        let tool = tool.into();
        let question: Box<Question> =
            Box::new(move |arguments, context| Box::pin(question(arguments, context)));
        self.questions.push((tool.clone(), question));
        self.confirmed(tool, Confirm::default())
    }

    fn confirmed(mut self, tool: String, confirm: Confirm) -> Self {
        self.confirms = true;
        self.settings = self.settings.confirm(tool, confirm);
        self
    }

    /// Has the model ask, where the user of a confirmed tool cannot be asked: it hears the question, and brings the answer with
    /// the same call, once. It proves no consent.
    pub fn preview(mut self, tool: impl Into<String>) -> Self {
        self.settings = self.settings.preview(tool);
        self
    }

    /// As [`confirm`](Self::confirm), for each tool that the server's own `tools/list` marks as destructive: each one unless its
    /// annotations have a `readOnlyHint` of true or a `destructiveHint` of false. Its user is asked `Run {tool} with {arguments}?`.
    pub fn confirm_destructive(self) -> Self {
        self.destructive(false)
    }

    /// As [`confirm_destructive`](Self::confirm_destructive), and the model asks as with [`preview`](Self::preview).
    pub fn preview_destructive(self) -> Self {
        self.destructive(true)
    }

    fn destructive(mut self, preview: bool) -> Self {
        self.confirms = true;
        self.settings = self.settings.confirm_destructive(preview);
        self
    }

    /// Sets how long a user may take to confirm, in whole seconds: 600 by default.
    pub fn confirm_ttl(mut self, ttl: Duration) -> Self {
        self.settings = self.settings.confirm_ttl(ttl);
        self
    }

    /// Adds data-layer sessions.
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.settings = self.settings.sessions(sessions.settings.clone());
        self.sessions = Some(sessions);
        self
    }
}

impl fmt::Debug for GuardBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardBuilder").field(&self.settings).finish()
    }
}
