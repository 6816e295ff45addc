//! The one fixed answer that a client gets, by the part of the protocol it speaks
//! (SPEC.md, "What a failure looks like on the wire").

use alloc::boxed::Box;
use alloc::string::String;
use core::str::FromStr;

use serde::Serialize;

use crate::format::text::FIELD_LIMIT;
use crate::{Error, SessionMetadata};

/// Which part of the protocol a refused token came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// `sep-1359`: a session of SEP-1359.
    Sep1359,
    /// `data-layer`: a data-layer session.
    DataLayer,
    /// `data-layer-required`: a data-layer session was needed, and none was sent.
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

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Answer {
    /// A JSON-RPC error object: the value of `error`.
    Error(RpcError),
    /// A bare HTTP status.
    HttpStatus(u16),
    /// The result of a `tools/call` that tells the model what to do.
    ToolResult(ToolResult),
}

/// A JSON-RPC 2.0 error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: &'static str,
    /// The data, where the profile has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

/// What a client is told whose session's state is authentic, and not the latest one. With a ledger, two
/// writers of one session do not overwrite each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stale {
    /// Whether the handler ran, so that its result was discarded: whoever sends the request again may do
    /// twice what it did elsewhere. If not, it is to be sent again with the latest state.
    pub ran: bool,
    /// The session with its latest state.
    pub session: SessionMetadata,
}

/// The data of an [`RpcError`]: an object of one member, or what is stale.
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

/// A `CallToolResult` with `isError` and one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model reads.
    pub content: [TextContent; 1],
    /// Always true.
    pub is_error: bool,
    /// What every result of revision 2026-07-28 has, where no handler gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<&'static str>,
    /// The latest state of the session.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<StaleMeta>,
}

/// [`Stale`] as `_meta` of a tool's result, so that a client that knows only the draft goes on too.
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
    /// What is told in a method: of `tools/call` a result with `isError`, of the others an error, -32044 if
    /// nothing ran and -32045 if it did.
    #[must_use]
    pub(super) fn answer(self, method: &str, modern: bool) -> Answer {
        let ran = self.ran;
        if method == "tools/call" {
            return Answer::ToolResult(ToolResult {
                content: [TextContent {
                    content_type: "text",
                    text: if ran { RAN } else { NOT_RAN },
                }],
                is_error: true,
                result_type: modern.then_some("complete"),
                meta: Some(StaleMeta {
                    session: self.session,
                    stale: Ran { ran },
                }),
            });
        }
        let data = Some(ErrorData::Stale(Box::new(self)));
        if ran {
            Answer::error(-32045, "Session changed meanwhile", data)
        } else {
            Answer::error(-32044, "Session state is not the latest", data)
        }
    }

    pub(super) fn new(ran: bool, session: SessionMetadata) -> Self {
        Self { ran, session }
    }
}

const NOT_RAN: &str = "Nothing was done, because the session has changed meanwhile. Try again.";
const RAN: &str = "The session has changed while the tool ran, so its result was discarded. What it did \
                   outside of the session may have been done: check before you try again.";

/// The text of a [`ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TextContent {
    /// Always `text`.
    #[serde(rename = "type")]
    pub content_type: &'static str,
    /// The text.
    pub text: &'static str,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 7] = [
        Self::Sep1359,
        Self::DataLayer,
        Self::DataLayerRequired,
        Self::RequestState,
        Self::Cursor,
        Self::McpSessionId,
        Self::Handle,
    ];

    /// The name, the same in every language.
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

    /// The answer to whatever is refused. `session_id` is what the client sent; it is echoed
    /// only where the profile does so, and only if it is well formed.
    ///
    /// ```
    /// use sealwax::Profile;
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

    /// The answer when the server itself failed: the client's session may still be good.
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

impl Error {
    /// What to send to the client: the profile's one answer for every refusal, so that nobody
    /// can use the server to learn which check failed; an internal error for what is not the
    /// client's fault.
    #[must_use]
    pub fn answer(&self, profile: Profile, session_id: Option<&str>) -> Answer {
        if self.is_refusal() {
            profile.refusal(session_id)
        } else {
            profile.internal_error()
        }
    }
}

impl Answer {
    /// The answer as JSON: `{"error": …}`, `{"httpStatus": …}` or `{"toolResult": …}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts and numbers always have one.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn error(code: i32, message: &'static str, data: Option<ErrorData>) -> Self {
        Self::Error(RpcError {
            code,
            message,
            data,
        })
    }

    fn tool_error(text: &'static str) -> Self {
        Self::ToolResult(ToolResult {
            content: [TextContent {
                content_type: "text",
                text,
            }],
            is_error: true,
            result_type: None,
            meta: None,
        })
    }
}

/// Visible ASCII, as the draft has it, and not too long.
fn is_well_formed(session_id: &str) -> bool {
    (1..=FIELD_LIMIT).contains(&session_id.len())
        && session_id.bytes().all(|byte| byte.is_ascii_graphic())
}
