// Contestants by turns, so that whatever the machine does meanwhile hits all.

/** A contestant that works by itself for a number of calls: one after another, or all at once. */
export function contestant(call, { sync = false, atOnce = 0 } = {}) {
  if (atOnce) return () => Promise.all(Array.from({ length: atOnce }, () => call()));
  if (sync) {
    return (calls) => {
      for (let at = 0; at < calls; at++) call();
    };
  }
  return async (calls) => {
    for (let at = 0; at < calls; at++) await call();
  };
}

/** Milliseconds that have passed. */
const wall = () => performance.now();

/** Milliseconds that this process has worked, in all its threads: whatever else runs is not in it. */
export function worked() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

/** The medians of nanoseconds for one call of each. */
export async function duel(sides, effort) {
  return (await timesByTurn(sides, effort)).map(median);
}

/**
 * The nanoseconds for one call of each, turn after turn. Each turn another begins, and every other
 * turn goes the other way: what one leaves behind is not always the same one's to clear.
 *
 * @param turnMs how long a turn lasts; without it, a turn is `calls` calls
 * @param warmMs how long each works before
 * @param clock what tells milliseconds
 */
export async function timesByTurn(sides, { calls, turns, clock = wall, ...effort }) {
  const counts = [];
  for (const side of sides) counts.push(calls ?? (await callsIn(effort, side, clock)));
  const times = sides.map(() => []);
  for (let turn = 0; turn < turns; turn++) {
    for (let place = 0; place < sides.length; place++) {
      const step = turn % 2 ? sides.length - 1 - place : place;
      const side = ((turn >> 1) + step) % sides.length;
      const start = clock();
      await sides[side](counts[side]);
      times[side].push(((clock() - start) * 1e6) / counts[side]);
    }
  }
  return times;
}

/**
 * The nanoseconds that pass in each call, of each side, turn by turn. A side makes a call, which is what is
 * timed. Two turns warm up.
 */
export async function samplesByTurn(sides, { calls, turns }) {
  const names = Object.keys(sides);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let turn = -2; turn < turns; turn++) {
    const first = (turn + 2) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const made = Array.from({ length: calls }, sides[name]);
      const found = [];
      for (const one of made) {
        const start = wall();
        await one();
        found.push(Math.round((wall() - start) * 1e6));
      }
      if (turn >= 0) times[name].push(found);
    }
  }
  return times;
}

/** How many calls fill a turn, once the compiler has had its time. */
async function callsIn({ turnMs, warmMs = 50 * turnMs }, side, clock) {
  let calls = 1;
  for (const until = clock() + warmMs; ; ) {
    const start = clock();
    await side(calls);
    const now = clock();
    if (now > until) return Math.max(1, Math.round((calls * turnMs) / (now - start)));
    if (now - start < turnMs) calls *= 2;
  }
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
