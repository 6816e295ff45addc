//! The adapter's input to the engine: messages, and the outcomes of steps.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use sealwax::Principal;

/// A client's value where a text is expected. JSON's `null` is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientValue<'a> {
    /// No value.
    #[default]
    Absent,
    /// A text of well-formed Unicode.
    Text(&'a str),
    /// Any other value, which is always refused.
    Other,
}

impl<'a> ClientValue<'a> {
    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Other => None,
        }
    }

    pub(crate) fn owned(self) -> OwnedClientValue {
        match self {
            Self::Absent => OwnedClientValue::Absent,
            Self::Text(text) => OwnedClientValue::Text(text.into()),
            Self::Other => OwnedClientValue::Other,
        }
    }
}

impl<'a> From<Option<&'a str>> for ClientValue<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ClientValue<'a> {
    /// Reads a member of a [`Value`](serde_json::Value), where an error leaves no rest unread.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(<&str>::deserialize(from).map_or(Self::Other, Self::Text))
    }
}

impl<'a> From<&'a Value> for ClientValue<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Absent,
            Value::String(text) => Self::Text(text),
            _ => Self::Other,
        }
    }
}

/// An owned [`ClientValue`].
#[derive(Debug, Default)]
pub(crate) enum OwnedClientValue {
    #[default]
    Absent,
    Text(String),
    Other,
}

impl OwnedClientValue {
    pub fn borrowed(&self) -> ClientValue<'_> {
        match self {
            Self::Absent => ClientValue::Absent,
            Self::Text(text) => ClientValue::Text(text),
            Self::Other => ClientValue::Other,
        }
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A request or a notification, as the SDK's handlers receive it.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    /// The method.
    pub method: &'a str,
    /// The member of `params` that [`TokenFields::target`](crate::TokenFields::target) names, if it is a
    /// text.
    pub target: Option<&'a str>,
    /// `params.arguments` as JSON, as received: before any handler could change them.
    pub arguments: Option<&'a str>,
    /// Whether it is a notification, which gets no answer.
    pub notification: bool,
    /// Whether the message is of revision 2026-07-28 or later, by the SDK's own rule.
    pub modern: bool,
    /// The HTTP header `Mcp-Session-Id`.
    pub header: Option<&'a str>,
    /// The member of `params` that [`TokenFields::param`](crate::TokenFields::param) names.
    pub token: ClientValue<'a>,
    /// `params._meta["io.modelcontextprotocol/session"]`, of any type.
    pub session: Option<ClientSession<'a>>,
    /// The caller, if the adapter knows it already.
    pub principal: Option<Result<Principal, Failed>>,
    /// The time that is left for its questions, if a wrapper asked some already
    /// ([`Deliver::within`](crate::Deliver::within)).
    pub within: Option<Duration>,
}

/// The metadata of a data-layer session, as a client sent it. Anything but an object has neither
/// member.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientSession<'a> {
    /// `sessionId`.
    pub id: ClientValue<'a>,
    /// `state`.
    pub state: ClientValue<'a>,
}

/// The client of a server some of whose tools are confirmed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client<'a> {
    /// Its capabilities, as JSON: of the request's `_meta`, or before revision 2026-07-28 of `initialize` on this connection.
    pub capabilities: Option<&'a str>,
    /// `params.inputResponses`, as JSON.
    pub responses: Option<&'a str>,
    /// Whether the server can send it a request while this one waits. A server for one request alone never can.
    pub can_be_asked: bool,
}

/// An operation on what a server hands out by itself: a handle of one type, a link of one name, a cursor in a tool's result.
/// Lifetimes are in whole seconds.
#[derive(Clone, Debug)]
pub struct HandleOp<'a> {
    /// The type of a handle or the name of a link: a small letter, then up to 31 small letters or digits. Of a cursor, the argument
    /// by which it comes back.
    pub handle_type: &'a str,
    /// The operation.
    pub kind: HandleOpKind<'a>,
}

/// The kind of operation. A model may pass anything, whatever the schema.
#[derive(Clone, Debug)]
pub enum HandleOpKind<'a> {
    /// Mint a handle that is the key of a row.
    Mint {
        /// Its lifetime; unlimited by default.
        max_age: Option<Duration>,
    },
    /// Check a handle that is the key of a row.
    Check {
        /// The value that the model passed.
        handle: ClientValue<'a>,
        /// Its lifetime, as when it was minted.
        max_age: Option<Duration>,
    },
    /// Mint a short handle, of a number of the caller's.
    MintShort {
        /// The number, such as the key of a row among the caller's own.
        number: u32,
    },
    /// Check a short handle.
    CheckShort {
        /// The value that the model passed.
        handle: ClientValue<'a>,
    },
    /// Seal a value, as JSON, into a handle that holds its state.
    Seal {
        /// The value.
        value: &'a str,
        /// Its lifetime: 24 hours by default.
        ttl: Option<Duration>,
        /// The handle that it replaces.
        predecessor: Option<Predecessor>,
        /// Whether this uses that handle up, which requires a ledger.
        once: bool,
    },
    /// Open a handle that holds its state.
    Open {
        /// The value that the model passed.
        handle: ClientValue<'a>,
        /// The maximum age since the first handle of its chain.
        max_age: Option<Duration>,
        /// Whether a used handle is refused.
        once: bool,
    },
    /// End a handle before its time.
    End {
        /// The value that the model passed.
        handle: ClientValue<'a>,
        /// Its lifetime, as when it was made.
        max_age: Option<Duration>,
        /// Whether it holds its state.
        self_contained: bool,
    },
    /// Seal a value, as JSON, into a link of the caller's, which is opened elsewhere, by whoever has it.
    SealLink {
        /// The value.
        value: &'a str,
        /// Its lifetime: 24 hours by default.
        ttl: Option<Duration>,
        /// Whether it is good once, which requires a ledger.
        once: bool,
    },
    /// Open a link.
    OpenLink {
        /// The text that came.
        link: ClientValue<'a>,
        /// Whether one that is good once stays so: what fetches a link to preview it must not use it up.
        keep: bool,
        /// Who opens it, if only the user whose it is may.
        by: Option<Principal>,
    },
    /// Seal a position, as JSON, into a cursor for the next call of the caller's with the same tool and other arguments.
    Cursor {
        /// The position.
        position: &'a str,
        /// Its lifetime: 24 hours by default.
        ttl: Option<Duration>,
        /// What the list is made of, if a cursor is not for another list: any text.
        list: Option<&'a str>,
    },
    /// Open the cursor that this call brought: without one it is the first page.
    Position {
        /// As [`Cursor`](Self::Cursor) had it.
        list: Option<&'a str>,
    },
}

/// The data of a handle that its successor needs, known from opening it. Times are in Unix seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Predecessor {
    /// The time of making of the first handle of the chain.
    pub started_at: u64,
    /// The number of handles before it in the chain.
    pub generation: u32,
    /// The id of its token.
    pub id: String,
    /// The time of sealing of that token.
    pub issued_at: u64,
    /// The time from which it opens nowhere.
    pub until: Option<u64>,
}

/// The outcome of a step.
#[derive(Debug)]
pub enum Event<'a> {
    /// The caller, or that the author's function found none; after
    /// [`Step::Identify`](crate::Step::Identify).
    Principal(Result<Option<Principal>, Failed>),
    /// The reply of the ledger; after [`Step::Ledger`](crate::Step::Ledger).
    Ledger(Result<Vec<String>, Failed>),
    /// The first value of a session as JSON; after [`Step::Begin`](crate::Step::Begin).
    Begun(Result<&'a str, Failed>),
    /// The question of a confirmation, as a JSON text; after [`Step::Word`](crate::Step::Word).
    Worded(Result<&'a str, Failed>),
    /// The result of `elicitation/create`, as JSON; after [`Step::Elicit`](crate::Step::Elicit).
    Elicited(Result<&'a str, Failed>),
    /// The SDK's answer to the line of [`Step::Replay`](crate::Step::Replay); after [`Step::Deliver`](crate::Step::Deliver) why the
    /// SDK cannot begin again what was negotiated.
    Replayed(Result<&'a str, Failed>),
    /// What was delivered failed, so that there is no answer: over HTTP what was expected and found, in words of the adapter's own;
    /// on stdio the SDK cannot read it.
    Broke(String),
    /// A page of the list of tools, as JSON; after [`Step::List`](crate::Step::List).
    Listed(Result<&'a str, Failed>),
    /// The result that the SDK is about to send; after [`Step::Deliver`](crate::Step::Deliver).
    Result(HandlerResult<'a>),
}

/// Why a question has no answer, for the log. No text may quote other code's exceptions, which may
/// hold a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// None came in time.
    Late,
    /// Something was thrown: the name of its type, or a code.
    Threw(String),
    /// What is wrong, in words of the adapter's own.
    Wrong(String),
}

impl Failed {
    /// Returns the entry's words; `asked` is the name of the question.
    pub(crate) fn says(self, asked: &str) -> String {
        match self {
            Self::Late => format!("{asked}: expected an answer in time, found none"),
            Self::Threw(found) => format!("{asked}: expected an answer, found {found}"),
            // Those of an error of ours begin with what they are about.
            Self::Wrong(why)
                if why
                    .strip_prefix(asked)
                    .is_some_and(|rest| rest.starts_with(": ")) =>
            {
                why
            }
            Self::Wrong(why) => format!("{asked}: {why}"),
        }
    }
}

/// The part of a result that the engine reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandlerResult<'a> {
    /// The kind of the result.
    pub outcome: Outcome,
    /// The member that [`TokenFields::result`](crate::TokenFields::result) names.
    pub token: ClientValue<'a>,
    /// `cacheScope`; a value that the protocol does not have is [`Scope::Private`].
    pub scope: Option<Scope>,
    /// Whether it has `ttlMs`.
    pub has_ttl: bool,
    /// Whether the SDK has no place for `_meta` in this result.
    pub no_meta: bool,
    /// The whole result, as JSON: of `initialize` around HTTP or stdio, and where
    /// [`Exchange::reports_whole`](crate::Exchange::reports_whole) says so.
    pub whole: Option<&'a str>,
}

/// The kinds of a result.
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

#[cfg(feature = "documents")]
impl Outcome {
    /// Reads a result's `resultType`.
    pub(crate) fn of(result_type: ClientValue<'_>) -> Self {
        match result_type {
            ClientValue::Text("input_required") => Self::InputRequired,
            _ => Self::Complete,
        }
    }
}

/// The users to whom a cache may hand a result (2026-07-28, `server/utilities/caching`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Any user.
    Public,
    /// The caller of the request.
    Private,
}

#[cfg(feature = "documents")]
impl Scope {
    /// Reads a result's `cacheScope`.
    pub(crate) fn of(cache_scope: ClientValue<'_>) -> Option<Self> {
        match cache_scope {
            ClientValue::Absent => None,
            ClientValue::Text("public") => Some(Self::Public),
            _ => Some(Self::Private),
        }
    }
}
