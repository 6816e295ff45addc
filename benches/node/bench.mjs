// The package as its users install it, beside the codecs they have: `node bench.mjs [quick]`. With
// `--import ./drawn.mjs`, its sealing alone where it draws randomness for each token.
// One JSON object a line on standard output, progress on standard error.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { contestant, duel } from './measure.mjs';
import { ours, parts, peers, peersOfCall } from './peers.mjs';

const quick = process.argv[2] === 'quick';
const TURNS = { turnMs: 1, turns: quick ? 60 : 400 };
const BATCHES = { calls: 4_000, turns: quick ? 3 : 9 };
const TOKENS = quick ? 100_000 : 10_000_000;

// With drawn.mjs in front.
const drawn = process.versions.bun !== undefined;

const us = ours();
const alone = { sync: true, seal: us.seal, open: us.open };

for (const size of [64, 256, 1024, 4096]) {
  const text = randomText(size);
  const bytes = new TextEncoder().encode(text);
  if (drawn) {
    await against('seal', us, 'node:crypto', peers['node:crypto'], text, bytes);
    continue;
  }
  for (const [peer, them] of Object.entries(peers)) {
    await against('seal', us, peer, them, text, bytes);
    await against('open', us, peer, them, text, bytes);
  }
  for (const [peer, them] of Object.entries({ ...peersOfCall, 'token-alone': alone })) {
    await against('request-seal', us.ofCall, peer, them, text, bytes);
    await against('request-open', us.ofCall, peer, them, text, bytes);
  }
}
if (drawn) process.exit(0);

const calls = Object.entries(parts());
const times = await duel(
  calls.map(([, call]) => contestant(call, { sync: true })),
  TURNS,
);
print({ parts: Object.fromEntries(calls.map(([part], at) => [part, times[at]])) });

const module = readFileSync(createRequire(import.meta.url).resolve('sealwax/sealwax.wasm'));
print({ module: { bytes: module.length, gzip: gzipSync(module, { level: 9 }).length } });

console.error(`node memory after ${TOKENS} tokens`);
print({ memory: memoryAfter(TOKENS) });

/** Seals or opens by turns. */
async function against(op, us, peer, them, text, bytes) {
  const token = us.seal(bytes);
  assert.deepEqual(Buffer.from(us.open(token)), Buffer.from(bytes));
  const payload = them.text ? text : Buffer.from(bytes);
  const theirs = await them.seal(payload);
  const opened = await them.open(theirs);
  assert.deepEqual(them.text ? opened : Buffer.from(opened), payload, peer);

  const [our, their] = op.endsWith('seal')
    ? [() => us.seal(bytes), () => them.seal(payload)]
    : [() => us.open(token), () => them.open(theirs)];
  const sides = [contestant(our, { sync: true }), contestant(their, them)];
  const [oursNs, peerNs] = await duel(sides, them.atOnce ? BATCHES : TURNS);
  const ratio = peerNs / oursNs;
  console.error(`node ${peer} ${op} ${bytes.length} B: ${ratio.toFixed(1)} ×`);
  print({
    ...{ size: bytes.length, op, ours_ns: oursNs, peer, peer_ns: peerNs, ratio },
    ...{ ours_length: token.length, peer_length: theirs.length },
  });
}

/** The resident memory before and after so many tokens, in bytes. */
function memoryAfter(tokens) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const payload = new Uint8Array(256);
  const work = (count) => {
    for (let at = 0; at < count; at++) us.open(us.seal(payload));
    collect();
    return process.memoryUsage.rss();
  };
  const before = work(50_000);
  return { tokens, before, after: work(tokens) };
}

/** The same characters for everyone: JSON-able, and nothing to compress. */
function randomText(length) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .';
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return alphabet[state >>> 26];
  };
  return Array.from({ length }, next).join('');
}

function print(line) {
  console.log(JSON.stringify({ language: drawn ? 'node-drawn' : 'node', ...line }));
}
