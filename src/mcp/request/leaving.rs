//! The result: seals the token in it, and commits the session's new state before it is sent.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{NO_SESSION, Phase, Request, declares, item};
use crate::ledger::{Command, Commit};
use crate::mcp::context::{About, Context, Reason};
use crate::mcp::exchange::{OUT_OF_ORDER, PAUSE};
use crate::mcp::input::Kept;
use crate::mcp::session::Written;
use crate::mcp::{
    Carried, Failed, Head, Item, Leave, Outcome, Scope, Sent, Session, Step, Updated, asking,
    session,
};
use crate::{Error, Kind, View};

/// The handler's result.
pub(super) struct Left {
    pub token: Kept,
    pub outcome: Outcome,
    pub scope: Option<Scope>,
    pub no_meta: bool,
    /// The number of times that another request's state came in between.
    pub updates: u8,
    /// Whether the ledger is being opened, before a cursor is sealed.
    pub opening: bool,
}

impl Left {
    pub fn new(head: &Head<'_>, updates: u8) -> Self {
        Self {
            token: head.token.owned(),
            outcome: head.outcome,
            scope: head.scope,
            no_meta: head.no_meta,
            updates,
            opening: false,
        }
    }
}

/// The result that is sent once the ledger has the session's new state.
pub(super) struct Committing {
    left: Left,
    leave: Leave,
    command: Command,
    /// Whether one try got no answer.
    tried: bool,
}

/// The limit of applying a function of the author to a newer state.
const MAX_UPDATES: u8 = 32;

impl Request {
    pub(super) fn leave(&mut self, context: &mut Context) -> Result<Step, Step> {
        let Phase::Leaving(left) = &self.phase else {
            return Ok(Step::Drop);
        };
        let guard = context.guard.clone();
        let sessions = guard.settings().sessions.as_ref();
        let mut leave = Leave::default();
        if left.outcome == Outcome::Error {
            return Ok(Step::Leave(Box::new(leave)));
        }
        leave.private = self.session.is_some();
        leave.declare = sessions.is_some() && declares(&self.method);
        if let Some(carries) = self.carries
            && !left.token.is_absent()
        {
            let public = left.scope == Some(Scope::Public) && !leave.private;
            let view = match carries.kind {
                Kind::Cursor if public => None,
                _ => Some(context.view()?),
            };
            // A ledger does not know what was sealed before it began.
            if carries.kind == Kind::Cursor
                && view.is_some()
                && !context.is_anonymous()
                && let Some(open) = guard.opens_ledger(PAUSE)
            {
                if let Phase::Leaving(left) = &mut self.phase {
                    left.opening = true;
                }
                return Ok(Step::Ledger(Box::new(open)));
            }
            match self.leaving(context, carries, view.as_deref(), left) {
                Ok(token) => leave.token = Some(token),
                Err(error) => {
                    let about = About::new(item(carries));
                    return Ok(context.reply(Reason::Unsealed(error), about));
                }
            }
        }
        if let (Some(session), Some(sessions)) = (&self.session, sessions) {
            // The next round sends the same state again, so it must stay the latest one.
            let asks_back =
                left.outcome == Outcome::InputRequired && guard.settings().ledger.is_some();
            let sealed = if left.no_meta && session.is_written() {
                Err(Error::argument(
                    "session: expected a method whose result has metadata: the SDK drops it here, \
                     and the write would be lost",
                ))
            } else if asks_back {
                Ok(session.unchanged())
            } else {
                session.leave(sessions, &*context.view()?, !left.no_meta)
            };
            let sealed = match sealed {
                Ok(sealed) => sealed,
                Err(error) => return Ok(self.refuse_session(context, Reason::Unsealed(error))),
            };
            let command = commit(context, session, &sealed);
            leave.metadata = Some(sealed.metadata);
            if let Some(command) = command {
                return Ok(self.committing(leave, command));
            }
        }
        Ok(Step::Leave(Box::new(leave)))
    }

    fn committing(&mut self, leave: Leave, command: Command) -> Step {
        let Phase::Leaving(left) = core::mem::replace(&mut self.phase, Phase::Entering) else {
            return Step::Drop;
        };
        let step = Step::Ledger(Box::new(command.clone()));
        self.phase = Phase::Committing(Box::new(Committing {
            left,
            leave,
            command,
            tried: false,
        }));
        step
    }

    /// Takes the ledger's reply to the new state.
    pub(super) fn committed(
        &mut self,
        context: &mut Context,
        mut committing: Committing,
        reply: Result<Vec<String>, Failed>,
    ) -> Step {
        let lost = match reply {
            Err(_) if !committing.tried => {
                // The same command again is not a second write.
                committing.tried = true;
                let step = Step::Ledger(Box::new(committing.command.clone()));
                self.phase = Phase::Committing(Box::new(committing));
                return step;
            }
            Err(Failed(why)) => Reason::LedgerUnavailable(why),
            Ok(reply) => match (reply.first().map(String::as_str), &reply[..]) {
                (Some("ok"), _) => match asking::confirmed(context, &reply, None) {
                    Ok(()) => return Step::Leave(Box::new(committing.leave)),
                    Err(reason) => reason,
                },
                (Some("ended"), _) => Reason::ledger("ended", "it has ended"),
                // After a try without an answer, the state may be stale because of our own write.
                (Some("stale"), [_, token, generation, state]) if !committing.tried => {
                    Reason::Stale(Box::new([token, generation, state].map(Clone::clone)))
                }
                _ => Reason::LedgerUnavailable(asking::failure(&reply)),
            },
        };
        let session = self.session.as_ref();
        if session.is_some_and(|session| !session.is_written()) {
            return self.not_renewed(context, committing.leave, lost);
        }
        match lost {
            Reason::Stale(latest) => self.overtaken(context, committing.left, &latest),
            lost => self.refuse_session(context, lost),
        }
    }

    /// Leaves the session as it was: a failed renewal never refuses a read.
    fn not_renewed(&self, context: &mut Context, mut leave: Leave, lost: Reason) -> Step {
        leave.metadata = self
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
        Step::Leave(Box::new(leave))
    }

    /// Handles a write of the session by another request in the meantime.
    fn overtaken(&mut self, context: &mut Context, left: Left, latest: &[String; 3]) -> Step {
        let updates = self.session.as_ref().is_some_and(Session::is_updated);
        if !updates || left.updates == MAX_UPDATES {
            return self.stale(context, true, latest);
        }
        match self.adopt(context, latest) {
            Ok(_) => {
                let value = self.session.as_ref().and_then(Session::value);
                let value = value.unwrap_or_default().into();
                self.phase = Phase::Updating(Left {
                    updates: left.updates + 1,
                    ..left
                });
                Step::Update(value)
            }
            Err(error) => self.refuse_session(context, error.into()),
        }
    }

    /// Takes the result of the author's functions for the newer state.
    pub(super) fn updated(
        &mut self,
        context: &mut Context,
        left: Left,
        updated: Result<Updated<'_>, Failed>,
    ) -> Step {
        let updated = updated.map_err(|Failed(why)| Error::argument(why));
        let session = self.session.as_mut().ok_or(NO_SESSION);
        let written = updated.and_then(|updated| {
            session?.write(updated.value, Written::Again)?;
            Ok(updated.left)
        });
        match written {
            Ok(again) => {
                let again = again.map(|head| Left::new(&head, left.updates));
                self.phase = Phase::Leaving(again.unwrap_or(left));
                self.advance(context)
            }
            Err(error) => self.refuse_session(context, Reason::Unsealed(error)),
        }
    }

    /// Returns the token of a result: the one that the handler sealed, or its text, sealed.
    fn leaving(
        &self,
        context: &Context,
        carries: Carried,
        view: Option<&View>,
        left: &Left,
    ) -> Result<String, Error> {
        if carries.kind == Kind::RequestState && left.outcome == Outcome::Complete {
            // No client returns it, and it may be a state in plaintext.
            return Err(Error::argument(
                "requestState: expected resultType \"input_required\" beside it, found a complete \
                 result",
            ));
        }
        let Sent::Text(text) = left.token.sent() else {
            let expected = alloc::format!("{}: expected a text", carries.result);
            return Err(Error::argument(expected));
        };
        match self.sealed.iter().find(|sealed| *sealed == text) {
            Some(sealed) => Ok(sealed.clone()),
            None => self.seal(context, carries, view, text),
        }
    }

    /// Seals a token; `view` is `None` for a result that any user may get.
    pub(super) fn seal(
        &self,
        context: &Context,
        carries: Carried,
        view: Option<&View>,
        payload: &str,
    ) -> Result<String, Error> {
        let settings = context.guard.settings();
        let view = view.unwrap_or(&settings.public);
        if carries.kind == Kind::Cursor {
            let token = view.cursor(&self.method).seal(payload.as_bytes())?;
            return Ok(token.into_string());
        }
        let bound = self.bound.as_ref().ok_or(OUT_OF_ORDER)?;
        let sealer = match settings.request_state_ttl {
            Some(ttl) => view.request_state(bound).ttl(ttl),
            None => view.request_state(bound),
        };
        Ok(sealer.seal(payload.as_bytes())?.into_string())
    }
}

/// Returns the command that commits a session's new state.
fn commit(context: &Context, session: &Session, sealed: &session::Left) -> Option<Command> {
    let (ledger, _) = context.ledger()?;
    let (seen, generation) = session.seen()?;
    let (token, until) = sealed.token.as_ref()?;
    Some(Command::commit(
        &ledger.names,
        &Commit {
            session: &session.ulid(),
            seen: (&seen, generation),
            token,
            until: *until,
            state: sealed.metadata.state.as_deref()?,
        },
    ))
}
