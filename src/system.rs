//! The operating system's clock and randomness.

use std::string::String;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::environment::expect_written;
use crate::{Codec, CodecBuilder, Environment, Error, Key, KeyRing, mix_time};

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
        expect_written(bytes)?;
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

impl Codec {
    /// Returns a codec with the default limits.
    ///
    /// `audience` names the service, best by its public address: tokens of one service never open
    /// at another, even under shared keys. Every replica needs the same one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes.
    pub fn new(ring: KeyRing, audience: impl Into<String>) -> Result<Self, Error> {
        Self::builder(ring, audience).build()
    }
}

impl CodecBuilder {
    /// Builds the codec.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes, or a limit
    /// out of its range.
    pub fn build(self) -> Result<Codec, Error> {
        self.build_in(System)
    }
}
