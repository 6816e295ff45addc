// The peers, each bound to the same principal, audience, request and lifetime as far as it can.
// `seal(payload)` gives a token and `open(token)` the payload, or promises of them. The payload
// comes in the form that suits the peer: text where it goes into JSON, bytes elsewhere.

import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { sealData, unsealData } from 'iron-session';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { Codec, Key, KeyRing, requestContext } from 'sealwax';

import { NodeCryptoCodec } from './node-crypto.mjs';

const TTL = 600;
const audience = 'https://mcp.example.com';
const principal = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const request = ['tools/call', 'delete_note', { id: 7 }];

export function ours() {
  const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience });
  const sealer = codec.view(principal).requestState(requestContext(...request));
  return {
    seal: (payload) => sealer.seal(payload),
    open: (token) => sealer.open(token).payload,
    ofCall: oursOfCall(codec),
  };
}

/** What a request needs beside its tokens: each as a function to call. */
export function parts() {
  const codecOf = (keys) =>
    new Codec({ keys: new KeyRing(Array.from({ length: keys }, () => Key.generate())), audience });
  const [method, target, args] = call;
  const sorted = Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
  const [one, three] = [codecOf(1), codecOf(3)];
  return {
    context: () => requestContext(method, target, sorted),
    'context-unsorted': () => requestContext(method, target, args),
    view: () => one.view(principal).free(),
    'view-3-keys': () => three.view(principal).free(),
  };
}

/** A call as a handler has it: its arguments are in the order of the tool's schema. */
export const call = [
  'tools/call',
  'save_note',
  {
    path: 'projects/sealwax/meeting-notes.md',
    title: 'Meeting of Tuesday',
    content: 'Decide on the release; ask Alice for the figures.',
    tags: ['work', 'release'],
    pinned: true,
    revision: 41,
    reason: 'the user asked for it',
  },
];

/** The same with nothing computed beforehand but the keys: from the principal and the arguments on. */
function oursOfCall(codec) {
  const bound = (work) => {
    const view = codec.view(principal);
    const done = work(view.requestState(requestContext(...call)));
    view.free();
    return done;
  };
  return {
    seal: (payload) => bound((sealer) => sealer.seal(payload)),
    open: (token) => bound((sealer) => sealer.open(token).payload),
  };
}

// What the peers bind is computed beforehand, as our view and request context are.
const digest = createHash('sha256').update(JSON.stringify(request)).digest('base64url');
const bindings = JSON.stringify([audience, ...Object.values(principal), digest]);

/** The same of a call whose token is to be bound. */
function bindingsOf(call) {
  const digest = createHash('sha256').update(JSON.stringify(call)).digest('base64url');
  return JSON.stringify([audience, ...Object.values(principal), digest]);
}

function official(bind = () => bindings) {
  const codec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: TTL, bind });
  const context = { call };
  return {
    text: true,
    seal: (payload) => codec.mint(payload, context),
    open: (token) => codec.verify(token, context),
  };
}

async function jose() {
  const raw = randomBytes(32);
  // Imported once: with the bytes themselves jose imports them for each token.
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']);
  const { issuer, client, subject } = principal;
  const expected = { issuer, audience, subject };
  return {
    text: true,
    seal: (payload) =>
      new EncryptJWT({ payload, azp: client, req: digest })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setExpirationTime(Math.floor(Date.now() / 1000) + TTL)
        .encrypt(key),
    open: async (token) => {
      const { payload } = await jwtDecrypt(token, key, expected);
      if (payload.azp !== client || payload.req !== digest) throw new Error('bindings');
      return payload.payload;
    },
  };
}

function ironSession() {
  const options = { password: randomBytes(32).toString('base64url'), ttl: TTL };
  return {
    text: true,
    seal: (payload) => sealData({ payload, bindings }, options),
    open: async (token) => {
      const opened = await unsealData(token, options);
      if (opened.bindings !== bindings) throw new Error('bindings');
      return opened.payload;
    },
  };
}

function nodeCrypto() {
  const codec = new NodeCryptoCodec(createSecretKey(randomBytes(32)), TTL);
  const bound = Buffer.from(bindings);
  return {
    sync: true,
    seal: (payload) => codec.seal(payload, bound),
    open: (token) => codec.open(token, bound),
  };
}

function nodeCryptoOfCall() {
  const codec = new NodeCryptoCodec(createSecretKey(randomBytes(32)), TTL);
  const bound = () => Buffer.from(bindingsOf(call));
  return {
    sync: true,
    seal: (payload) => codec.seal(payload, bound()),
    open: (token) => codec.open(token, bound()),
  };
}

export const peers = {
  'official-sequential': official(),
  'official-concurrent': { ...official(), atOnce: 4_000 },
  jose: await jose(),
  'iron-session': ironSession(),
  'node:crypto': nodeCrypto(),
};

/** Those that compute what a call binds, for each token. */
export const peersOfCall = {
  'official-sequential': official((context) => bindingsOf(context.call)),
  'node:crypto': nodeCryptoOfCall(),
};
