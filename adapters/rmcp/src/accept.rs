//! The last word before a token is accepted: used already, ended, or good.

use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::Principal;
use sealwax::mcp::{self, Failed, Question, Verdict};
use tokio::time::Instant;

use crate::Kind;
use crate::refusal::said;

/// A token that passed every check but this one, or that ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Presented {
    /// What it is.
    pub kind: Kind,
    /// The id of a sealed token, or the ulid of a handle, in hex digits.
    pub id: String,
    /// Whom it was issued to, and who presents it; anonymous for the cursor of a public page, which is
    /// anybody's.
    pub principal: Principal,
    /// The second, in Unix time, from which on nothing of it opens anywhere: its end rounded up to
    /// whole seconds, plus 300, the most by which the clocks of two replicas may differ. `None`
    /// where it never ends. What is remembered of it may be forgotten then, and not before.
    pub expires_at: Option<u64>,
}

/// Why there is no answer.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Asked before a token is accepted, and told when something ends: a rule of the author's own. What a seal
/// cannot say, a [ledger](crate::ledger) does.
///
/// The guard asks only for what has been verified, and not longer than
/// [`accept_timeout`](crate::GuardBuilder::accept_timeout). An error, a panic or no answer in time fails
/// closed: the request gets an internal error, so that a client does not throw a good token away.
pub trait Accept: Send + Sync + 'static {
    /// Whether to accept `token`. For single use, asking and remembering must be one step.
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>>;

    /// `token` ends before its time; accept it no more.
    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// How long the author and the ledger may take for all that is asked of one exchange.
pub(crate) struct Deadline {
    limit: Duration,
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, at: None }
    }

    /// When the time is over. It begins with the first question.
    pub(crate) fn at(&mut self) -> Instant {
        *self.at.get_or_insert_with(|| Instant::now() + self.limit)
    }

    /// Puts a question to the author's function, about what `principal` presents.
    pub(crate) async fn ask(
        &mut self,
        accept: &dyn Accept,
        question: Question,
        principal: &Principal,
    ) -> Verdict {
        let (limit, at) = (self.limit, self.at());
        let asked = AssertUnwindSafe(ask(accept, question, principal)).catch_unwind();
        let why = match tokio::time::timeout_at(at, asked).await {
            Ok(Ok(Ok(verdict))) => return verdict,
            Ok(Ok(Err(error))) => said(error),
            Ok(Err(_)) => "panicked".into(),
            Err(_) => format!("no answer in {limit:?}"),
        };
        Verdict::Unavailable(Failed(format!("accept: {why}")))
    }
}

async fn ask(
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
        _ => return Err("a question that this version does not know".into()),
    }
    Ok(Verdict::Yes)
}

fn presented(token: mcp::Presented, principal: &Principal) -> Presented {
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
