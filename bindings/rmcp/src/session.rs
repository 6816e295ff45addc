//! The session of one request, as its handler has it.

use std::fmt;
use std::sync::Arc;

use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sealwax::{Error, SessionMetadata};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Kind;
use crate::caller::{Caller, InSession};
use crate::refusal::{About, Reason};
use crate::sessions::json;
use crate::state::unprotected;

/// The session of a request, opened and checked: an argument of a tool or prompt that needs one.
/// Without one the request is refused; [`Sessions::of`](crate::Sessions::of) gives `None` instead.
///
/// ```
/// use rmcp::{ErrorData, tool, tool_router};
/// use sealwax_rmcp::Session;
///
/// struct Counter;
///
/// #[tool_router]
/// impl Counter {
///     #[tool(description = "One more than last time")]
///     async fn count(&self, mut session: Session<u32>) -> Result<String, ErrorData> {
///         let count = session.value() + 1;
///         session.write(count)?;
///         Ok(format!("{}: {count}", session.ulid()))
///     }
/// }
/// ```
pub struct Session<T> {
    pub(crate) caller: Caller,
    session: Arc<InSession>,
    value: T,
}

impl<T: DeserializeOwned> Session<T> {
    /// What this request has written so far, or came with.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Result<Option<Self>, ErrorData> {
        let caller = Caller::of(context).map_err(|error| unprotected(Kind::Session, &error))?;
        let Some(session) = caller.session.clone() else {
            return Ok(None);
        };
        let written = session.written().clone();
        let payload = match (&written, &session.opened) {
            (Some(written), _) => written,
            (None, Some(opened)) => opened.payload(),
            // The server holds it: the value is ().
            (None, None) => b"null",
        };
        let value = serde_json::from_slice(payload).map_err(|_| {
            // The boundary has seen that it fits the type of the sessions.
            let error = Error::InvalidArgument(
                "Session: expected the type that guard.sessions was given".into(),
            );
            caller
                .guard
                .refuse_session(&error.into(), about(caller, &session))
        })?;
        Ok(Some(Self {
            caller: caller.clone(),
            session,
            value,
        }))
    }
}

impl<T> Session<T> {
    /// The session id. It is half of what continues the session, so it is not for logs.
    #[must_use]
    pub fn id(&self) -> &str {
        self.session.id.as_str()
    }

    /// What logs and a server's store may know it by: 32 hex digits, the same for all its life.
    #[must_use]
    pub fn ulid(&self) -> String {
        self.session.ulid()
    }

    /// How often it was written; 0 where the server holds the state.
    #[must_use]
    pub fn generation(&self) -> u32 {
        let opened = self.session.opened.as_ref();
        opened.map_or(0, |opened| opened.state().generation())
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Writes the value. It leaves sealed with the result, also with one that is an error of the
    /// tool; a JSON-RPC error discards it. Where two write at once, the client keeps the last.
    ///
    /// # Errors
    ///
    /// An internal error where JSON has no such value, or the server holds the state.
    pub fn write(&mut self, value: T) -> Result<(), ErrorData>
    where
        T: Serialize,
    {
        let written = match self.session.opened {
            Some(_) => json(&value),
            None => Err(Error::InvalidArgument(
                "Session: the server holds this state; write it to the row of its ulid".into(),
            )),
        };
        let written = written.map_err(|error| self.not_sealed(error))?;
        *self.session.written() = Some(written);
        self.value = value;
        Ok(())
    }

    /// A new session that begins with what this request has written, or else came with: its
    /// metadata, for a result. This session goes on beside it.
    ///
    /// # Errors
    ///
    /// An internal error without randomness, or where the server holds the state.
    pub fn fork(&self, context: &RequestContext<RoleServer>) -> Result<SessionMetadata, ErrorData> {
        let forked = self.caller.known(context).and_then(|known| {
            let settings = self.caller.guard.settings().sessions.get();
            match (settings, &self.session.opened) {
                (Some(settings), Some(opened)) => {
                    let sessions = settings.of(&known.view);
                    match &*self.session.written() {
                        Some(written) => sessions.create(written),
                        None => sessions.fork(opened),
                    }
                }
                _ => Err(Error::InvalidArgument(
                    "Session: the server holds this state; copy its row".into(),
                )),
            }
        });
        forked.map_err(|error| self.not_sealed(error))
    }

    fn not_sealed(&self, error: Error) -> ErrorData {
        let about = about(&self.caller, &self.session);
        self.caller
            .guard
            .refuse_session(&Reason::NotSealed(error), about)
    }
}

fn about<'a>(caller: &'a Caller, session: &InSession) -> About<'a> {
    About {
        principal: caller.principal(),
        token_id: Some(session.ulid()),
        ..About::default()
    }
}

impl<C: AsRequestContext, T: DeserializeOwned> FromContextPart<C> for Session<T> {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        let context = context.as_request_context();
        Self::of(context)?.ok_or_else(|| match Caller::of(context) {
            Ok(caller) => caller.guard.session_required(caller.principal()),
            Err(error) => unprotected(Kind::Session, &error),
        })
    }
}

/// Logs get neither the id nor the value.
impl<T> fmt::Debug for Session<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.ulid())
    }
}
