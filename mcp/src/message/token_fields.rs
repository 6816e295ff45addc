//! The members of a method's messages that carry a token.

use sealwax::Kind;

/// The members in which the requests and results of a method carry a token: one that the client
/// returns, and one that is sent to it. An adapter opens and seals these.
///
/// `requestState` belongs to the requests that a server of revision 2026-07-28 may answer with
/// `input_required` (`basic/patterns/mrtr`), a cursor to the methods that list something
/// (`server/utilities/pagination`). An extension or an author may name such a method in any way, so
/// every request without a `requestState` may carry a cursor.
///
/// ```
/// use sealwax::Kind;
/// use sealwax_mcp::TokenFields;
///
/// let call = TokenFields::for_method("tools/call").unwrap();
/// assert_eq!((call.kind, call.param, call.target), (Kind::RequestState, "requestState", Some("name")));
/// let list = TokenFields::for_method("notes/search").unwrap();
/// assert_eq!((list.kind, list.param, list.result), (Kind::Cursor, "cursor", "nextCursor"));
/// assert_eq!(TokenFields::for_method("notifications/progress"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenFields {
    /// The kind of token: [`Kind::RequestState`], or [`Kind::Cursor`] with the method as its label.
    pub kind: Kind,
    /// The member of `params` in which it returns.
    pub param: &'static str,
    /// The member of the result in which it is sent.
    pub result: &'static str,
    /// For a `requestState`: the member of `params` that names the request's target.
    pub target: Option<&'static str>,
}

impl TokenFields {
    /// Returns whether a request needs its caller even if it brings no token: its handler may make one,
    /// and must not run if nobody could open that.
    #[must_use]
    pub fn needs_caller(self) -> bool {
        self.kind == Kind::RequestState
    }

    /// Returns the members of the requests of `method`. A notification carries no token.
    #[must_use]
    pub fn for_method(method: &str) -> Option<Self> {
        let request_state = |target| Self {
            kind: Kind::RequestState,
            param: "requestState",
            result: "requestState",
            target: Some(target),
        };
        match method {
            "tools/call" | "prompts/get" => Some(request_state("name")),
            "resources/read" => Some(request_state("uri")),
            _ if method.is_empty() || method.starts_with("notifications/") => None,
            _ => Some(Self {
                kind: Kind::Cursor,
                param: "cursor",
                result: "nextCursor",
                target: None,
            }),
        }
    }
}
