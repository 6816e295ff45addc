//! The last word before a token is accepted: used already, ended, or good.

use std::error::Error as StdError;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::{Error, Principal};

use crate::refusal::{Reason, said};
use crate::{Guard, Kind};

/// A token that passed every check but this one, or that ends.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Presented {
    /// What it is.
    pub kind: Kind,
    /// The id of a sealed token, or the ulid of a handle, in hex digits.
    pub id: String,
    /// Whom it was issued to, and who presents it.
    pub principal: Principal,
    /// When it ends by itself, in Unix seconds; `None` for never.
    pub expires_at: Option<u64>,
}

/// Why a ledger has no answer.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Asked before a token is accepted, and told when something ends: what makes tokens single-use
/// and handles revocable.
///
/// A seal alone cannot do either. The guard asks only for what has been verified, and not longer
/// than [`accept_timeout`](crate::GuardBuilder::accept_timeout). An error, a panic or no answer in
/// time fails closed: the request gets an internal error, so that a client does not throw a good
/// token away. [`SingleUse`](crate::SingleUse) does it in the memory of one process.
pub trait Accept: Send + Sync + 'static {
    /// Whether to accept `token`. For single use, asking and remembering must be one step.
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>>;

    /// `token` ends before its time; accept it no more.
    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>>;
}

impl Guard {
    /// Asks, if there is somebody to ask.
    pub(crate) async fn accept(&self, token: &Presented) -> Result<(), Reason> {
        let Some(accept) = &self.settings().accept else {
            return Ok(());
        };
        match self.in_time(async { accept.accept(token).await }).await? {
            true => Ok(()),
            false => Err(Reason::NotAccepted),
        }
    }

    /// Tells, if there is somebody to tell.
    pub(crate) async fn ended(&self, token: &Presented) -> Result<(), Reason> {
        match &self.settings().accept {
            Some(accept) => self.in_time(async { accept.ended(token).await }).await,
            None => Ok(()),
        }
    }

    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, Reason> {
        let limit = self.settings().accept_timeout;
        let asked = AssertUnwindSafe(asked).catch_unwind();
        let unavailable = match tokio::time::timeout(limit, asked).await {
            Ok(Ok(Ok(answer))) => return Ok(answer),
            Ok(Ok(Err(error))) => said(error).into(),
            Ok(Err(_)) => "panicked".into(),
            Err(_) => format!("no answer in {limit:?}").into(),
        };
        Err(Reason::AcceptUnavailable(unavailable))
    }
}
