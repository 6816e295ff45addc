//! Typed state that one round of a request passes to the next.

use std::fmt;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::common::{AsRequestContext, FromContextPart};
use sealwax::Error;
use sealwax_mcp::{Profile, token_id};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::guard::Guard;
use crate::refusal::{About, error_data, internal};
use crate::value::{json, read};
use crate::{Context, Kind};

/// The `requestState` of a request as a `T`, opened and checked: an argument of a tool or prompt.
///
/// It replaces rmcp's own `RequestState` extractor, and may be any of the arguments.
///
/// ```
/// use rmcp::handler::server::wrapper::Parameters;
/// use rmcp::model::{CallToolResponse, CallToolResult, InputRequests, InputRequiredResult};
/// use rmcp::{ErrorData, tool, tool_router};
/// use sealwax_rmcp::State;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, schemars::JsonSchema)]
/// struct Note { id: u32 }
///
/// #[derive(Serialize, Deserialize)]
/// struct Asked { asked: u32 }
///
/// struct Notes;
///
/// #[tool_router]
/// impl Notes {
///     #[tool(description = "Deletes a note")]
///     async fn delete_note(
///         &self,
///         Parameters(note): Parameters<Note>,
///         state: State<Asked>,
///     ) -> Result<CallToolResponse, ErrorData> {
///         let Some(Asked { asked }) = state.get() else {
///             let next = state.write(&Asked { asked: note.id })?;
///             return Ok(InputRequiredResult::new(Some(questions()), Some(next)).into());
///         };
///         assert_eq!(*asked, note.id);
///         Ok(CallToolResult::success(vec![]).into())
///     }
/// }
/// # fn questions() -> InputRequests { InputRequests::new() }
/// ```
pub struct State<T> {
    received: Option<T>,
    caller: Arc<Caller>,
}

impl<T: DeserializeOwned> State<T> {
    /// Returns the state of the request in `context`, for a handler without extractors.
    ///
    /// # Errors
    ///
    /// The fixed answer to a state that is not the JSON of a `T`; an internal error outside of a protected
    /// server, and in requests of a method that carries no `requestState`.
    pub fn of(context: &Context) -> Result<Self, ErrorData> {
        let caller = Caller::protected(&context.extensions, Kind::RequestState)?;
        let mut token = None;
        let read = caller.within(|running| {
            token.clone_from(&running.token);
            let state = running.exchange.state()?;
            let expected = "a payload that is JSON of the type asked for";
            state.map(|state| read(state, expected)).transpose()
        });
        let received = read.map_err(|error| {
            let error = match error {
                Error::InvalidArgument(why) => {
                    Error::InvalidArgument(format!("State: {why}").into())
                }
                error => error,
            };
            let about = about().id(token.as_deref().and_then(token_id));
            error_data(caller.refuse(&error, about))
        })?;
        let caller = Arc::clone(caller);
        Ok(Self { received, caller })
    }
}

impl<T> State<T> {
    /// Returns what the previous round wrote; `None` in the first.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        self.received.as_ref()
    }

    /// Returns what the previous round wrote, by value.
    #[must_use]
    pub fn into_inner(self) -> Option<T> {
        self.received
    }

    /// Seals `value` for this request and its caller, and returns the token: the `request_state` of an
    /// `InputRequiredResult`. The token shows nothing of the value, wherever it ends up.
    ///
    /// # Errors
    ///
    /// One that says which argument a state cannot be bound to: return it, and the model hears so. An internal error if
    /// the value cannot be JSON or is too large, and after the request was answered.
    pub fn write<N: Serialize + ?Sized>(&self, value: &N) -> Result<String, ErrorData> {
        let refused = |error| {
            self.caller.refuse(&error, about());
            internal()
        };
        let value = json(value).map_err(refused)?;
        let sealed = self.caller.within(|running| {
            let sealed = running.exchange.seal_state(&value);
            running.unbound = matches!(sealed, Err(Error::InvalidArgument(_)));
            Ok(sealed)
        });
        match sealed.map_err(refused)? {
            // The guard answers the handler's error, and logs it.
            Err(Error::InvalidArgument(why)) => Err(ErrorData::invalid_params(why, None)),
            sealed => sealed.map_err(refused),
        }
    }
}

impl Guard {
    /// Returns a key for an API that does a thing once for each, such as in the header `Idempotency-Key`: 32 letters and
    /// digits, the same at every retry of a request, different for every user, confirmation and state. A call without a
    /// confirmation or a `requestState` has the same key whenever it is made again with the same arguments.
    ///
    /// # Errors
    ///
    /// An internal error outside of a protected server, and in a request that cannot carry a `requestState`.
    pub fn idempotency_key(&self, context: &Context) -> Result<String, ErrorData> {
        let caller = Caller::protected(&context.extensions, Kind::RequestState)?;
        let key = caller.within(|running| running.exchange.idempotency_key());
        key.map_err(|error| {
            caller.refuse(&error, about());
            internal()
        })
    }
}

fn about() -> About<'static> {
    About::new(Kind::RequestState, Profile::RequestState)
}

impl<C: AsRequestContext, T: DeserializeOwned> FromContextPart<C> for State<T> {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        Self::of(context.as_request_context())
    }
}

/// Logs must not contain payloads.
impl<T> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("received", &self.received.is_some())
            .finish()
    }
}
