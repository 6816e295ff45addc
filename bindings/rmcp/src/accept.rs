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
    /// The second, in Unix time, from which on nothing of it opens anywhere: its end rounded up to
    /// whole seconds, plus 300, the most by which the clocks of two replicas may differ. `None`
    /// where it never ends. What is remembered of it may be forgotten then, and not before.
    pub expires_at: Option<u64>,
}

/// The largest skew of the format, in seconds.
const MAX_SKEW: u64 = 300;

/// From when on nothing opens of what ends then, in Unix milliseconds.
pub(crate) fn over_ms(end: u64) -> u64 {
    over(end.div_ceil(1000))
}

/// From when on nothing opens of what ends then, in Unix seconds.
pub(crate) fn over(end: u64) -> u64 {
    end.saturating_add(MAX_SKEW)
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

    /// Whether somebody remembers what ends.
    pub(crate) fn remembers(&self) -> bool {
        self.settings().accept.is_some()
    }

    /// Tells, if there is somebody to tell.
    pub(crate) async fn ended(&self, token: &Presented) -> Result<(), Reason> {
        match &self.settings().accept {
            Some(accept) => self.in_time(async { accept.ended(token).await }).await,
            None => Ok(()),
        }
    }

    /// For an author who ends something: that takes somebody to tell.
    pub(crate) async fn end(&self, token: &Presented) -> Result<(), Reason> {
        if self.remembers() {
            return self.ended(token).await;
        }
        let error = "end: expected a memory, for nothing else can end a handle before its time: \
                     give GuardBuilder::accept a SingleUse, or a store";
        Err(Error::InvalidArgument(error.into()).into())
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
