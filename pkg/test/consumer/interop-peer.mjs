// The TypeScript peer of tests/driver: a request a line, an answer a line.

import { createInterface } from 'node:readline';

import { Codec, SealwaxError } from 'sealwax';
import { hex, sealerOf } from './vectors.mjs';

const OPERATIONS = {
  seal: (request) => [sealer(request).seal(request.payload, request.life)],

  open(request) {
    const { payload, generation, needsReseal, tokenId } = openedToken(request);
    return [hex(payload), generation, Number(needsReseal), tokenId];
  },

  renew(request) {
    return [sealer(request).renew(openedToken(request), request.payload, request.life)];
  },

  'mint-session-id': (request) => [view(request).mintSessionId()],

  'verify-session-id'(request) {
    return verified(view(request).verifySessionId(request.token, request.age));
  },

  'mint-handle': (request) => [view(request).mintHandle(request.label)],

  'verify-handle'(request) {
    return verified(view(request).verifyHandle(request.label, request.token, request.age));
  },

  'session-create': (request) => [JSON.stringify(sessions(request).create(request.payload))],

  'session-open'(request) {
    const { payload, generation } = opened(request);
    return [hex(payload), generation];
  },

  'session-renew'(request) {
    return [JSON.stringify(sessions(request).renew(opened(request), request.payload))];
  },

  'session-fork': (request) => [JSON.stringify(sessions(request).fork(opened(request)))],
};

function respond(request) {
  try {
    return ['ok', ...OPERATIONS[request.op](request)];
  } catch (error) {
    if (!(error instanceof SealwaxError)) throw error;
    return ['error', error.code];
  }
}

function parse(line) {
  const [op, ring, audience, principal, kind, ...rest] = line.split('\t');
  const [label, sessionId, context, ttl, payload, token, maxAge] = rest;
  const texts = { ring, audience, label, session_id: sessionId, token };
  const decoded = Object.entries(texts).map(([name, hex]) => [name, utf8(hex)]);
  return {
    ...{ op, principal, kind, context, payload: Buffer.from(payload, 'hex') },
    ...Object.fromEntries(decoded),
    life: ttl === 'none' ? { noExpiry: true } : { ttl: number(ttl) },
    age: { maxAge: number(maxAge) },
  };
}

function view({ ring, audience, principal }) {
  const codec = new Codec({ keys: ring, audience });
  if (principal === 'anonymous') return codec.view({ anonymous: true });
  const [issuer, client, subject] = utf8(principal)
    .split('\0')
    .map((part) => part || undefined);
  return codec.view({ issuer, client, subject });
}

const sealer = (request) => sealerOf(view(request), request);
const openedToken = (request) => sealer(request).open(request.token, request.age);
const sessions = (request) => view(request).sessions(request.life);
const opened = (request) => sessions(request).open(JSON.parse(request.token));
const verified = ({ createdAtMs, needsReseal }) => [createdAtMs, Number(needsReseal)];
const number = (text) => (text === '' ? undefined : Number(text));

function utf8(hex) {
  return new TextDecoder().decode(Buffer.from(hex, 'hex'));
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${respond(parse(line)).join('\t')}\n`);
}
