//! The author's own check before a token is accepted.

use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::Principal;
use sealwax::mcp::{self, Failed, Question, Verdict};
use tokio::time::{Instant, timeout};

use crate::Kind;
use crate::refusal::said;

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
/// [`accept_timeout`](crate::GuardBuilder::accept_timeout). An error, a panic or a timeout fails closed: the request
/// gets an internal error, so that the client keeps a good token.
pub trait Accept: Send + Sync + 'static {
    /// Returns whether to accept `token`. For single use, the check and the record must be one atomic step.
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>>;

    /// Records that `token` ends before its expiry. Refuse it from then on.
    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// The time limit of [`Accept`] and the ledger for all questions of one request. Only waiting counts: not the handler, nor
/// rmcp between the transport and the handler. All clones share it.
#[derive(Clone)]
pub(crate) struct TimeLimit {
    whole: Duration,
    left: Arc<Mutex<Duration>>,
}

impl TimeLimit {
    pub(crate) fn new(whole: Duration) -> Self {
        let left = Arc::new(Mutex::new(whole));
        Self { whole, left }
    }

    /// Waits for an answer, for at most `most`; `None` if there is none in time.
    pub(crate) async fn wait<T>(
        &self,
        most: Duration,
        asked: impl Future<Output = T>,
    ) -> Option<T> {
        let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let from = Instant::now();
        let answer = timeout(left.min(most), asked).await;
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(from.elapsed());
        answer.ok()
    }

    /// Asks `accept` about what `principal` presents.
    pub(crate) async fn ask(
        &self,
        accept: &dyn Accept,
        question: Question,
        principal: &Principal,
    ) -> Verdict {
        let asked = AssertUnwindSafe(ask(accept, question, principal)).catch_unwind();
        let why = match self.wait(self.whole, asked).await {
            Some(Ok(Ok(verdict))) => return verdict,
            Some(Ok(Err(error))) => said(error),
            Some(Err(_)) => "panicked".into(),
            None => format!("no answer in {:?}", self.whole),
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
        _ => return Err("a question that this version does not support".into()),
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
