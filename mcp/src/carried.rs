//! The members of a method's messages that carry a token.

use sealwax::Kind;

/// The members in which the requests and results of a method carry a token: one that the client
/// returns, and one that is sent to it. An adapter opens and seals these.
///
/// `requestState` belongs to the requests that a server of revision 2026-07-28 may answer with
/// `input_required` (`basic/patterns/mrtr`), a cursor to the methods that list something
/// (`server/utilities/pagination`).
///
/// ```
/// use sealwax::{Kind};
/// use sealwax_mcp::{Carried};
///
/// let call = Carried::by("tools/call").unwrap();
/// assert_eq!((call.kind, call.param, call.target), (Kind::RequestState, "requestState", Some("name")));
/// let list = Carried::by("tools/list").unwrap();
/// assert_eq!((list.kind, list.param, list.result), (Kind::Cursor, "cursor", "nextCursor"));
/// assert_eq!(Carried::by("ping"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carried {
    /// The kind of token: [`Kind::RequestState`], or [`Kind::Cursor`] with the method as its label.
    pub kind: Kind,
    /// The member of `params` in which it returns.
    pub param: &'static str,
    /// The member of the result in which it is sent.
    pub result: &'static str,
    /// For a `requestState`: the member of `params` that names the request's target.
    pub target: Option<&'static str>,
}

impl Carried {
    /// Returns the members of `method`, if it carries a token.
    #[must_use]
    pub fn by(method: &str) -> Option<Self> {
        let request_state = |target| Self {
            kind: Kind::RequestState,
            param: "requestState",
            result: "requestState",
            target: Some(target),
        };
        match method {
            "tools/call" | "prompts/get" => Some(request_state("name")),
            "resources/read" => Some(request_state("uri")),
            // Includes lists of extensions, which follow the same pattern; the second name is the
            // one exception.
            _ => (method.ends_with("/list") || method == "resources/directory/read").then_some(
                Self {
                    kind: Kind::Cursor,
                    param: "cursor",
                    result: "nextCursor",
                    target: None,
                },
            ),
        }
    }
}
