//! What a handler does with its request: reads and seals its state, reads, writes and forks its session.

use super::{NO_SESSION, Phase, Request};
use crate::message::context::Context;
use crate::reply::reason::Reason;
use crate::reply::step::OUT_OF_ORDER;
use crate::request::session::{Session, json};
use crate::settings::is_list;
use sealwax::{Error, Inspected, Kind, SessionMetadata, inspect};

impl Request {
    pub fn state(&self) -> Result<Option<&str>, Error> {
        let fields = self.fields.map(|fields| fields.kind);
        if fields != Some(Kind::RequestState) {
            return Err(Error::argument(
                "requestState: expected tools/call, prompts/get or resources/read",
            ));
        }
        match self.phase {
            Phase::Delivered => Ok(self.opened.as_deref()),
            _ => Err(OUT_OF_ORDER),
        }
    }

    pub fn seal_state(&mut self, context: &Context, value: &str) -> Result<String, Error> {
        self.state()?;
        let (Some(fields), Some(view)) = (self.fields, context.known()) else {
            return Err(OUT_OF_ORDER);
        };
        let value = json(value.as_bytes())
            .map_err(|_| Error::argument("requestState: expected a value as JSON"))?;
        let token = self.seal(context, fields, Some(&view), value);
        let token = token.map_err(Reason::error)?;
        self.sealed.push(token.clone());
        Ok(token)
    }

    /// The token was opened before the handler ran, so its key is in the ring.
    #[inline(never)]
    pub fn idempotency_key(&self, context: &Context) -> Result<String, Error> {
        self.state()?;
        let (Some(fields), Some(view)) = (self.fields, context.known()) else {
            return Err(OUT_OF_ORDER);
        };
        let request = match self.bound {
            Some(bound) => bound,
            None => self.binding(context, fields).map_err(Reason::error)?,
        };
        let token = self.token.borrowed().text().map(inspect);
        let agreed = self.confirmation.as_ref();
        let agreed = agreed.and_then(|known| known.agreed.as_deref());
        let (key, id): (_, &[u8]) = match (&token, agreed) {
            (
                Some(Ok(Inspected::Token {
                    key_id, token_id, ..
                })),
                _,
            ) => (Some(*key_id), token_id.as_bytes()),
            (_, Some(at)) => (None, at),
            _ => (None, &[]),
        };
        view.idempotency_key(&request, key, id)
    }

    pub fn session(&self) -> Option<&Session> {
        let running = matches!(self.phase, Phase::Delivered) && !is_list(&self.method);
        self.session.as_ref().filter(|_| running)
    }

    pub fn write(&mut self, json: &str) -> Result<(), Error> {
        if self.notification {
            return Err(Error::argument(
                "write: expected a request, found a notification, which has no answer",
            ));
        }
        if self.session().is_none() {
            return Err(NO_SESSION);
        }
        self.session.as_mut().ok_or(NO_SESSION)?.write(json)
    }

    pub fn fork(&self, context: &mut Context) -> Result<SessionMetadata, Error> {
        let session = self.session().ok_or(NO_SESSION)?;
        let guard = context.guard.clone();
        let (Some(settings), Some(view)) = (&guard.settings().sessions, context.known()) else {
            return Err(OUT_OF_ORDER);
        };
        let forked = session.fork(settings, &view)?;
        context.sealed_session(&forked);
        Ok(forked)
    }
}
