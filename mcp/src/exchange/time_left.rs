//! The time that the questions of one request may wait together.

use std::time::Duration;

/// The time that is left of the limit. It falls by the codec's clock, only while a question waits for
/// its answer: neither in the handler nor in the SDK.
#[derive(Clone, Copy)]
pub(crate) struct TimeLeft {
    left: Duration,
    /// The question that waits: since when, in milliseconds, and for how long at most.
    waiting: Option<(u64, Duration)>,
}

impl TimeLeft {
    pub fn new(left: Duration) -> Self {
        Self {
            left,
            waiting: None,
        }
    }

    pub fn left(self) -> Duration {
        self.left
    }

    /// Begins to wait, for `most` at most, and returns for how long: zero if no time is left.
    pub fn wait(&mut self, now_ms: u64, most: Duration) -> Duration {
        let within = self.left.min(most);
        self.waiting = Some((now_ms, within));
        within
    }

    /// Stops to wait. A clock that stood still or went back takes nothing away, and one that leapt
    /// ahead no more than the question had.
    pub fn stop(&mut self, now_ms: impl FnOnce() -> u64) {
        if let Some((since, within)) = self.waiting.take() {
            let passed = Duration::from_millis(now_ms().saturating_sub(since));
            self.left -= passed.min(within);
        }
    }
}
