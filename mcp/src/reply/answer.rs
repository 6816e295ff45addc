//! The fixed answers to clients, one for each part of the protocol (SPEC.md, "What a failure looks
//! like on the wire").

use std::borrow::Cow;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use crate::confirm::Said;
use crate::confirm::card::TOOL;
use crate::message::members::is_false;
use sealwax::{Error, SessionMetadata};

/// The part of the protocol of a refused token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// `sep-1359`: a session of SEP-1359.
    Sep1359,
    /// `data-layer`: a data-layer session.
    DataLayer,
    /// `data-layer-required`: a data-layer session is required, and none was sent.
    DataLayerRequired,
    /// `request-state`: `requestState` of revision 2026-07-28.
    RequestState,
    /// `cursor`: a cursor of a list method.
    Cursor,
    /// `mcp-session-id`: the HTTP header of the revisions up to 2025-11-25.
    McpSessionId,
    /// `handle`: a handle in a tool call's arguments.
    Handle,
}

/// An answer to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Answer {
    /// A JSON-RPC error object: the value of `error`.
    Error(RpcError),
    /// A bare HTTP status.
    HttpStatus(u16),
    /// The result of a `tools/call`, which tells the model what to do.
    ToolResult(ToolResult),
}

/// A JSON-RPC 2.0 error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: Cow<'static, str>,
    /// The data, if the profile has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        test,
        schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")
    )]
    pub data: Option<ErrorData>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// The answer to an authentic state of a session that is not the latest one. A ledger uses it to
/// keep two writers of one session from overwriting each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stale {
    /// Whether the handler ran, and its result was discarded: sending the request again may repeat
    /// its side effects. If not, send it again with the latest state.
    pub ran: bool,
    /// The session with its latest state.
    pub session: SessionMetadata,
}

/// The data of an [`RpcError`]: an object of one member, or a [`Stale`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ErrorData {
    /// The session id that the client sent.
    SessionId(String),
    /// A reason, the same for every failure.
    Reason(&'static str),
    /// The latest state of a session.
    #[serde(untagged)]
    Stale(Box<Stale>),
}

/// The result of a tool that did not run: with `isError` and one text, or one that requires input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// The text for the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<TextContent>,
    /// Whether it is an error.
    #[serde(skip_serializing_if = "is_false")]
    pub is_error: bool,
    /// The member that each result of revision 2026-07-28 has, where no handler sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<&'static str>,
    /// The questions of a result that requires input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        test,
        schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")
    )]
    pub input_requests: Option<InputRequests>,
    /// The state that comes back with the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// The latest state of the session.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        test,
        schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")
    )]
    pub meta: Option<Meta>,
}

/// The question of a confirmation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InputRequests {
    /// The one question.
    #[serde(rename = "io.github.sealwax/confirm")]
    pub confirm: InputRequest,
}

/// A question for a client's user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InputRequest {
    /// Always `elicitation/create`.
    pub method: &'static str,
    /// Its params.
    pub params: Value,
}

/// The `_meta` of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Meta {
    /// Of one whose session's state is not the latest one.
    Stale(StaleMeta),
    /// What a page of the guard's shows.
    Card(Value),
}

/// [`Stale`] as `_meta` of a tool's result, so that a client of the draft can continue as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StaleMeta {
    /// The session with its latest state.
    #[serde(rename = "io.modelcontextprotocol/session")]
    pub session: SessionMetadata,
    /// Whether the handler ran.
    #[serde(rename = "io.github.sealwax/stale")]
    pub stale: Ran,
}

/// Whether a handler ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ran {
    /// As [`Stale::ran`].
    pub ran: bool,
}

impl Stale {
    /// Returns the answer for a method: a result with `isError` for `tools/call`; for the others an
    /// error, -32044 if nothing ran and -32045 if the handler ran.
    #[must_use]
    pub(crate) fn answer(self, method: &str, modern: bool) -> Answer {
        let ran = self.ran;
        if method == "tools/call" {
            return Answer::ToolResult(ToolResult {
                meta: Some(Meta::Stale(StaleMeta {
                    session: self.session,
                    stale: Ran { ran },
                })),
                ..ToolResult::for_model(if ran { RAN } else { NOT_RAN }, modern)
            });
        }
        let data = Some(ErrorData::Stale(Box::new(self)));
        if ran {
            Answer::error(-32045, "Session changed meanwhile", data)
        } else {
            Answer::error(-32044, "Session state is not the latest", data)
        }
    }

    pub(crate) fn new(ran: bool, session: SessionMetadata) -> Self {
        Self { ran, session }
    }
}

const NOT_RAN: &str = "Nothing was done, because the session has changed meanwhile. Try again.";
const RAN: &str = "The session has changed while the tool ran, so its result was discarded. What it did \
                   outside of the session may have been done: check before you try again.";

/// The text of a [`ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TextContent {
    /// Always `text`.
    #[serde(rename = "type")]
    pub content_type: &'static str,
    /// The text.
    pub text: Cow<'static, str>,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 7] = [
        Self::Sep1359,
        Self::DataLayer,
        Self::DataLayerRequired,
        Self::RequestState,
        Self::Cursor,
        Self::McpSessionId,
        Self::Handle,
    ];

    /// Returns the name, the same in every language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sep1359 => "sep-1359",
            Self::DataLayer => "data-layer",
            Self::DataLayerRequired => "data-layer-required",
            Self::RequestState => "request-state",
            Self::Cursor => "cursor",
            Self::McpSessionId => "mcp-session-id",
            Self::Handle => "handle",
        }
    }

    /// Returns the answer to every refusal. `session_id` is the one that the client sent; it is
    /// echoed only if the profile does so and it is well formed.
    ///
    /// ```
    /// use sealwax_mcp::Profile;
    ///
    /// assert_eq!(
    ///     Profile::RequestState.refusal(None).to_json(),
    ///     r#"{"error":{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}}"#,
    /// );
    /// ```
    #[must_use]
    pub fn refusal(self, session_id: Option<&str>) -> Answer {
        let echo = || {
            let session_id = session_id.filter(|id| is_well_formed(id))?;
            Some(ErrorData::SessionId(session_id.into()))
        };
        match self {
            Self::Sep1359 => Answer::error(-32003, "Invalid or expired session", echo()),
            Self::DataLayer => Answer::error(-32043, "Session not found", echo()),
            Self::DataLayerRequired => Answer::error(
                -32043,
                "Session required",
                Some(ErrorData::Reason("session_required")),
            ),
            Self::RequestState => Answer::error(
                -32602,
                "Invalid or expired requestState",
                Some(ErrorData::Reason("invalid_request_state")),
            ),
            Self::Cursor => Answer::error(-32602, "Invalid cursor", None),
            Self::McpSessionId => Answer::HttpStatus(404),
            Self::Handle => Answer::tool_error(
                "This handle is not valid: it may be mistyped, expired or not yours. \
                 Create a new one, and use it exactly as it is returned.",
            ),
        }
    }

    /// Returns the answer to an error: the profile's one answer for every refusal, so that the
    /// server does not reveal which check failed; an internal error for faults of the server.
    #[must_use]
    pub fn answer(self, error: &Error, session_id: Option<&str>) -> Answer {
        if error.is_refusal() {
            self.refusal(session_id)
        } else {
            self.internal_error()
        }
    }

    /// Returns the answer to a caller who is not known.
    pub(crate) fn unauthenticated(self) -> Answer {
        match self {
            Self::Handle => Answer::tool_error("Authentication required"),
            _ => Answer::error(-32602, "Authentication required", None),
        }
    }

    /// Returns the answer to a failure of the server: the client's session may still be valid.
    #[must_use]
    pub fn internal_error(self) -> Answer {
        match self {
            Self::McpSessionId => Answer::HttpStatus(500),
            Self::Handle => {
                Answer::tool_error("The server failed. Try again later with the same handle.")
            }
            _ => Answer::error(-32603, "Internal error", None),
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| {
                Error::argument(
                    "profile: expected sep-1359, data-layer, data-layer-required, request-state, \
                 cursor, mcp-session-id or handle",
                )
            })
    }
}

impl Answer {
    /// Returns the answer as JSON: `{"error": …}`, `{"httpStatus": …}` or `{"toolResult": …}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn invalid_params() -> Self {
        Self::error(-32602, "Invalid params", None)
    }

    fn error(code: i32, message: &'static str, data: Option<ErrorData>) -> Self {
        Self::Error(RpcError {
            data,
            ..RpcError::new(code, message)
        })
    }

    /// Returns what a model hears of arguments that a `requestState` cannot be bound to.
    pub(crate) fn invalid_arguments(why: &Error, modern: bool) -> Self {
        Self::for_model(format!("Invalid arguments. {why}"), modern)
    }

    /// Returns a result that requires the answer to a form.
    pub(crate) fn input_required(form: Value, state: String) -> Self {
        Self::ToolResult(ToolResult {
            result_type: Some("input_required"),
            input_requests: Some(InputRequests {
                confirm: InputRequest {
                    method: "elicitation/create",
                    params: form,
                },
            }),
            request_state: Some(state),
            ..ToolResult::default()
        })
    }

    /// Returns what a model hears of a call that its user did not confirm.
    pub(crate) fn not_confirmed(tool: &str, said: Said, modern: bool) -> Self {
        let text = match said {
            Said::No => format!(
                "The user declined. {tool} was not run. Do not try again unless the user asks for it."
            ),
            Said::Dismissed => {
                format!("The user closed the question without an answer. {tool} was not run.")
            }
            Said::Yes | Said::NotShown => format!(
                "{tool} was not run: it needs the user's consent, and this client did not ask for it. Tell the user to use a \
                 client that supports elicitation."
            ),
        };
        Self::for_model(text, modern)
    }

    /// Returns what a model hears that brings the answer itself.
    pub(crate) fn preview(tool: &str, words: &str, consent: &str, modern: bool) -> Self {
        Self::for_model(
            format!(
                "{tool} was not run: it needs the user's consent, and this client did not ask for it. Ask the user yourself, and \
                 wait for the answer: {words}\nOnly if the user agrees, call {TOOL} with tool {tool}, the same arguments, and \
                 confirmation {consent}"
            ),
            modern,
        )
    }

    /// Returns what a model hears while its user is asked on a page, which gets the rest.
    pub(crate) fn card(tool: &str, card: Value, modern: bool) -> Self {
        let text = format!(
            "[card] The user is asked on a card. {tool} was not run: do not call it again, wait for the user's answer. If the \
             user sees no card, say that this client cannot ask."
        );
        Self::ToolResult(ToolResult {
            meta: Some(Meta::Card(card)),
            ..ToolResult::for_model(text, modern)
        })
    }

    /// Returns what is heard of a call without a consent, where the client asks its user in another way.
    pub(crate) fn asked_elsewhere(tool: &str, modern: bool) -> Self {
        let text = format!(
            "{tool} was not run by this call: its user is asked where {tool} itself is called."
        );
        Self::for_model(text, modern)
    }

    /// Returns what a model hears of a consent that does not count.
    pub(crate) fn no_consent(tool: &str, modern: bool) -> Self {
        Self::for_model(
            format!(
                "{tool} was not run: this confirmation does not count. It may be used, expired, not yours, or for other \
                 arguments. Call {tool} again to get a new one."
            ),
            modern,
        )
    }

    /// Returns what a model hears of a tool that could not make what it hands out.
    pub(crate) fn failed() -> Self {
        Self::tool_error("The server failed. Try again later.")
    }

    /// Returns what a model hears of a cursor in its arguments.
    pub(crate) fn invalid_cursor(tool: &str, argument: &str, why: &str) -> Self {
        let text = format!(
            "This {argument} is not valid. {why}. Call {tool} without {argument} for the first page."
        );
        Self::for_model(text, false)
    }

    fn for_model(text: String, modern: bool) -> Self {
        Self::ToolResult(ToolResult::for_model(text, modern))
    }

    fn tool_error(text: &'static str) -> Self {
        Self::ToolResult(ToolResult::for_model(text, false))
    }
}

impl ToolResult {
    /// Makes the result of a tool that did not run. Those of revision 2026-07-28 say that they are complete.
    fn for_model(text: impl Into<Cow<'static, str>>, modern: bool) -> Self {
        Self {
            content: vec![TextContent {
                content_type: "text",
                text: text.into(),
            }],
            is_error: true,
            result_type: modern.then_some("complete"),
            ..Self::default()
        }
    }
}

/// The limit of a text field in bytes (SPEC.md).
pub(crate) const FIELD_LIMIT: usize = 1024;

/// Returns whether it is visible ASCII, as the draft requires, and not too long.
fn is_well_formed(session_id: &str) -> bool {
    (1..=FIELD_LIMIT).contains(&session_id.len())
        && session_id.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::{Answer, Stale};
    use sealwax::SessionMetadata;

    #[test]
    fn a_model_is_told_what_became_of_its_call() {
        for (ran, text) in [
            (
                false,
                "Nothing was done, because the session has changed meanwhile. Try again.",
            ),
            (
                true,
                "The session has changed while the tool ran, so its result was discarded. What it did outside of \
                 the session may have been done: check before you try again.",
            ),
        ] {
            let session = SessionMetadata::new("sess_1", None);
            match Stale::new(ran, session).answer("tools/call", true) {
                Answer::ToolResult(tool) => assert_eq!(tool.content[0].text, text),
                other => panic!("{other:?}"),
            }
        }
    }
}
