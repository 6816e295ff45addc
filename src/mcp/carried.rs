//! Which members of a method's messages carry a token.

use crate::Kind;

/// Where the requests and results of a method carry a token: one that the client brings back, and
/// one that leaves for it. What an adapter on an SDK opens and seals.
///
/// `requestState` belongs to the requests that revision 2026-07-28 lets a server answer with
/// `input_required` (`basic/patterns/mrtr`), a cursor to the methods that list something
/// (`server/utilities/pagination`).
///
/// ```
/// use sealwax::{Carried, Kind};
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
    /// What is carried: [`Kind::RequestState`], or [`Kind::Cursor`] with the method as its label.
    pub kind: Kind,
    /// The member of `params` by which it comes back.
    pub param: &'static str,
    /// The member of the result by which it leaves.
    pub result: &'static str,
    /// Of a `requestState`: the member of `params` that names the request's target.
    pub target: Option<&'static str>,
}

impl Carried {
    /// What `method` carries, if anything.
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
            // A server's own lists too, as those of extensions are named in this way; all but one.
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
