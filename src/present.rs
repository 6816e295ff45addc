//! The present keys of a codec, which may change while it is in use.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread;

use crate::KeyRing;

/// How often a writer tries. Readers hold the lock for some nanoseconds.
const TRIES: usize = 10_000;

/// The keys that a codec has now. Who took them keeps them; the last one to let go wipes them.
pub(crate) struct Present {
    keys: RwLock<Arc<Keys>>,
    /// Takes the place of a lock that never becomes free: a fork left its reader behind.
    next: OnceLock<Box<Self>>,
}

/// A ring, and whether its codec has another one since.
pub(crate) struct Keys {
    pub ring: KeyRing,
    replaced: AtomicBool,
}

impl Keys {
    pub fn are_present(&self) -> bool {
        !self.replaced.load(Ordering::Acquire)
    }
}

impl Present {
    pub fn new(ring: KeyRing) -> Self {
        Self::of(Arc::new(Keys {
            ring,
            replaced: AtomicBool::new(false),
        }))
    }

    fn of(keys: Arc<Keys>) -> Self {
        Self {
            keys: RwLock::new(keys),
            next: OnceLock::new(),
        }
    }

    pub fn keys(&self) -> Arc<Keys> {
        self.last().read()
    }

    /// Returns whether the ring is another one than before.
    pub fn replace(&self, ring: KeyRing) -> bool {
        let last = self.last();
        if last.read().ring == ring {
            return false;
        }
        let old = last.put(Self::new(ring).read());
        old.replaced.store(true, Ordering::Release);
        true
    }

    fn last(&self) -> &Self {
        self.next.get().map_or(self, |next| next.last())
    }

    fn read(&self) -> Arc<Keys> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.clone()
    }

    /// Returns the keys before.
    fn put(&self, keys: Arc<Keys>) -> Arc<Keys> {
        for _ in 0..TRIES {
            // Not `write`: while it waits, all later readers wait too.
            if let Ok(mut now) = self.keys.try_write() {
                return mem::replace(&mut now, keys);
            }
            thread::yield_now();
        }
        let next = self.next.get_or_init(|| Box::new(Self::of(self.read())));
        next.put(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::Present;
    use crate::{Error, Key, KeyRing};

    fn ring() -> Result<KeyRing, Error> {
        KeyRing::new([Key::generate()?])
    }

    #[test]
    fn a_reader_that_never_ends_holds_nobody_up() -> Result<(), Error> {
        let (first, second, third) = (ring()?, ring()?, ring()?);
        let present = Present::new(first.clone());
        let before = present.keys();
        let reader = present.keys.read();
        for ring in [second, third, first] {
            let before = present.keys();
            assert!(before.are_present());
            assert!(present.replace(ring.clone()) && !present.replace(ring.clone()));
            assert!(!before.are_present());
            assert!(present.keys().are_present());
            assert_eq!(present.keys().ring, ring);
        }
        drop(reader);
        assert!(!before.are_present());
        Ok(())
    }
}
