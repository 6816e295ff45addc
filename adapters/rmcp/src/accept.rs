//! The author's own check before a token is accepted.

use std::error::Error as StdError;

use futures::future::BoxFuture;
use sealwax::Principal;
use sealwax_mcp::{Question, Verdict};

use crate::Kind;

/// A token that has passed every other check, or that ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Presented {
    /// Its kind.
    pub kind: Kind,
    /// The id of a sealed token, or the ulid of a handle, in hex digits.
    pub id: String,
    /// The principal that it was issued to and that presents it. Anonymous for the cursor of a public page, which any
    /// user may present.
    pub principal: Principal,
    /// The Unix time in seconds from which on the token opens nowhere: its expiry rounded up to whole seconds, plus
    /// 300, the largest difference allowed between the clocks of two replicas. `None` if it never expires. A store
    /// may forget the token from then on, and not earlier.
    pub expires_at: Option<u64>,
}

/// The reason why there is no answer.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// An author's own check of tokens. The guard asks it before it accepts a token, and tells it when something ends.
/// For single use, ends and latest states, a [ledger](crate::ledger) is enough.
///
/// The guard asks only about verified tokens, and waits for at most
/// [`time_limit`](crate::GuardBuilder::time_limit). An error, a panic or a timeout fails closed: the request
/// gets an internal error, so that the client keeps a good token.
pub trait Accept: Send + Sync + 'static {
    /// Returns whether to accept `token`. For single use, the check and the record must be one atomic step.
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>>;

    /// Records that `token` ends before its expiry. Refuse it from then on.
    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// Asks `accept` about what `principal` presents.
pub(crate) async fn ask(
    accept: &dyn Accept,
    question: Question,
    principal: &Principal,
) -> Result<Verdict, BoxError> {
    match question {
        Question::Accept(tokens) => {
            for (at, token) in tokens.into_iter().enumerate() {
                if !accept.accept(&presented(token, principal)).await? {
                    return Ok(Verdict::No(at));
                }
            }
        }
        Question::End(token) => accept.ended(&presented(token, principal)).await?,
        _ => return Err("a question that this version does not support".into()),
    }
    Ok(Verdict::Yes)
}

fn presented(token: sealwax_mcp::Presented, principal: &Principal) -> Presented {
    Presented {
        kind: token.item,
        id: token.id,
        principal: if token.public {
            Principal::anonymous()
        } else {
            principal.clone()
        },
        expires_at: token.until,
    }
}
