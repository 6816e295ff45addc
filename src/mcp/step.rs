//! What the engine tells an adapter to do.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{RpcError, ToolResult};
use crate::SessionMetadata;
use crate::ledger::Command;

/// What an adapter does next. All but [`Leave`](Self::Leave), [`Reply`](Self::Reply),
/// [`Done`](Self::Done) and [`Drop`](Self::Drop), which end the exchange, it reports back by an
/// [`Event`](super::Event).
#[derive(Debug)]
pub enum Step {
    /// Find out who asks, at most once for each request.
    Identify,
    /// Ask the author's `accept`, or tell it of an end.
    Ask(Question),
    /// Have the ledger do this, and report its reply.
    Ledger(Box<Command>),
    /// Get the first value of a new session from the author.
    Begin,
    /// Apply what was given to [`Exchange::update`](super::Exchange::update) to this value, as JSON, which
    /// somebody else wrote in the meantime: all of it, in its order.
    Update(String),
    /// Hand the message over, and report what is about to leave as [`Deliver::watch`] says.
    Deliver(Box<Deliver>),
    /// Send what was about to leave, with these changes.
    Leave(Box<Leave>),
    /// Answer in the handler's stead, or in place of what it gave.
    Reply(Reply),
    /// Give this to the handler that acted.
    Done(Box<Made>),
    /// Let the message go no further; nothing answers it.
    Drop,
}

/// What a guard handles, by the names that every language has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Item {
    /// `request-state`: `requestState` of revision 2026-07-28.
    RequestState,
    /// `cursor`: a cursor of a list method.
    Cursor,
    /// `handle`: the key of a row of the server's.
    Handle,
    /// `handle-state`: a handle that holds its state.
    HandleState,
    /// `session`: a session, of whatever proposal.
    Session,
}

impl Item {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestState => "request-state",
            Self::Cursor => "cursor",
            Self::Handle => "handle",
            Self::HandleState => "handle-state",
            Self::Session => "session",
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What `accept` is asked or told: only of what is authentic, of this user and in its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// Whether all of these are accepted: nothing may be used up unless all are.
    Accept(Vec<Presented>),
    /// This ends before its time, and is to be accepted no more.
    End(Presented),
}

/// A token that passed every check of its seal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presented {
    /// What it is.
    pub item: Item,
    /// The token id, or the ulid of a handle or a data-layer session: 32 hex digits.
    pub id: String,
    /// From this second on nothing of it opens anywhere, in Unix seconds: its end rounded up, and the
    /// largest skew of a replica's clock. `None` where it never ends.
    pub until: Option<u64>,
    /// Whether it is anybody's, and not of who presents it: a cursor of a page that any cache may hand to
    /// any user.
    pub public: bool,
}

/// A message on its way to the SDK.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Deliver {
    /// What was sealed: to stand in the member of `params` that carries it. `None`: leave that as it
    /// is, for it is absent.
    pub carried: Option<String>,
    /// The result, as JSON, of a method that is the guard's own: the SDK's handler of it gives this.
    pub own: Option<String>,
    /// What was negotiated by the session of the transport, as JSON: `protocolVersion`,
    /// `clientCapabilities`, `clientInfo`, `serverCapabilities`.
    pub negotiated: Option<String>,
    /// The id of that session's token, for logs.
    pub token_id: Option<String>,
    /// When that session ends by its own lifetime, in Unix seconds.
    pub expires_at: Option<u64>,
    /// The value for the header `MCP-Protocol-Version`, which is missing.
    pub version: Option<String>,
    /// The `sessionId` for every message that leaves for it: inside a `result`, or beside `params`.
    pub stamp: Option<String>,
    /// When to report what is about to leave.
    pub watch: Watch,
}

/// When an adapter reports what is about to leave. An error never needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// It does not matter to the engine.
    #[default]
    Never,
    /// Where the result has this member.
    Member(&'static str),
    /// Of every result.
    Always,
}

/// Changes of what is about to leave.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Leave {
    /// What stands in the member of the result that carries a token.
    pub token: Option<String>,
    /// What stands in `_meta["io.modelcontextprotocol/session"]` of the result.
    pub metadata: Option<SessionMetadata>,
    /// No cache may keep it: `cacheScope` is `private` and `ttlMs` is 0, where the result has them.
    pub private: bool,
    /// The capabilities have `sessions` and `experimental.sessions`, both `{}`.
    pub declare: bool,
    /// The header `Mcp-Session-Id`.
    pub header: Option<String>,
    /// With SEP-1359: the result has the header's value as `sessionId`, and these seconds as
    /// `sessionTimeout`.
    pub timeout: Option<u64>,
}

/// An answer of the engine's own. Where HTTP is spoken below an SDK, the SDK chooses its status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The status of an HTTP response.
    pub status: Option<u16>,
    /// The header `Allow`.
    pub allow: Option<&'static str>,
    /// A JSON-RPC error, under the request's id, or `null` where it has none.
    pub error: Option<RpcError>,
    /// Whether a JSON-RPC result `{}` answers the request.
    pub done: bool,
    /// The result of a tool whose handle was refused, or whose session's state is not the latest one.
    /// Elsewhere than in a tool it is `error`.
    pub tool: Option<Box<ToolResult>>,
}

impl Reply {
    pub(super) fn error(code: i32, message: &'static str) -> Self {
        let data = None;
        Self {
            error: Some(RpcError {
                code,
                message,
                data,
            }),
            ..Self::default()
        }
    }
}

/// What an act of a handler gave.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Made {
    /// The handle, where one was made.
    pub handle: Option<String>,
    /// The ulid of a handle that is the key of a row, or the token id of one that holds its state.
    pub id: String,
    /// When it ends, for the model to see: `YYYY-MM-DDTHH:MM:SSZ`. `None` for never.
    pub expires_at: Option<String>,
    /// What a handle holds, as JSON.
    pub value: Option<String>,
    /// Of a handle that holds its state: what the next one of its chain is made from.
    pub before: Option<Before>,
    /// Of a handle that holds its state.
    pub life: Option<Life>,
}

/// What a handle that holds its state tells of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Life {
    /// When it was made, in Unix seconds.
    pub issued_at: u64,
    /// When it ends, in Unix seconds. `None` for never.
    pub expires_at: Option<u64>,
    /// Whether an older key made it.
    pub needs_reseal: bool,
    /// Whether it is time to make it anew.
    pub needs_renewal: bool,
}

/// What renewing a handle has to know of the one before; only opening tells it. Times are in Unix seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// When the first of the chain was made.
    pub started_at: u64,
    /// How many came before.
    pub generation: u32,
    /// The id of its token.
    pub id: String,
    /// When that was sealed.
    pub issued_at: u64,
    /// From when on nothing of it opens.
    pub until: Option<u64>,
}

/// What was refused, or failed: for the author's hook and log. It holds no token and no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// A code of [`Error`](crate::Error), `not_accepted` or `accept_unavailable`.
    pub code: &'static str,
    /// What it was.
    pub item: Item,
    /// The token id, or the ulid, where it can be told. Only what opened is known to be ours.
    pub token_id: Option<String>,
    /// What was expected and what was found.
    pub message: String,
}
