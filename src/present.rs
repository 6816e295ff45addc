//! The present keys of a codec, which may change while it is in use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, TryLockError};

use crate::KeyRing;

/// The keys that a codec has now. Who took them keeps them; the last one to let go wipes them.
pub(crate) struct Present(RwLock<Arc<Keys>>);

/// A ring, and whether its codec has another one since.
pub(crate) struct Keys {
    pub ring: KeyRing,
    replaced: AtomicBool,
}

impl Keys {
    pub fn are_present(&self) -> bool {
        !self.replaced.load(Ordering::Acquire)
    }

    fn of(ring: KeyRing) -> Arc<Self> {
        Arc::new(Self {
            ring,
            replaced: AtomicBool::new(false),
        })
    }
}

impl Present {
    pub fn new(ring: KeyRing) -> Self {
        Self(RwLock::new(Keys::of(ring)))
    }

    pub fn keys(&self) -> Arc<Keys> {
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        keys.clone()
    }

    /// Returns whether the ring is another one than before.
    pub fn replace(&self, ring: KeyRing) -> bool {
        if self.keys().ring == ring {
            return false;
        }
        let keys = Keys::of(ring);
        let old = loop {
            match self.0.try_write() {
                Ok(mut present) => break std::mem::replace(&mut *present, keys),
                Err(TryLockError::Poisoned(present)) => {
                    break std::mem::replace(&mut *present.into_inner(), keys);
                }
                // Not `write`: while it waits for a reader, which a fork may have left behind, all others
                // wait too.
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        };
        old.replaced.store(true, Ordering::Release);
        true
    }
}
