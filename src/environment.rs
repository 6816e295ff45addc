//! Where the time and the randomness come from.
//!
//! A caller who could set either could revive an expired token or repeat a nonce, so only the
//! bindings, the command and the tests reach this, through the `hazmat` feature.

use crate::Error;

/// A clock and a source of randomness.
pub trait Environment: Send + Sync {
    /// The time in Unix milliseconds.
    fn now_ms(&self) -> u64;

    /// Fills `bytes` with randomness fit for keys and nonces.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`] where there is none; `bytes` must not be used then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// The operating system's clock and generator.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct System;

#[cfg(feature = "std")]
impl Environment for System {
    /// A clock before 1970 reads as 1970: every token is from the future then, and refused.
    fn now_ms(&self) -> u64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            })
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(bytes).map_err(|_| Error::EntropyUnavailable)
    }
}
