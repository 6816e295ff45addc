//! Two contestants by turns, so that whatever the machine does meanwhile hits both.

use std::time::{Duration, Instant};

/// How long a turn lasts, and how many turns each gets.
#[derive(Clone, Copy)]
pub struct Effort {
    pub turn: Duration,
    pub turns: usize,
}

/// The medians of nanoseconds for one call of each.
pub fn duel(effort: Effort, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> (f64, f64) {
    let calls = [calls_in(effort.turn, ours), calls_in(effort.turn, theirs)];
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..effort.turns {
        for side in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
            let start = Instant::now();
            for _ in 0..calls[side] {
                if side == 0 { ours() } else { theirs() }
            }
            times[side].push(start.elapsed().as_nanos() as f64 / calls[side] as f64);
        }
    }
    let [ours, theirs] = times.map(median);
    (ours, theirs)
}

/// How many calls fill a turn, found on the way to a warm start.
fn calls_in(turn: Duration, contestant: &mut dyn FnMut()) -> u32 {
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < turn || calls == 0 {
        contestant();
        calls += 1;
    }
    calls
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
