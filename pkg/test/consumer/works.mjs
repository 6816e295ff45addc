// Calls of every part of the slim package, for tests that have its host fail in the middle of them.

import assert from 'node:assert/strict';

import { answer, Codec, inspect, Key, requestContextFromJson } from 'sealwax/slim';
import { internal } from './exported.mjs';

/** Returns them by their names, once the package was started; `keep` gets each token that they seal. */
export async function works(keep = () => {}) {
  const { Engine } = await internal('mcp/engine.js');
  const { MemoryLedger } = await internal('mcp/ledger/memory.js');
  const keys = Key.generate().toText();
  const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
  const view = codec.view({ subject: 'alice' });
  const cursor = view.cursor('tools/list');
  const sessions = view.sessions();
  const token = cursor.sealJson({ page: 2 });
  const sent = sessions.create(new Uint8Array(64));
  const handle = view.mintHandle('row');
  const engine = new Engine(codec, { sessions: {} });
  const ledger = new MemoryLedger({ capacity: 4096 });
  const deep = `${'{"a":'.repeat(99)}"é"${'}'.repeat(99)}`;
  const message = { method: 'tools/call', target: 'x', modern: true, args: deep };
  const refused = (text) => {
    try {
      cursor.open(text);
    } catch (error) {
      if (error.code === 'malformed') return;
      throw error;
    }
    assert.fail('expected a refusal');
  };
  return {
    seal: () => keep(cursor.seal(new Uint8Array(64))),
    open: () => cursor.open(token),
    'a refusal': () => refused('x'),
    'a refusal of a text beyond ASCII': () => refused('é'.repeat(9)),
    'a session': () => sessions.open(sent).free(),
    'a renewal': () => keep(sessions.renew(sessions.open(sent), new Uint8Array(1)).state),
    'a user': () => codec.view({ issuer: 'i', subject: 'bob' }).free(),
    'a handle': () => view.verifyHandle('row', handle),
    'an id': () => inspect(view.mintSessionId()),
    'what a handle is': () => inspect(handle),
    'what a key is': () => inspect(keys),
    'a codec': () => new Codec({ keys, audience: 'x', clockTolerance: 1 }).free(),
    'the same keys': () => codec.setKeys(keys),
    'an answer': () => answer('data-layer', { sessionId: 'x', error: new TypeError() }),
    'an answer to a tool': () => answer('handle'),
    'a request': () => requestContextFromJson('tools/call', 'x', deep),
    'an exchange': () => {
      const exchange = engine.request(message, 'requestState', { anonymous: true });
      try {
        keep(exchange.sealState(deep));
        exchange.result({ requestState: deep, resultType: 'input_required' });
      } finally {
        exchange.free();
      }
    },
    'a ledger': () => {
      const open = { script: 'open', keys: ['swl1:{a}:began', 'swl1:{a}:fence'], args: [] };
      assert.equal(ledger.run(open)[0], 'ok');
    },
  };
}
