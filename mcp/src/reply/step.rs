//! The steps that the engine asks of an adapter.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::ledger::Command;
use crate::message::input::{Predecessor, Scope};
#[cfg(feature = "documents")]
use crate::message::json;
use crate::message::members::{Millis, PrincipalMembers, is_false};
use crate::reply::answer::{Answer, RpcError, ToolResult};
use sealwax::{Error, Principal, SessionMetadata};

/// The next step of an adapter. [`Respond`](Self::Respond), [`Reply`](Self::Reply),
/// [`Done`](Self::Done) and [`Drop`](Self::Drop) end the exchange; the adapter reports the outcome
/// of all others by an [`Event`](crate::Event).
#[derive(Debug)]
pub enum Step {
    /// Resolve the caller, at most once per request.
    Identify,
    /// Run this command on the ledger, within its time, and report its reply.
    Ledger(Box<Command>),
    /// Get the first value of a new session from the author.
    Begin,
    /// Get the question of a confirmation from the author's function, which has the arguments of this call.
    Word(Box<Called>),
    /// Ask the user by `elicitation/create`, a request to the client that belongs to this one.
    Elicit(Box<Elicitation>),
    /// Read the body of the HTTP request, and give it to [`Exchange::body`](crate::Exchange::body).
    Body,
    /// Send the SDK the line in [`Exchange::text`](crate::Exchange::text), and report its answer, the text beside
    /// [`Replayed`](Self::Replayed).
    Replay,
    /// The line was the SDK's answer to [`Replay`](Self::Replay), and is not for the client.
    Replayed,
    /// Get a page of the server's own list of tools for this caller, around the guard, within its time.
    List(Box<List>),
    /// Deliver the message, and report the result before it is sent, as [`Deliver::report`] says.
    Deliver(Box<Deliver>),
    /// Send the result, with these changes.
    Respond(Box<Respond>),
    /// Answer instead of the handler, or instead of its result.
    Reply(Reply),
    /// Return this to the handler, which asked for an operation on a handle.
    Done(Box<HandleResult>),
    /// Discard the message without an answer.
    Drop,
}

/// What a step asks, by its name in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Question {
    /// Who the caller is.
    Principal,
    /// What the ledger replies to a command.
    Ledger,
    /// The first value of a session.
    Initial,
    /// The question of a confirmation.
    Confirm,
    /// The user's answer to it.
    Elicit,
    /// The body of an HTTP request.
    Body,
    /// The SDK's answer to an `initialize` of ours.
    Replay,
    /// A page of the server's own list of tools.
    #[serde(rename = "list_tools")]
    ListTools,
}

/// A call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Called {
    /// The name of the tool.
    pub name: String,
    /// Its arguments; an empty object for none.
    pub arguments: Value,
}

#[cfg(feature = "documents")]
impl Called {
    /// Returns the `params` of its request.
    #[cold]
    pub(crate) fn params(&self) -> Value {
        let [name, arguments] = [&self.name.as_str().into(), &self.arguments].map(json::written);
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        json::read(&params).unwrap_or_default()
    }
}

/// A question for the user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The `params` of `elicitation/create`.
    pub params: Value,
}

impl Elicitation {
    /// How long a user may take: a client waits a minute for the result of its call.
    pub const WITHIN: Duration = Duration::from_secs(50);
}

/// A page of the server's list of tools.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct List {
    /// Where it begins, as the page before says; `None` for the first.
    pub cursor: Option<String>,
    /// How long it may take.
    pub within: Duration,
}

#[cfg(feature = "documents")]
impl List {
    /// Returns the `params` of its request, if there are any.
    #[cold]
    pub(crate) fn params(&self) -> Option<Value> {
        let cursor = json::written(&self.cursor.as_deref()?.into());
        json::read(&format!(r#"{{"cursor":{cursor}}}"#))
    }
}

/// The kinds of things that a guard handles, by their names in every language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Item {
    /// `request-state`: `requestState` of revision 2026-07-28.
    RequestState,
    /// `cursor`: a cursor of a list method.
    Cursor,
    /// `handle`: the key of a row in the server's store.
    Handle,
    /// `handle-state`: a handle that holds its state.
    HandleState,
    /// `link`: a value that is opened elsewhere, by whoever has the link.
    Link,
    /// `session`: a session of any proposal.
    Session,
}

impl Item {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestState => "request-state",
            Self::Cursor => "cursor",
            Self::Handle => "handle",
            Self::HandleState => "handle-state",
            Self::Link => "link",
            Self::Session => "session",
        }
    }

    #[cfg(feature = "documents")]
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [
            Self::RequestState,
            Self::Cursor,
            Self::Handle,
            Self::HandleState,
            Self::Link,
            Self::Session,
        ];
        all.into_iter().find(|item| item.name() == name)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message on its way to the SDK.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Deliver {
    /// The opened value, for the member of `params` that carries it. `None`: the member is absent
    /// and stays so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<String>,
    /// The result, as JSON, of a method that the guard serves itself: the SDK's handler returns
    /// this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin_result: Option<String>,
    /// The negotiated values of the session of the transport, as JSON: `protocolVersion`,
    /// `clientCapabilities`, `clientInfo`, `serverCapabilities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negotiated: Option<String>,
    /// The id of that session's token, for logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The end of that session's own lifetime, in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The value for the missing header `MCP-Protocol-Version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The `sessionId` to add to every message sent for it: inside a `result`, or beside `params`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_session_id: Option<String>,
    /// The results to report before they are sent.
    #[serde(skip_serializing_if = "Report::is_never")]
    pub report: Report,
    /// The time that is left for what the message may still have to ask: for the
    /// [`Message::within`](crate::Message::within) of the message inside.
    #[serde(rename = "withinMs", with = "Millis")]
    pub within: Duration,
}

/// The results that an adapter reports before they are sent. An error need not be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(into = "ReportDocument")]
pub enum Report {
    /// None.
    #[default]
    Never,
    /// Those with this member.
    Member(&'static str),
    /// All.
    Always,
}

impl Report {
    fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

/// The forms of [`Report`] in a document.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum ReportDocument {
    Always(bool),
    Member(&'static str),
}

impl From<Report> for ReportDocument {
    fn from(report: Report) -> Self {
        match report {
            Report::Member(member) => Self::Member(member),
            report => Self::Always(report == Report::Always),
        }
    }
}

/// Changes to a result before it is sent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Respond {
    /// The new value of the member of the result that carries a token.
    pub token: Option<String>,
    /// The new value of `_meta["io.modelcontextprotocol/session"]` of the result.
    pub metadata: Option<SessionMetadata>,
    /// The new value of `cacheScope`, so that no cache keeps the result for others.
    pub cache_scope: Option<Scope>,
    /// The new value of `ttlMs`.
    pub ttl_ms: Option<u64>,
    /// Whether to add `sessions` and `experimental.sessions`, both `{}`, to the capabilities.
    pub declare: bool,
    /// The header `Mcp-Session-Id`.
    pub header: Option<String>,
    /// For SEP-1359: add the header's value as `sessionId` to the result, and these seconds as
    /// `sessionTimeout`.
    pub timeout: Option<u64>,
    /// The new value of `tools`.
    pub tools: Option<Box<Value>>,
}

/// An answer of the engine. If the SDK speaks HTTP itself, the SDK chooses the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Reply {
    /// The status of an HTTP response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The header `Allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<&'static str>,
    /// A JSON-RPC error, with the request's id, or `null` if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
    /// Whether a JSON-RPC result `{}` answers the request.
    #[serde(skip_serializing_if = "is_false")]
    pub done: bool,
    /// The result of a tool whose handle was refused, or whose session's state is not the latest
    /// one. Outside of tools it is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Box<ToolResult>>,
    /// A JSON-RPC result: of a resource of the guard's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        test,
        schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")
    )]
    pub result: Option<Box<Value>>,
}

impl Reply {
    /// Returns the answer of a server that failed to make or read a link or a cursor: for the model, and as a JSON-RPC error.
    #[must_use]
    pub fn failed() -> Self {
        Self {
            error: Some(RpcError::new(-32603, "Internal error")),
            ..Self::from(Answer::failed())
        }
    }

    pub(crate) fn error(code: i32, message: &'static str) -> Self {
        Self {
            error: Some(RpcError::new(code, message)),
            ..Self::default()
        }
    }
}

/// The result of an operation on a handle, a link, or a cursor in a result.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HandleResult {
    /// The handle, the link or the cursor, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The ulid of a handle that is the key of a row, else the token id; empty for the first page.
    pub id: String,
    /// Its end, for the model to read: `YYYY-MM-DDTHH:MM:SSZ`. `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The value that it holds, as JSON; `None` for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Of an opened link: whose it is.
    #[serde(skip_serializing_if = "Option::is_none", with = "PrincipalMembers")]
    #[cfg_attr(
        test,
        schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")
    )]
    pub principal: Option<Principal>,
    /// For a handle that holds its state: the data to make its successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<Predecessor>,
    /// For a handle that holds its state: its times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<HandleTimes>,
}

/// The times of a handle that holds its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HandleTimes {
    /// The time of making, in Unix seconds.
    pub issued_at: u64,
    /// Its end, in Unix seconds. `None` for never.
    pub expires_at: Option<u64>,
    /// Whether an older key made it.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_reseal: bool,
    /// Whether to renew it now.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_renewal: bool,
}

pub(crate) const OUT_OF_ORDER: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "exchange: expected a call that follows the last step, before the answer is sent",
));
