//! The session of one request, as a handler receives it.

use std::fmt;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use rmcp::model::Extensions;
use sealwax::{Error, SessionMetadata};
use sealwax_mcp::Profile;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::refusal::{About, error_data, internal};
use crate::value::{json, read};
use crate::{Context, Kind};

/// The session of a request, opened and checked: an argument of a tool or prompt. A request without a session is
/// refused; [`of`](Self::of) returns `None` instead.
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
    caller: Arc<Caller>,
    id: String,
    ulid: String,
    generation: u32,
    value: T,
}

impl<T: DeserializeOwned> Session<T> {
    /// Returns the session of the request or notification with these extensions; `None` if it has none. Its value is the one
    /// that this request wrote last, or else came with.
    ///
    /// # Errors
    ///
    /// The fixed answer to a session whose value is no `T`; an internal error outside of a protected server.
    pub fn of(extensions: &Extensions) -> Result<Option<Self>, ErrorData> {
        let caller = Caller::protected(extensions, Kind::Session)?;
        let read = caller.within(|running| {
            Ok(running.exchange.session().map(|session| {
                // The server holds the state: the value is `()`.
                let value = session.value().unwrap_or("null");
                let value = read(value, "a state that is JSON of the sessions' type");
                let id = session.id().to_owned();
                (id, session.ulid(), session.generation(), value)
            }))
        });
        let read = read.map_err(|error| refuse(caller, &error, None, None))?;
        let Some((id, ulid, generation, value)) = read else {
            return Ok(None);
        };
        let value = value.map_err(|error| refuse(caller, &error, Some(&ulid), Some(&id)))?;
        let caller = Arc::clone(caller);
        Ok(Some(Self {
            caller,
            id,
            ulid,
            generation,
            value,
        }))
    }
}

impl<T> Session<T> {
    /// Returns the session id. It is half of what continues the session, so do not log it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id for logs and for the server's own store: 32 hex digits, the same for the session's whole life.
    #[must_use]
    pub fn ulid(&self) -> String {
        self.ulid.clone()
    }

    /// Returns how often the session was written; 0 if the server holds the state.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Writes the value. It leaves sealed with the result, even if that is a tool's error; a JSON-RPC error
    /// discards it. Of two concurrent writes the client keeps the last; with a ledger the first wins, and the
    /// other request is answered that its state is stale, with the latest one.
    ///
    /// # Errors
    ///
    /// An internal error if the value cannot be JSON, if the server holds the state, and in a notification,
    /// which has no result.
    pub fn write(&mut self, value: T) -> Result<(), ErrorData>
    where
        T: Serialize,
    {
        let written =
            json(&value).and_then(|json| self.caller.within(|it| it.exchange.write(&json)));
        written.map_err(|error| self.failed(error))?;
        self.value = value;
        Ok(())
    }

    /// Makes a new session that begins with the current value, and returns its metadata, for a result. The
    /// present session continues beside it.
    ///
    /// # Errors
    ///
    /// An internal error without randomness, or if the server holds the state.
    pub fn fork(&self, _: &Context) -> Result<SessionMetadata, ErrorData> {
        let forked = self.caller.within(|running| running.exchange.fork());
        forked.map_err(|error| self.failed(error))
    }

    /// Returns an internal error: the client is not at fault.
    fn failed(&self, error: Error) -> ErrorData {
        refuse(&self.caller, &error, Some(&self.ulid), None);
        internal()
    }
}

fn refuse(caller: &Caller, error: &Error, ulid: Option<&str>, id: Option<&str>) -> ErrorData {
    let about = About {
        id: ulid.map(Into::into),
        session_id: id,
        ..About::new(Kind::Session, Profile::DataLayer)
    };
    error_data(caller.refuse(error, about))
}

impl<C: AsRequestContext, T: DeserializeOwned> FromContextPart<C> for Session<T> {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        let extensions = &context.as_request_context().extensions;
        if let Some(session) = Self::of(extensions)? {
            return Ok(session);
        }
        let caller = Caller::protected(extensions, Kind::Session)?;
        let error = Error::Malformed("session metadata, which this request needs");
        let about = About::new(Kind::Session, Profile::DataLayerRequired);
        Err(error_data(caller.refuse(&error, about)))
    }
}

/// Logs must not contain the id or the value.
impl<T> fmt::Debug for Session<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.ulid())
    }
}
