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

#[cfg(test)]
mod tests {
    use super::TimeLeft;
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_millis(1000);
    const SHARE: Duration = Duration::from_millis(300);

    #[test]
    fn a_clock_that_moves_takes_away_what_passed_while_waiting() {
        let mut time = TimeLeft::new(LIMIT);
        assert_eq!(time.wait(5_000, SHARE), SHARE);
        time.stop(|| 5_200);
        assert_eq!(time.left(), Duration::from_millis(800));
        // Nothing waits in between.
        time.stop(|| 9_000);
        assert_eq!(time.wait(9_000, LIMIT), Duration::from_millis(800));
        time.stop(|| 9_799);
        assert_eq!(time.wait(9_799, SHARE), Duration::from_millis(1));
        time.stop(|| 9_800);
        assert_eq!(time.wait(9_800, SHARE), Duration::ZERO);
    }

    #[test]
    fn a_clock_that_stands_still_goes_back_or_leaps_takes_away_no_more_than_was_given() {
        for (after, left) in [(5_000, 1000), (4_000, 1000), (9_999_999, 700)] {
            let mut time = TimeLeft::new(LIMIT);
            assert_eq!(time.wait(5_000, SHARE), SHARE);
            time.stop(|| after);
            assert_eq!(time.left(), Duration::from_millis(left));
        }
    }
}
