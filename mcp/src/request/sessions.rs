//! Data-layer sessions: begins, opens and deletes them, and answers stale states.

use super::{Phase, Request, reply};
use crate::ledger::{Check, Latest};
use crate::message::context::{About, Context};
use crate::message::input::ClientValue;
use crate::reply::answer::{Profile, Stale};
use crate::reply::reason::Reason;
use crate::reply::step::{Deliver, Item, OUT_OF_ORDER, Step};
use crate::request::session;
use crate::request::session::{Session, json};
use crate::settings::SessionSettings;
use sealwax::{Error, SessionMetadata, View};

pub(super) const CREATE: &str = "sessions/create";
const DELETE: &str = "sessions/delete";

/// Data-layer sessions.
impl Request {
    #[inline(never)]
    pub(super) fn enter_sessions(
        &mut self,
        context: &mut Context,
        sessions: &SessionSettings,
    ) -> Result<Step, Step> {
        if *self.method == *DELETE && context.guard.settings().ledger.is_none() {
            // Without a ledger, nothing would remember the end.
            return Ok(reply(-32601, "Method not found"));
        }
        let Some((id, state)) = &self.client_session else {
            if *self.method == *CREATE {
                let view = context.view()?;
                if sessions.held_by_server {
                    let minted = sessions.of(&view).mint();
                    return Ok(self.created(context, minted));
                }
                self.phase = Phase::Beginning;
                return Ok(Step::Begin);
            }
            // A notification has no answer to tell that it needs a session.
            let required =
                !self.notification && sessions.required.by(&self.method, self.target.as_deref());
            if required || *self.method == *DELETE {
                let about = About {
                    profile: Profile::DataLayerRequired,
                    ..About::new(Item::Session)
                };
                let error = Error::Malformed("a session, which this request needs");
                return Ok(context.reply(error.into(), about));
            }
            return self.enter(context, Some(sessions));
        };
        if *self.method == *CREATE {
            let error = Error::Malformed("no session in sessions/create");
            let message = "Invalid params: sessions/create takes no session";
            return Ok(malformed(context, error, -32602, message));
        }
        let header = self.header.as_deref().filter(|_| self.modern);
        if header.is_some_and(|header| id.borrowed() != ClientValue::Text(header)) {
            let error = Error::Malformed("one session in the header and in the message");
            let message = "Header mismatch: Mcp-Session-Id is not the session of the body";
            return Ok(malformed(context, error, -32020, message));
        }
        let view = context.view()?;
        if *self.method == *DELETE {
            return Ok(self.delete(context, sessions, &view));
        }
        match Session::open(sessions, &view, id.borrowed(), state.borrowed()) {
            Ok(session) => self.session = Some(session),
            Err(error) => return Ok(self.refuse_session(context, error.into())),
        }
        self.enter(context, Some(sessions))
    }

    pub(super) fn create(
        &self,
        context: &mut Context,
        first: &str,
    ) -> Result<SessionMetadata, Error> {
        let guard = context.guard.clone();
        let (Some(sessions), Some(view)) = (&guard.settings().sessions, context.known()) else {
            return Err(OUT_OF_ORDER);
        };
        let first = json(first.as_bytes())
            .map_err(|_| Error::argument("initial: expected a value as JSON"))?;
        sessions.of(&view).create(first.as_bytes())
    }

    pub(super) fn created(
        &mut self,
        context: &mut Context,
        created: Result<SessionMetadata, Error>,
    ) -> Step {
        match created {
            Ok(session) => {
                context.sealed_session(&session);
                self.deliver(Deliver {
                    builtin_result: Some(format!(r#"{{"session":{}}}"#, session.to_json())),
                    ..Deliver::default()
                })
            }
            Err(error) => {
                let about = About::new(Item::Session);
                context.reply(Reason::Unsealed(error), about)
            }
        }
    }

    /// Deletes by the id alone: the client may have lost the state.
    pub(super) fn delete(
        &mut self,
        context: &mut Context,
        sessions: &SessionSettings,
        view: &View,
    ) -> Step {
        let id = self
            .client_session
            .as_ref()
            .and_then(|(id, _)| id.borrowed().text());
        let verified = match id {
            Some(id) => sessions.of(view).verify(id),
            None => Err(Error::Malformed("a sessionId that is a text")),
        };
        match verified {
            Ok(id) => {
                let token = session::by_id(&id, Check::End);
                let then = Deliver {
                    builtin_result: Some("{}".into()),
                    ..Deliver::default()
                };
                self.admit(context, vec![token], then)
            }
            Err(error) => self.refuse_session(context, error.into()),
        }
    }

    pub(super) fn refuse_session(&self, context: &mut Context, reason: Reason) -> Step {
        let (id, state) = match &self.client_session {
            Some((id, state)) => (id.borrowed().text(), state.borrowed().text()),
            None => (None, None),
        };
        let about = About {
            token: state,
            id: self.session.as_ref().map(Session::ulid),
            session_id: id,
            ..About::new(Item::Session)
        };
        context.reply(reason, about)
    }

    /// Answers a stale state with the latest one: the client is honest.
    pub(super) fn stale(&mut self, context: &mut Context, ran: bool, latest: &Latest) -> Step {
        let session = match self.continue_from(context, latest) {
            Ok(session) => session,
            Err(error) => return self.refuse_session(context, error.into()),
        };
        let about = About {
            id: self.session.as_ref().map(Session::ulid),
            ..About::new(Item::Session)
        };
        context.refuse(Reason::Stale(Box::new(latest.clone())), about);
        Step::Reply(
            Stale::new(ran, session)
                .answer(&self.method, self.modern)
                .into(),
        )
    }

    pub(super) fn continue_from(
        &mut self,
        context: &Context,
        latest: &Latest,
    ) -> Result<SessionMetadata, Error> {
        let guard = context.guard.clone();
        let (Some(sessions), Some(view), Some(session)) = (
            &guard.settings().sessions,
            context.known(),
            &mut self.session,
        ) else {
            return Err(OUT_OF_ORDER);
        };
        session.continue_from(sessions, &view, &latest.state)
    }
}

/// Refuses a message that no client of the protocol sends.
fn malformed(context: &mut Context, error: Error, code: i32, message: &'static str) -> Step {
    context.refuse(error.into(), About::new(Item::Session));
    reply(code, message)
}
