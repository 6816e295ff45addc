// Two contestants by turns, so that whatever the machine does meanwhile hits both.

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

/**
 * The medians of nanoseconds for one call of each.
 *
 * @param turnMs how long a turn lasts; without it, a turn is `calls` calls
 */
export async function duel(sides, { turnMs, calls, turns }) {
  const counts = [];
  for (const side of sides) counts.push(calls ?? (await callsIn(turnMs, side)));
  const times = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    for (const side of turn % 2 ? [1, 0] : [0, 1]) {
      const count = counts[side];
      const start = performance.now();
      await sides[side](count);
      times[side].push(((performance.now() - start) * 1e6) / count);
    }
  }
  return times.map(median);
}

/** How many calls fill a turn, once the compiler has had its time. */
async function callsIn(turnMs, side) {
  let calls = 1;
  for (const until = performance.now() + 50 * turnMs; ; ) {
    const start = performance.now();
    await side(calls);
    const now = performance.now();
    if (now > until) return Math.max(1, Math.round((calls * turnMs) / (now - start)));
    if (now - start < turnMs) calls *= 2;
  }
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
