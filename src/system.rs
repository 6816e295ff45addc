//! The operating system's clock and randomness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Environment, Error, Key, mix_time};

/// The operating system's clock and randomness; [`mix_time`] is applied to each draw. Not on
/// `wasm32-unknown-unknown`, which has neither: see [`Environment`].
#[derive(Clone, Copy, Debug)]
pub struct System;

impl Environment for System {
    /// Reads a clock before 1970 as 1970: every token is then from the future, and refused.
    fn now_ms(&self) -> u64 {
        u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(bytes).map_err(|_| Error::EntropyUnavailable)?;
        mix_time(bytes, since_1970().as_nanos());
        Ok(())
    }
}

fn since_1970() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

impl Key {
    /// Generates a key from the system's randomness.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn generate() -> Result<Self, Error> {
        Self::generate_in(&System)
    }
}
