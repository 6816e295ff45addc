// The package as its users install it, beside the codecs they have: `node bench.mjs [quick]`.
// One JSON object a line on standard output, progress on standard error.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { contestant, duel } from './measure.mjs';
import { ours, peers } from './peers.mjs';

const quick = process.argv[2] === 'quick';
const TURNS = { turnMs: 1, turns: quick ? 60 : 400 };
const BATCHES = { calls: 4_000, turns: quick ? 3 : 9 };
const TOKENS = quick ? 100_000 : 10_000_000;

const us = ours();

for (const size of [64, 256, 1024, 4096]) {
  const text = randomText(size);
  const bytes = new TextEncoder().encode(text);
  const token = us.seal(bytes);
  assert.deepEqual(us.open(token), bytes);

  for (const [peer, them] of Object.entries(peers)) {
    const payload = them.text ? text : Buffer.from(bytes);
    const theirs = await them.seal(payload);
    assert.deepEqual(await them.open(theirs), payload, peer);

    const calls = {
      seal: [() => us.seal(bytes), () => them.seal(payload)],
      open: [() => us.open(token), () => them.open(theirs)],
    };
    for (const [op, [our, their]] of Object.entries(calls)) {
      const sides = [contestant(our, { sync: true }), contestant(their, them)];
      const [oursNs, peerNs] = await duel(sides, them.atOnce ? BATCHES : TURNS);
      const ratio = peerNs / oursNs;
      console.error(`node ${peer} ${op} ${size} B: ${ratio.toFixed(1)} ×`);
      print({
        ...{ size, op, ours_ns: oursNs, peer, peer_ns: peerNs, ratio },
        ...{ ours_length: token.length, peer_length: theirs.length },
      });
    }
  }
}

const module = readFileSync(createRequire(import.meta.url).resolve('sealwax/sealwax.wasm'));
print({ module: { bytes: module.length, gzip: gzipSync(module, { level: 9 }).length } });

console.error(`node memory after ${TOKENS} tokens`);
print({ memory: memoryAfter(TOKENS) });

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
  console.log(JSON.stringify({ language: 'node', ...line }));
}
