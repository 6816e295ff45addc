//! The current keys of a codec, which may change while it is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;

use crate::KeyRing;

/// The keys that a codec has now. Who took them keeps them; the last one to let go wipes them.
///
/// Nobody takes a lock: a fork in the middle of anything leaves none behind that its child would wait for.
pub(crate) struct CurrentKeys(ArcSwap<Keys>);

/// A ring, and whether its codec has another one since.
pub(crate) struct Keys {
    pub ring: KeyRing,
    replaced: AtomicBool,
}

impl Keys {
    fn of(ring: KeyRing) -> Arc<Self> {
        Arc::new(Self {
            ring,
            replaced: AtomicBool::new(false),
        })
    }

    pub fn are_current(&self) -> bool {
        !self.replaced.load(Ordering::Acquire)
    }
}

impl CurrentKeys {
    pub fn new(ring: KeyRing) -> Self {
        Self(ArcSwap::new(Keys::of(ring)))
    }

    pub fn keys(&self) -> Arc<Keys> {
        self.0.load_full()
    }

    /// Returns whether the ring is another one than before.
    pub fn replace(&self, ring: KeyRing) -> bool {
        if self.0.load().ring == ring {
            return false;
        }
        let old = self.0.swap(Keys::of(ring));
        old.replaced.store(true, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    #[cfg(not(target_family = "wasm"))]
    use std::thread;

    use super::CurrentKeys;
    use crate::{Error, Key, KeyRing};

    fn ring() -> Result<KeyRing, Error> {
        KeyRing::new([Key::generate()?])
    }

    #[test]
    fn what_is_replaced_is_let_go_and_says_so() -> Result<(), Error> {
        let (first, second) = (ring()?, ring()?);
        let present = CurrentKeys::new(first.clone());
        let before = present.keys();
        assert!(!present.replace(first));
        assert!(before.are_current());
        assert!(present.replace(second.clone()));
        assert!(!before.are_current());
        assert_eq!(present.keys().ring, second);
        // The last one to let go wipes them.
        assert_eq!(Arc::strong_count(&before), 1);
        Ok(())
    }

    /// Of many writers each but one is replaced by another, whatever readers do meanwhile.
    #[test]
    #[cfg(not(target_family = "wasm"))]
    fn no_ring_is_lost_between_writers() -> Result<(), Error> {
        let rounds = if cfg!(miri) { 4 } else { 200 };
        let present = CurrentKeys::new(ring()?);
        let written: Vec<_> = thread::scope(|scope| {
            let write = || {
                let mut keys = Vec::new();
                for _ in 0..rounds {
                    if let Ok(ring) = ring() {
                        present.replace(ring);
                        keys.push(present.keys());
                    }
                }
                keys
            };
            let writers: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
            writers
                .into_iter()
                .flat_map(|writer| writer.join().unwrap_or_default())
                .collect()
        });
        assert_eq!(written.len(), 4 * rounds);
        let now = present.keys();
        for keys in written {
            assert_eq!(keys.are_current(), Arc::ptr_eq(&keys, &now));
        }
        Ok(())
    }
}
