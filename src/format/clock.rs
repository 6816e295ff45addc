//! The two time checks: from the future, and past the end.

use std::time::Duration;

use super::error::Error;

/// The server's time, and the time by which another server's clock may be ahead.
pub(crate) struct Clock {
    pub now_ms: u64,
    pub clock_tolerance: Duration,
}

impl Clock {
    /// Returns the time in Unix seconds.
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }

    /// Allows the tolerance for the future, and nothing for the past. Sealed tokens count in seconds: 1 of
    /// these `per_second`; ids and handles in milliseconds: 1000. Errors are in seconds.
    pub fn check(&self, per_second: u64, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        let now = self.now_ms / (1000 / per_second);
        if issued > now.saturating_add(self.clock_tolerance.as_secs() * per_second) {
            let (issued_at, now) = (issued / per_second, now / per_second);
            return Err(Error::NotYetValid { issued_at, now });
        }
        match ends.filter(|end| now >= *end) {
            None => Ok(()),
            Some(end) => Err(Error::Expired {
                at: end / per_second,
                now: now / per_second,
            }),
        }
    }
}

/// Returns the earlier of two ends; `None` is no end.
pub(crate) fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}
