// How long openings and verifications take in Node, for two kinds of input that differ only in where they are wrong: by
// Welch's t-test, as dudect does. |t| over 4.5 in repeated runs is a leak; a busy machine or a short run tells nothing.

import { Codec, Key, KeyRing } from 'sealwax';

const RUNS = Number(process.argv[2] ?? 100_000);
const codec = new Codec({
  keys: new KeyRing([Key.generate()]),
  audience: 'https://mcp.example.com',
});
const alice = codec.view({ subject: 'alice' });
const mallory = codec.view({ subject: 'mallory' });

/** Changes a character, counted from the end, into another one that base64url and base32 have. */
function changed(text, fromEnd) {
  const at = text.length - fromEnd;
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
}

const token = alice.session().seal(new Uint8Array(64));
const id = alice.mintSessionId();
const handle = alice.mintHandle('basket');
const CASES = {
  'tag, its first or its last bytes': [
    (text) => alice.session().open(text),
    changed(token, 21),
    changed(token, 3),
  ],
  'MAC of an id': [(text) => alice.verifySessionId(text), changed(id, 20), changed(id, 3)],
  'MAC of a handle': [
    (text) => alice.verifyHandle('basket', text),
    changed(handle, 15),
    changed(handle, 3),
  ],
  'principal, of two others': [
    (text) => mallory.session().open(text),
    token,
    alice.session().seal(new Uint8Array(64)),
  ],
};

function timeOf(act, text) {
  const before = process.hrtime.bigint();
  try {
    act(text);
  } catch {
    // Refused, as it has to be.
  }
  return Number(process.hrtime.bigint() - before);
}

for (const [name, [act, ...texts]] of Object.entries(CASES)) {
  for (let at = 0; at < 2_000; at++) timeOf(act, texts[at % 2]);
  const times = [[], []];
  for (let at = 0; at < RUNS; at++) {
    const which = Math.random() < 0.5 ? 0 : 1;
    times[which].push(timeOf(act, texts[which]));
  }
  // The slowest tenth is the machine's.
  const limit = times.flat().sort((a, b) => a - b)[Math.floor(0.9 * RUNS)];
  const [a, b] = times.map((all) => summary(all.filter((time) => time <= limit)));
  const t = (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
  const means = `${a.mean.toFixed(0)} and ${b.mean.toFixed(0)} ns`;
  console.log(`${name}: t = ${t.toFixed(2)}, ${means}, ${a.count + b.count} runs`);
}

function summary(times) {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1);
  return { mean, variance, count: times.length };
}
