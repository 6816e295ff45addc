//! The result: seals the token in it, and commits the session's new state before it is sent.

use super::{Phase, Request, declares, item};
use crate::exchange::pending::Pending;
use crate::guard::PAUSE;
use crate::ledger::{Command, Reply};
use crate::message::context::{About, Context};
use crate::message::input::{ClientValue, Failed, HandlerResult, Outcome, OwnedClientValue, Scope};
use crate::message::members::lifetime;
use crate::message::token_fields::TokenFields;
use crate::reply::reason::Reason;
use crate::reply::step::{Item, Respond, Step};
use crate::request::session;
use crate::request::session::Session;
use sealwax::{Error, Kind, View};

/// The handler's result.
pub(super) struct Outgoing {
    pub token: OwnedClientValue,
    pub outcome: Outcome,
    pub scope: Option<Scope>,
    pub has_ttl: bool,
    pub no_meta: bool,
}

impl Outgoing {
    pub fn new(result: &HandlerResult<'_>) -> Self {
        Self {
            token: result.token.owned(),
            outcome: result.outcome,
            scope: result.scope,
            has_ttl: result.has_ttl,
            no_meta: result.no_meta,
        }
    }
}

/// The result that is sent once the ledger has the session's new state.
pub(super) struct Committing {
    respond: Respond,
    pending: Pending,
}

impl Request {
    #[inline(never)]
    pub(super) fn respond(&mut self, context: &mut Context) -> Result<Step, Step> {
        let Phase::Responding(outgoing) = &self.phase else {
            return Ok(Step::Drop);
        };
        let guard = context.guard.clone();
        let sessions = guard.settings().sessions.as_ref();
        let mut respond = Respond::default();
        if outgoing.outcome == Outcome::Error {
            return Ok(Step::Respond(Box::new(respond)));
        }
        let private = self.session.is_some();
        respond.cache_scope = outgoing.scope.filter(|_| private).map(|_| Scope::Private);
        respond.ttl_ms = (private && outgoing.has_ttl).then_some(0);
        respond.declare = sessions.is_some() && declares(&self.method);
        if let Some(shown) = &self.shown {
            let is_whole = self.token.is_absent() && outgoing.token.is_absent();
            shown.list(context, self.token.is_absent(), is_whole, &mut respond);
            respond.cache_scope = respond.cache_scope.filter(|_| outgoing.scope.is_some());
        }
        if let Some(fields) = self.fields
            && !outgoing.token.is_absent()
        {
            let public = outgoing.scope == Some(Scope::Public) && !private;
            let view = match fields.kind {
                Kind::Cursor if public => None,
                _ => Some(context.view()?),
            };
            // A ledger does not know what was sealed before it began.
            if fields.kind == Kind::Cursor && view.is_some() && !context.is_anonymous() {
                context.open_ledger(PAUSE)?;
            }
            match self.result_token(context, fields, view.as_deref(), outgoing) {
                Ok(token) => respond.token = Some(token),
                Err(reason) => return Ok(self.reply(context, reason, About::new(item(fields)))),
            }
        }
        if let (Some(session), Some(sessions)) = (&self.session, sessions) {
            // The next round sends the same state again, so it must stay the latest one.
            let asks_back =
                outgoing.outcome == Outcome::InputRequired && guard.settings().ledger.is_some();
            let sealed = if outgoing.no_meta && session.is_written() {
                Err(Error::argument(
                    "session: expected a method whose result has metadata: the SDK drops it here, \
                     and the write would be lost",
                ))
            } else if asks_back {
                Ok(session.unchanged())
            } else {
                session.seal(sessions, &*context.view()?, !outgoing.no_meta)
            };
            let sealed = match sealed {
                Ok(sealed) => sealed,
                Err(error) => return Ok(self.refuse_session(context, Reason::Unsealed(error))),
            };
            let command = commit(context, session, &sealed);
            respond.metadata = Some(sealed.metadata);
            if let Some(command) = command {
                let pending = Pending::new(command);
                let step = pending.step();
                self.phase = Phase::Committing(Box::new(Committing { respond, pending }));
                return Ok(step);
            }
        }
        Ok(Step::Respond(Box::new(respond)))
    }

    /// Takes the ledger's reply to the new state.
    pub(super) fn committed(
        &mut self,
        context: &mut Context,
        mut committing: Committing,
        answer: Result<Vec<String>, Failed>,
    ) -> Step {
        let lost = match committing.pending.take(answer) {
            Err(again) => {
                self.phase = Phase::Committing(Box::new(committing));
                return again;
            }
            Ok(Reply::Done(done)) => match context.confirmed(&done, None) {
                Ok(()) => return Step::Respond(Box::new(committing.respond)),
                Err(reason) => reason,
            },
            Ok(lost) => lost.into(),
        };
        let session = self.session.as_ref();
        if session.is_some_and(|session| !session.is_written()) {
            return self.not_renewed(context, committing.respond, lost);
        }
        match lost {
            Reason::Stale(latest) => self.stale(context, true, &latest),
            lost => self.refuse_session(context, lost),
        }
    }

    /// Leaves the session as it was: a failed renewal never refuses a read.
    fn not_renewed(&self, context: &mut Context, mut respond: Respond, lost: Reason) -> Step {
        respond.metadata = self
            .session
            .as_ref()
            .map(|session| session.unchanged().metadata);
        if let Reason::LedgerUnavailable(_) = lost {
            let about = About {
                id: self.session.as_ref().map(Session::ulid),
                ..About::new(Item::Session)
            };
            context.refuse(lost, about);
        }
        Step::Respond(Box::new(respond))
    }

    /// Collects what leaves with the result.
    pub fn sealed(&self, context: &mut Context, respond: &Respond) {
        let sent = self.token.borrowed().text();
        if let (Some(fields), Some(token)) = (self.fields, &respond.token)
            && sent != Some(token)
        {
            context.sealed(item(fields), token, None);
        }
        let metadata = respond.metadata.as_ref();
        if let Some(state) = metadata.and_then(|metadata| metadata.state.as_deref()) {
            let ulid = self.session.as_ref().map(Session::ulid);
            context.sealed(Item::Session, state, ulid);
        }
    }

    /// Returns the token of a result: the one that the handler sealed, or its text, sealed. A cursor that
    /// is that of the request again stays as it is, so that a client sees that the list does not advance.
    fn result_token(
        &self,
        context: &Context,
        fields: TokenFields,
        view: Option<&View>,
        outgoing: &Outgoing,
    ) -> Result<String, Reason> {
        if fields.kind == Kind::RequestState && outgoing.outcome == Outcome::Complete {
            // No client returns it, and it may be a state in plaintext.
            return Err(Reason::Unsealed(Error::argument(
                "requestState: expected resultType \"input_required\" beside it, found a complete \
                 result",
            )));
        }
        let ClientValue::Text(text) = outgoing.token.borrowed() else {
            let expected = format!("{}: expected a text", fields.result);
            return Err(Reason::Unsealed(Error::argument(expected)));
        };
        if fields.kind == Kind::Cursor
            && self.opened.as_deref() == Some(text)
            && (context.is_anonymous() || self.public == view.is_none())
            && let Some(same) = self.token.borrowed().text()
        {
            return Ok(same.into());
        }
        match self.sealed.iter().find(|sealed| *sealed == text) {
            Some(sealed) => Ok(sealed.clone()),
            None => self.seal(context, fields, view, text),
        }
    }

    /// Seals a token; `view` is `None` for a result that any user may get.
    pub(super) fn seal(
        &self,
        context: &Context,
        fields: TokenFields,
        view: Option<&View>,
        payload: &str,
    ) -> Result<String, Reason> {
        let settings = context.guard.settings();
        let public;
        let view = match view {
            Some(view) => view,
            None => {
                public = context.guard.public().map_err(Reason::Unsealed)?;
                &public
            }
        };
        if fields.kind == Kind::Cursor {
            let token = view.cursor(&self.method).seal(payload.as_bytes());
            return Ok(token.map_err(Reason::Unsealed)?.into_string());
        }
        let bound = match self.bound {
            Some(bound) => bound,
            None => self.binding(context, fields)?,
        };
        let ttl = lifetime(settings.request_state_ttl);
        let sealer = view.request_state(&bound).with_ttl(ttl);
        let token = sealer.seal(payload.as_bytes());
        Ok(token.map_err(Reason::Unsealed)?.into_string())
    }
}

/// Returns the command that commits a session's new state.
fn commit(context: &Context, session: &Session, sealed: &session::Sealed) -> Option<Command> {
    let (ledger, _) = context.ledger()?;
    let seen = session.seen()?;
    let (token, until) = sealed.token.as_ref()?;
    let state = sealed.metadata.state.as_deref()?;
    let commit = ledger
        .names
        .commit(&session.ulid(), seen, token, *until, state);
    Some(commit)
}
