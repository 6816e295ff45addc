//! The common part of all exchanges: the caller, and the refusals.

use std::sync::Arc;
use std::time::Duration;

use crate::exchange::caller::Caller;
use crate::exchange::pending::Pending;
use crate::exchange::time_left::TimeLeft;
use crate::guard::{Guard, Ledger};
use crate::ledger::{Confirmation, Done, Reply as LedgerReply};
use crate::message::input::Failed;
use crate::message::text::token_id;
use crate::message::token::Token;
use crate::reply::answer::{Answer, Profile};
use crate::reply::event::TokenEvent;
use crate::reply::log::{Fault, Level, Origin, Refused};
use crate::reply::reason::Reason;
use crate::reply::step::{Item, Reply, Step};
use sealwax::{Error, Principal, View};

pub(crate) struct Context {
    pub guard: Guard,
    pub refused: Vec<Refused<'static>>,
    pub events: Vec<TokenEvent>,
    /// The message, for the log; its caller is added.
    pub message: Origin,
    /// The caller, if the adapter knows it already and it was not needed yet; or why it is not known.
    pub given: Option<Result<Option<Principal>, Failed>>,
    pub time: TimeLeft,
    /// What is asked before the message can go on.
    pub awaited: Option<Awaited>,
    caller: Option<Caller>,
}

/// What any message may have to wait for.
pub(crate) enum Awaited {
    /// The adapter is asked for the caller.
    Caller,
    /// The ledger is being opened.
    Opening(Pending),
}

/// The subject of a refusal.
pub(crate) struct About<'a> {
    pub item: Item,
    pub profile: Profile,
    /// The presented text, to read a token id from.
    pub token: Option<&'a str>,
    /// The id of a verified token.
    pub id: Option<String>,
    /// The session id that the profile echoes.
    pub session_id: Option<&'a str>,
}

impl About<'_> {
    pub fn new(item: Item) -> Self {
        Self {
            item,
            profile: match item {
                Item::RequestState => Profile::RequestState,
                Item::Cursor => Profile::Cursor,
                Item::Handle | Item::HandleState => Profile::Handle,
                // At a route of the web, whose client is a browser.
                Item::Link => Profile::McpSessionId,
                Item::Session => Profile::DataLayer,
            },
            token: None,
            id: None,
            session_id: None,
        }
    }
}

impl Context {
    pub fn new(
        guard: Guard,
        principal: Option<Result<Principal, Failed>>,
        within: Option<Duration>,
    ) -> Self {
        let limit = guard.settings().time_limit;
        Self {
            given: principal.map(|found| found.map(Some)),
            time: TimeLeft::new(within.map_or(limit, |within| within.min(limit))),
            guard,
            refused: Vec::new(),
            events: Vec::new(),
            message: Origin::default(),
            awaited: None,
            caller: None,
        }
    }

    /// Returns the context for an operation of the message's handler, which has a time limit of its
    /// own.
    pub fn inner(&self) -> Self {
        Self {
            caller: self.caller.clone(),
            given: self.given.clone(),
            message: self.message.clone(),
            ..Self::new(self.guard.clone(), None, None)
        }
    }

    /// Returns the codec scoped to the caller, or else the step that asks for the caller.
    pub fn view(&mut self) -> Result<Arc<View>, Step> {
        self.known().ok_or_else(|| {
            self.awaited = Some(Awaited::Caller);
            Step::Identify
        })
    }

    pub fn known(&self) -> Option<Arc<View>> {
        self.caller.as_ref().map(|caller| caller.view.clone())
    }

    pub fn principal(&self) -> Option<Arc<Principal>> {
        self.caller.as_ref().map(|caller| caller.principal.clone())
    }

    /// Returns the ledger, if there is one, and the key of the caller's principal in it.
    pub fn ledger(&self) -> Option<(&Ledger, &str)> {
        let ledger = self.guard.settings().ledger.as_ref()?;
        Some((ledger, &self.caller.as_ref()?.principal_key))
    }

    /// Returns whether the caller is nobody in particular.
    pub fn is_anonymous(&self) -> bool {
        let caller = self.caller.as_ref();
        caller.is_some_and(|caller| caller.principal.parts().is_none())
    }

    /// Returns the message and its caller, whether the principal was needed yet or not.
    pub fn origin(&self) -> Origin {
        Origin {
            principal: match (&self.caller, &self.given) {
                (Some(caller), _) => Some(caller.principal.clone()),
                (None, Some(Ok(given))) => given.clone().map(Into::into),
                _ => None,
            },
            ..self.message.clone()
        }
    }

    /// Sets the caller.
    pub fn identify(&mut self, found: Result<Option<Principal>, Failed>) -> Result<(), Reason> {
        let found = found.map_err(|failed| Error::argument(failed.says("principal")))?;
        let principal = found.ok_or(Reason::Unauthenticated)?;
        self.caller = Some(self.guard.caller(principal)?);
        Ok(())
    }

    /// Draws random bytes.
    pub fn draw<const N: usize>(&self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        let codec = &self.guard.settings().codec;
        codec.environment().fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the step that opens the ledger, if it is not open and was not tried for `pause` seconds.
    pub fn open_ledger(&mut self, pause: u32) -> Result<(), Step> {
        let Some(open) = self.guard.opens_ledger(pause) else {
            return Ok(());
        };
        let pending = Pending::new(open);
        let step = pending.step();
        self.awaited = Some(Awaited::Opening(pending));
        Err(step)
    }

    /// Takes the reply of a ledger that was opened; returns the step of another try. If it does not
    /// open, only requests that need it are refused.
    pub fn ledger_opened(
        &mut self,
        mut pending: Pending,
        answer: Result<Vec<String>, Failed>,
    ) -> Option<Step> {
        match pending.take(answer) {
            Err(again) => {
                self.awaited = Some(Awaited::Opening(pending));
                return Some(again);
            }
            Ok(LedgerReply::Done(_)) => self.guard.ledger_is_open(),
            Ok(lost) => {
                self.refuse(lost.into(), About::new(Item::Session));
            }
        }
        None
    }

    /// Checks that a replica confirmed a command, if it should or must survive a fail-over.
    pub fn confirmed(&mut self, done: &Done, about: Option<&Token>) -> Result<(), Reason> {
        if !done.unconfirmed {
            return Ok(());
        }
        let why = "no replica confirmed it: a fail-over would forget it";
        if done.confirmation == Confirmation::Must {
            return Err(Reason::LedgerUnavailable(why.into()));
        }
        let about = About {
            id: about.map(|one| one.id.clone()),
            ..About::new(about.map_or(Item::Session, |one| one.item))
        };
        self.refuse(Reason::refused("ledger_unconfirmed", why), about);
        Ok(())
    }

    /// Logs a refusal, and returns the fixed answer to it.
    pub fn refuse(&mut self, reason: Reason, about: About<'_>) -> Answer {
        let answer = match &reason {
            Reason::InvalidRequest(_) => Answer::invalid_params(),
            Reason::Unauthenticated => about.profile.unauthenticated(),
            reason if reason.is_refusal() => about.profile.refusal(about.session_id),
            _ => about.profile.internal_error(),
        };
        let level = if reason.is_refusal() {
            Level::Warn
        } else {
            Level::Error
        };
        let code = reason.code();
        let fault = Fault {
            item: about.item,
            origin: self.origin(),
            id: about.id.or_else(|| token_id(about.token?)),
            message: reason.message(),
        };
        self.refused
            .push(fault.entry(code, level, self.guard.now_ms()));
        answer
    }

    /// As [`refuse`](Self::refuse), and returns the answer as a step.
    pub fn reply(&mut self, reason: Reason, about: About<'_>) -> Step {
        Step::Reply(self.refuse(reason, about).into())
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Error(error) => Self {
                error: Some(error),
                ..Self::default()
            },
            Answer::HttpStatus(status) => Self {
                status: Some(status),
                ..Self::default()
            },
            Answer::ToolResult(tool) => Self {
                tool: Some(Box::new(tool)),
                ..Self::default()
            },
        }
    }
}
