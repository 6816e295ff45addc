//! The unique part of session ids and handles: the time of making, and 10 random bytes.

use super::clock::Clock;
use super::error::Error;

const TIME_LEN: usize = 6;
const LARGEST_TIME: u64 = (1 << (8 * TIME_LEN)) - 1;

/// Big-endian Unix milliseconds in 6 bytes, and 10 random ones (the layout of a ULID,
/// <https://github.com/ulid/spec>, though it is spelled differently here).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ulid(pub [u8; Self::LEN]);

impl Ulid {
    pub const LEN: usize = 16;
    pub const RANDOM_LEN: usize = Self::LEN - TIME_LEN;

    /// A time that is too large for its bytes becomes the largest: cut, it would be one of the past.
    pub fn new(now_ms: u64, random: [u8; Self::RANDOM_LEN]) -> Self {
        let mut bytes = [0; Self::LEN];
        let now_ms = now_ms.min(LARGEST_TIME);
        bytes[..TIME_LEN].copy_from_slice(&now_ms.to_be_bytes()[2..]);
        bytes[TIME_LEN..].copy_from_slice(&random);
        Self(bytes)
    }

    /// Returns the time of making, in Unix milliseconds.
    pub fn created_at_ms(&self) -> u64 {
        let mut time = [0; 8];
        time[2..].copy_from_slice(&self.0[..TIME_LEN]);
        u64::from_be_bytes(time)
    }

    /// Checks the time of making against the server's time, and against `max_age` seconds if given.
    pub fn check_time(&self, clock: &Clock, max_age: Option<u64>) -> Result<(), Error> {
        let ends = max_age.map(|seconds| self.ends_ms(seconds));
        clock.check(1000, self.created_at_ms(), ends)
    }

    /// Returns the time at which `max_age` seconds are over, in Unix milliseconds.
    pub fn ends_ms(&self, max_age: u64) -> u64 {
        self.created_at_ms()
            .saturating_add(max_age.saturating_mul(1000))
    }
}
