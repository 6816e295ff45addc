//! The two time checks: from the future, and past the end.

use std::time::Duration;

use super::error::Error;

/// The server's time, and the time by which another server's clock may be ahead.
pub(crate) struct Clock {
    pub now_ms: u64,
    pub skew: Duration,
}

impl Clock {
    /// Returns the time in Unix seconds.
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }

    /// Checks sealed tokens, which count in seconds.
    pub fn check_seconds(&self, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        self.check(1, self.now(), issued, ends)
    }

    /// Checks ids and handles, which count in milliseconds.
    pub fn check_ms(&self, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        self.check(1000, self.now_ms, issued, ends)
    }

    /// Allows the skew for the future, and nothing for the past. Errors are in seconds.
    fn check(&self, unit: u64, now: u64, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        if issued > now.saturating_add(self.skew.as_secs() * unit) {
            let (issued_at, now) = (issued / unit, now / unit);
            return Err(Error::NotYetValid { issued_at, now });
        }
        match ends.filter(|end| now >= *end) {
            None => Ok(()),
            Some(end) => Err(Error::Expired {
                at: end / unit,
                now: now / unit,
            }),
        }
    }
}

/// Returns the earlier of two ends; `None` is no end.
pub(crate) fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}
