//! Help for tests of an application: a clock that stands still until the test moves it, and a codec that reads it.
//!
//! Enable the feature `testing` for tests alone, in `[dev-dependencies]`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{Codec, Environment, Error, Key, KeyRing, System};

/// The service that [`codec`] is for.
pub const AUDIENCE: &str = "https://test.example.com";

/// A clock that stands still until it is set or advanced. Its clones are the same clock.
///
/// It is an [`Environment`], with the system's randomness: [`codec`] makes a codec with it, and
/// [`CodecBuilder::build_in`](crate::CodecBuilder::build_in) one with limits.
///
/// ```
/// use std::time::Duration;
///
/// use sealwax::Principal;
/// use sealwax::testing::{TestClock, codec};
///
/// let clock = TestClock::new();
/// let alice = codec(&clock)?.view(&Principal::subject("alice"))?;
/// let token = alice.cursor("tools/list").seal(b"page 2")?;
///
/// clock.advance(Duration::from_secs(24 * 3600));
/// let refused = alice.cursor("tools/list").open(token.as_str()).unwrap_err();
/// assert_eq!(refused.code(), "expired");
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TestClock(Arc<AtomicU64>);

impl TestClock {
    /// Returns a clock that stands at the present time.
    #[must_use]
    pub fn new() -> Self {
        Self::at_ms(System.now_ms())
    }

    /// Returns a clock that stands at this time, in Unix seconds.
    #[must_use]
    pub fn at(unix_seconds: u64) -> Self {
        Self::at_ms(unix_seconds.saturating_mul(1000))
    }

    /// Returns a clock that stands at this time, in Unix milliseconds.
    #[must_use]
    pub fn at_ms(unix_ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(unix_ms)))
    }

    /// Sets the time, in Unix seconds; backwards too.
    pub fn set(&self, unix_seconds: u64) {
        self.set_ms(unix_seconds.saturating_mul(1000));
    }

    /// Sets the time, in Unix milliseconds.
    pub fn set_ms(&self, unix_ms: u64) {
        self.0.store(unix_ms, Ordering::SeqCst);
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(by, Ordering::SeqCst);
    }

    /// Returns the time in Unix seconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now_ms() / 1000
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Environment for TestClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

/// Returns a codec on this clock, for [`AUDIENCE`], with the default limits and a fresh key of its own: nothing of
/// another test opens at it.
///
/// # Errors
///
/// [`Error::EntropyUnavailable`].
pub fn codec(clock: &TestClock) -> Result<Codec, Error> {
    let ring = KeyRing::new([Key::generate()?])?;
    Codec::builder(ring, AUDIENCE).build_in(clock.clone())
}
