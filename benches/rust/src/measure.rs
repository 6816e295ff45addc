//! Contestants by turns, so that whatever the machine does meanwhile hits all.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long a turn lasts, how many turns each gets, how long each works before, and by what clock.
#[derive(Clone, Copy)]
pub struct Effort {
    pub turn: Duration,
    pub turns: usize,
    pub warm: Duration,
    pub clock: fn() -> Duration,
}

/// What has passed since the first look.
pub fn passed() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// What this process has worked, in all its threads: whatever else runs is not in it.
pub fn worked() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

/// The medians of nanoseconds for one call of each.
pub fn duel<'a>(
    effort: Effort,
    ours: &'a mut dyn FnMut(),
    theirs: &'a mut dyn FnMut(),
) -> (f64, f64) {
    let sides: Vec<&'a mut dyn FnMut()> = vec![ours, theirs];
    let times = by_turns(effort, sides);
    let medians: Vec<_> = times.into_iter().map(median).collect();
    (medians[0], medians[1])
}

/// The nanoseconds for one call of each, turn after turn. Each turn another begins, and every other
/// turn goes the other way: what one leaves behind is not always the same one's to clear.
pub fn by_turns<F: FnMut()>(effort: Effort, mut sides: Vec<F>) -> Vec<Vec<f64>> {
    let calls: Vec<_> = sides.iter_mut().map(|it| calls_in(effort, it)).collect();
    let mut times = vec![Vec::new(); sides.len()];
    for turn in 0..effort.turns {
        for place in 0..sides.len() {
            let step = if turn % 2 == 0 {
                place
            } else {
                sides.len() - 1 - place
            };
            let side = (turn / 2 + step) % sides.len();
            let start = (effort.clock)();
            for _ in 0..calls[side] {
                sides[side]();
            }
            let took = (effort.clock)() - start;
            times[side].push(took.as_nanos() as f64 / f64::from(calls[side]));
        }
    }
    times
}

/// How many calls fill a turn, found on the way to a warm start.
fn calls_in(effort: Effort, mut contestant: impl FnMut()) -> u32 {
    let start = (effort.clock)();
    let mut calls = 0;
    loop {
        contestant();
        calls += 1;
        let warm = (effort.clock)() - start;
        if warm >= effort.warm {
            let turns = warm.as_secs_f64() / effort.turn.as_secs_f64();
            return (f64::from(calls) / turns).max(1.0) as u32;
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
