//! What an adapter tells the engine: messages, and what came of the steps.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Principal;

/// What a client sent where a text is expected. JSON's `null` is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sent<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// A text of well-formed Unicode.
    Text(&'a str),
    /// Something else, which is never good.
    Other,
}

impl<'a> Sent<'a> {
    /// The text.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Other => None,
        }
    }

    pub(super) fn owned(self) -> Kept {
        match self {
            Self::Absent => Kept::Absent,
            Self::Text(text) => Kept::Text(text.into()),
            Self::Other => Kept::Other,
        }
    }
}

impl<'a> From<Option<&'a str>> for Sent<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// A [`Sent`] that outlives its message.
#[derive(Debug, Default)]
pub(super) enum Kept {
    #[default]
    Absent,
    Text(String),
    Other,
}

impl Kept {
    pub fn sent(&self) -> Sent<'_> {
        match self {
            Self::Absent => Sent::Absent,
            Self::Text(text) => Sent::Text(text),
            Self::Other => Sent::Other,
        }
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A request or a notification, as it comes to the SDK's handlers.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    /// The method.
    pub method: &'a str,
    /// The member of `params` that [`Carried::target`](super::Carried::target) names, where it is a
    /// text.
    pub target: Option<&'a str>,
    /// `params.arguments` as JSON, as they came: before any handler had them in its hands.
    pub arguments: Option<&'a str>,
    /// Whether nobody waits for an answer.
    pub notification: bool,
    /// Whether the message is of revision 2026-07-28 or later, by the SDK's own rule.
    pub modern: bool,
    /// The HTTP header `Mcp-Session-Id`.
    pub header: Option<&'a str>,
    /// The member of `params` that [`Carried::param`](super::Carried::param) names.
    pub carried: Sent<'a>,
    /// `params._meta["io.modelcontextprotocol/session"]`, whatever it is.
    pub session: Option<SentSession<'a>>,
    /// Who asks, where that is known already.
    pub principal: Option<Principal>,
}

/// The metadata of a data-layer session, as a client sent it. What is no object has neither member.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentSession<'a> {
    /// `sessionId`.
    pub id: Sent<'a>,
    /// `state`.
    pub state: Sent<'a>,
}

/// A message around HTTP or stdio, before the SDK sees it: for `Mcp-Session-Id` of the revisions to
/// 2025-11-25, and SEP-1359.
#[derive(Clone, Debug, Default)]
pub struct TransportMessage<'a> {
    /// The method of an HTTP request: `POST`, `GET` or `DELETE`; `None` on stdio.
    pub http: Option<&'a str>,
    /// The method of the JSON-RPC message; `None` of a client's answer, and where there is no message.
    pub method: Option<&'a str>,
    /// Whether nobody waits for an answer.
    pub notification: bool,
    /// Whether the message is of revision 2026-07-28 or later, by the SDK's own rule.
    pub modern: bool,
    /// The HTTP header `MCP-Protocol-Version`.
    pub version: Option<&'a str>,
    /// The HTTP header `Mcp-Session-Id`. More than one is [`Sent::Other`].
    pub header: Sent<'a>,
    /// SEP-1359's `sessionId`: beside `params`, or inside a client's `result`.
    pub inside: Sent<'a>,
    /// The `params` of `initialize` as JSON.
    pub initialize: Option<&'a str>,
    /// Who asks, where that is known already.
    pub principal: Option<Principal>,
}

/// What came of a step.
#[derive(Debug)]
pub enum Event<'a> {
    /// Who asks; of [`Step::Identify`](super::Step::Identify).
    Principal(Result<Principal, Failed>),
    /// Whether it is accepted, or the end remembered; of [`Step::Ask`](super::Step::Ask).
    Answer(Verdict),
    /// What the ledger replied; of [`Step::Ledger`](super::Step::Ledger).
    Ledger(Result<Vec<String>, Failed>),
    /// What the author's functions made of the latest value, as JSON; of
    /// [`Step::Update`](super::Step::Update).
    Updated(Result<&'a str, Failed>),
    /// The first value of a session as JSON; of [`Step::Begin`](super::Step::Begin). Or a failure of
    /// [`Step::Deliver`](super::Step::Deliver): the SDK refuses to begin again what was negotiated.
    Begun(Result<&'a str, Failed>),
    /// What the SDK is about to send; of [`Step::Deliver`](super::Step::Deliver).
    Left(Head<'a>),
}

/// Something of the author's failed. The text is for the log: it must not hold what an exception of
/// another's says, which may be a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

/// What the author's `accept` said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted; or the end is remembered.
    Yes,
    /// Used already, or ended: the one at this place among those that were asked for.
    No(usize),
    /// It failed, or was too late.
    Unavailable(Failed),
}

/// The extract of a result that the engine has to see.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// Which kind of result it is.
    pub outcome: Outcome,
    /// The member that [`Carried::result`](super::Carried::result) names.
    pub token: Sent<'a>,
    /// `cacheScope`.
    pub scope: Option<Scope>,
    /// Whether the SDK leaves no place for `_meta` in this result.
    pub no_meta: bool,
    /// The whole result of `initialize`, as JSON.
    pub initialized: Option<&'a str>,
}

/// The kinds of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// A result.
    #[default]
    Complete,
    /// A result with `resultType: "input_required"`.
    InputRequired,
    /// A JSON-RPC error.
    Error,
}

/// Who may be handed a result by a cache (2026-07-28, `server/utilities/caching`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Any user.
    Public,
    /// The user who asked.
    Private,
}
