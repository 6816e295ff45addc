//! Single use, in the memory of one process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use crate::negotiated::now;
use crate::{Accept, BoxError, Kind, Presented};

const CAPACITY: usize = 10_000;

/// Accepts every `requestState` once, and other tokens until they are ended.
///
/// It remembers ids until their tokens expire. When it is full of those that have not expired it
/// accepts nothing that it would have to remember, rather than forget one.
///
/// This is the memory of one process. Another replica does not know what was used here, and a
/// restart forgets it: each of them would accept a token once more. Where that matters, put a
/// store that all replicas share behind [`Accept`].
///
/// ```
/// use sealwax_rmcp::SingleUse;
///
/// let accept = SingleUse::default(); // 10,000 ids
/// let few = SingleUse::with_capacity(100);
/// ```
#[derive(Debug)]
pub struct SingleUse {
    capacity: usize,
    gone: Mutex<HashMap<(Kind, String), Option<u64>>>,
}

impl Default for SingleUse {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl SingleUse {
    /// Remembers at most `capacity` ids.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            capacity,
            gone: Mutex::default(),
        }
    }

    /// Whether `token` was still good; it is not from now on if it is `spent`.
    fn pass(&self, token: &Presented, spent: bool) -> Result<bool, BoxError> {
        let key = (token.kind, token.id.clone());
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if gone.contains_key(&key) {
            return Ok(false);
        }
        if spent {
            if gone.len() >= self.capacity {
                let now = now();
                // One second longer than the codec accepts it, whose clock was read before.
                gone.retain(|_, expires_at| expires_at.is_none_or(|at| now <= at));
            }
            if gone.len() >= self.capacity {
                return Err(format!("{} ids are remembered, and none expired", gone.len()).into());
            }
            gone.insert(key, token.expires_at);
        }
        Ok(true)
    }
}

impl Accept for SingleUse {
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>> {
        ready(self.pass(token, token.kind == Kind::RequestState)).boxed()
    }

    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>> {
        ready(self.pass(token, true).map(drop)).boxed()
    }
}
