//! The two comparisons with the time: from the future, and past the end.

use core::time::Duration;

use super::error::Error;

/// The server's time and how far another server's may be ahead of it.
pub(crate) struct Clock {
    pub now_ms: u64,
    pub skew: Duration,
}

impl Clock {
    /// Unix seconds.
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }

    /// For sealed tokens, which count in seconds.
    pub fn check_seconds(&self, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        self.check(1, self.now(), issued, ends)
    }

    /// For ids and handles, which count in milliseconds.
    pub fn check_ms(&self, issued: u64, ends: Option<u64>) -> Result<(), Error> {
        self.check(1000, self.now_ms, issued, ends)
    }

    /// The future gets the skew as leeway, the past gets none. An error tells seconds.
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

/// The earlier of two ends, where none means never.
pub(crate) fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}
