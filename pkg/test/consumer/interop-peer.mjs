// The TypeScript peer of tests/driver: a request a line, an answer a line.

import { createInterface } from 'node:readline';

import { Codec, SealwaxError } from 'sealwax';
import { hex, sealerOf } from './vectors.mjs';

const OPERATIONS = {
  seal: (request) => [sealer(request).seal(request.payload, life(request))],

  open(request) {
    const opened = sealer(request).open(utf8(request.token), maxAge(request));
    const { payload, generation, needsReseal, tokenId } = opened;
    return [hex(payload), generation, Number(needsReseal), tokenId];
  },

  renew(request) {
    const opened = sealer(request).open(utf8(request.token), maxAge(request));
    return [sealer(request).renew(opened, request.payload, life(request))];
  },

  'mint-session-id': (request) => [view(request).mintSessionId()],

  'verify-session-id'(request) {
    return verified(view(request).verifySessionId(utf8(request.token), maxAge(request)));
  },

  'mint-handle': (request) => [view(request).mintHandle(utf8(request.label))],

  'verify-handle'(request) {
    const [type, handle] = [utf8(request.label), utf8(request.token)];
    return verified(view(request).verifyHandle(type, handle, maxAge(request)));
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

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${respond(parse(line)).join('\t')}\n`);
}

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
  const bytes = { ring, audience, label, sessionId, context, payload, token };
  const decoded = Object.entries(bytes).map(([name, text]) => [name, Buffer.from(text, 'hex')]);
  return { op, principal, kind, ttl, maxAge, ...Object.fromEntries(decoded) };
}

function view({ ring, audience, principal }) {
  const codec = new Codec({ keys: utf8(ring), audience: utf8(audience) });
  if (principal === 'anonymous') return codec.view({ anonymous: true });
  const parts = utf8(Buffer.from(principal, 'hex')).split('\0');
  const [issuer, client, subject] = parts.map((part) => part || undefined);
  return codec.view({ issuer, client, subject });
}

function sealer(request) {
  const { kind, label, sessionId, context } = request;
  const fields = { label: utf8(label), session_id: utf8(sessionId), context: hex(context) };
  return sealerOf(view(request), { kind, ...fields });
}

function sessions(request) {
  return view(request).sessions(life(request));
}

function opened(request) {
  return sessions(request).open(JSON.parse(utf8(request.token)));
}

function verified({ createdAtMs, needsReseal }) {
  return [createdAtMs, Number(needsReseal)];
}

function life({ ttl }) {
  if (ttl === 'none') return { noExpiry: true };
  return { ttl: ttl === '' ? undefined : Number(ttl) };
}

function maxAge({ maxAge }) {
  return { maxAge: maxAge === '' ? undefined : Number(maxAge) };
}

function utf8(bytes) {
  return new TextDecoder().decode(bytes);
}
