// The cases of tests/vectors/wire.json, byte by byte: through the listener of Node's HTTP, and on the streams of stdio. A piece
// may end anywhere, and no exchange is left in the module's memory.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { deserializeMessage } from '@modelcontextprotocol/server';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { answerTo, sending, serving } from './client.mjs';
import { exchanges } from './node_modules/sealwax/dist/esm/raw.js';
import { codec, guardOf } from './wire.mjs';

const alice = { subject: 'alice' };
const NEGOTIATED = {
  clientCapabilities: {},
  clientInfo: { name: 'c', version: '1' },
  protocolVersion: '2025-11-25',
  serverCapabilities: {},
};
const { cases } = JSON.parse(readFileSync(new URL('wire.json', import.meta.url), 'utf8'));

/** Sends a request; a header that is there several times has an array. */
async function answerOf(url, { body, ...head }) {
  const sent = sending(url, head);
  await inPieces(sent, body);
  return answerTo(sent.end());
}

/** Writes some bytes one by one, but those of a large body at once. */
async function inPieces(to, bytes = '') {
  for (const piece of bytes.length < 10_000 ? Buffer.from(bytes) : [bytes]) {
    to.write(Number.isInteger(piece) ? Buffer.of(piece) : piece);
    await new Promise(setImmediate);
  }
}

/** A guard of Alice's, what it logs, and what the texts of a case stand for. */
function world() {
  const session = codec.view(alice).session();
  const token = session.sealJson(NEGOTIATED);
  const texts = { '{t}': token, '{bad}': `${token.slice(0, -2)}AA` };
  texts['{u}'] = session.sealJson(NEGOTIATED);
  const told = (text) => text.replaceAll(/\{\w+\}/g, (name) => texts[name] ?? name);
  const bytes = (of) => {
    if (typeof of === 'string') return Buffer.from(told(of));
    return of.hex ? Buffer.from(of.hex, 'hex') : Buffer.alloc((4 << 20) + 1);
  };
  const logged = [];
  const onRefused = ({ code }) => logged.push(code);
  const guard = guardOf({ principal: () => alice, onRefused });
  return { guard, logged, texts, told, bytes };
}

for (const one of cases.filter(({ http }) => http)) {
  test(one.name, async (t) => {
    const { guard, logged, texts, told, bytes } = world();
    let delivered;
    const handler = async (request) => {
      delivered = await request.text();
      if (one.broke) throw new TypeError('of a secret');
      const { status, type, session, body } = one.answer ?? { status: 200, body: '' };
      const content = bytes(body);
      const headers = {
        'content-length': content.length,
        ...(type && { 'content-type': type }),
        ...(session && { 'mcp-session-id': session }),
      };
      return new Response(content, { status, headers });
    };
    const url = await serving(t, guard.node(guard.fetch(handler, one.settings.transport)));

    const { method, body, version, session, encoding } = one.http;
    const header = (name, value, several) =>
      value && { [name]: value.several ? [several, several] : told(value) };
    const { status, headers, text } = await answerOf(url, {
      method,
      headers: {
        ...header('mcp-session-id', session, texts['{t}']),
        // By one of a later revision no session would be needed.
        ...header('mcp-protocol-version', version, '2026-07-28'),
        ...header('content-encoding', encoding),
      },
      body: body && bytes(body),
    });
    const begun = headers['mcp-session-id'];
    texts['{new}'] = begun;
    const expected = one.delivers && bytes(one.delivers.body ?? body ?? '').toString();
    assert.equal(delivered, expected);
    const reply = one.replies ?? one.instead;
    if (reply) {
      assert.deepEqual(
        [status, headers.allow, text],
        [reply.status, reply.allow, reply.body ?? ''],
      );
    } else if (one.answer) {
      assert.deepEqual([status, text], [one.answer.status, told(one.leaves)]);
      assert.equal(begun !== undefined, one.header !== undefined);
    }
    assert.deepEqual([logged, exchanges()], [one.logged ? [one.logged] : [], 0]);
  });
}

/** What the SDK reads of a line, without what the guard tells itself in it. */
function read(line) {
  const { params, ...message } = JSON.parse(line);
  const { _meta, ...rest } = params ?? {};
  return { ...message, ...rest };
}

/** Whether the SDK reads lines: the guard answers others. */
function isRead(lines) {
  try {
    return lines.split('\n').map(deserializeMessage).length > 0;
  } catch {
    return false;
  }
}

// The SDK's transport says of no message to which request it belongs; and these streams are for SEP-1359.
const isPlayed = ({ lines, settings }) =>
  lines?.every(([way, line]) => (way === 'to' ? isRead(line) : way !== 'of' && way !== 'broke')) &&
  settings.transport?.sep1359;
for (const one of cases.filter(isPlayed)) {
  test(one.name, async () => {
    const { guard, logged, texts, told, bytes } = world();
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const { ttl } = one.settings.transport ?? {};
    const [inward, outward] = sessionStreams(guard, { stdin, stdout, ttl });
    const [toSdk, toClient] = [inward, stdout].map((input) =>
      createInterface({ input, crlfDelay: 0 })[Symbol.asyncIterator](),
    );
    for (const [way, line] of one.lines) {
      if (way === 'in') await inPieces(stdin, Buffer.concat([bytes(line), Buffer.from('\n')]));
      else if (way === 'from') await inPieces(outward, `${told(line)}\n`);
      else if (way === 'out') {
        const { value } = await toClient.next();
        if (line.includes('{new}')) texts['{new}'] = JSON.parse(value).result.sessionId;
        assert.equal(value, told(line));
      } else {
        for (const each of line.split('\n')) {
          const { value } = await toSdk.next();
          if (way === 'replay') texts['{id}'] = JSON.stringify(JSON.parse(value).id);
          if (value !== told(each)) assert.deepEqual(read(value), read(told(each)));
        }
      }
    }
    assert.deepEqual([logged, exchanges()], [one.logged ? [one.logged] : [], 0]);
  });
}
