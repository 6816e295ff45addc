// Every kind of token, over every transport and revision: what opens, and all that must not.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { answer, Codec, Key, requestContext } from 'sealwax';
import { during, LEGACY, MODERN, sleep, told, transports } from './client.mjs';
import { ISSUER } from './server.mjs';

const keys = Key.generate().toText();
const audience = 'https://mcp.example.com';
const retired = Key.generate().toText();

/** What a client has of each kind: how it gets one, how it brings one back, what that gives. */
const systems = {
  'requestState of tools/call': state('tools/call', (id) => ({ name: 'ask', arguments: { id } })),
  'requestState of prompts/get': state('prompts/get', (id) => ({
    ...{ name: 'ask', arguments: { id: `${id}` } },
  })),
  'requestState of resources/read': state('resources/read', (id) => ({ uri: `doc:///${id}` })),
  cursor: {
    kind: 'cursor',
    refusal: { error: answer('cursor').error },
    get: async (client) => (await client.send('resources/list', {})).result.nextCursor,
    seal: (view, life) => view.cursor('resources/list').seal(bytes('1'), life),
    bring: (client, cursor) => client.send('resources/list', { cursor }),
    // A cursor is of no other list.
    bringToAnother: (client, cursor) => client.send('resources/templates/list', { cursor }),
    opens: ({ result }) => assert.equal(result.resources[0].name, 'doc 1'),
  },
  'server-held handle': handle('handle', {
    get: async (client) => told(await client.call('mint')).handle,
    bring: (client, handle) => client.call('check', { handle }),
    opens(answer, handle) {
      assert.equal(told(answer).handle, handle);
      assert.match(told(answer).ulid, /^[0-9a-f]{32}$/);
      assert.match(told(answer).expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
    another: async (client) => told(await client.call('hold', { value: [] })).handle,
  }),
  'client-held handle': handle('handle-state', {
    get: async (client) => told(await client.call('hold', { value: ['a'] })).handle,
    bring: (client, handle) => client.call('open', { handle }),
    opens(answer) {
      assert.deepEqual(told(answer).value, ['a']);
      assert.match(told(answer).expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
    another: async (client) => told(await client.call('mint')).handle,
  }),
};

function state(method, params) {
  return {
    kind: 'request-state',
    refusal: { error: answer('request-state').error },
    get: async (client) => (await client.send(method, params(7))).result.requestState,
    seal(view, life) {
      const { name, uri = name, arguments: args } = params(7);
      const sealer = view.requestState(requestContext(method, uri, args));
      return sealer.sealJson({ asked: 7 }, life);
    },
    bring: (client, requestState) => client.send(method, { ...params(7), requestState }),
    bringToAnother: (client, requestState) => client.send(method, { ...params(8), requestState }),
    opens: ({ result }) => assert.match(JSON.stringify(result), /asked/),
  };
}

function handle(kind, { another, ...system }) {
  // Of another type: the type of a handle is what a cursor's method is.
  const bringToAnother = async (client) => system.bring(client, await another(client));
  const { toolResult: refusal } = answer('handle');
  return { kind, refusal, bringToAnother, ...system };
}

const bytes = (text) => new TextEncoder().encode(text);

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    describe(`${transport}, revision ${era}`, () => {
      const servers = [];
      const serve = async (config) => {
        const server = await transports[transport]({ keys, ...config });
        servers.push(server);
        return server;
      };
      const client = transport === 'http' ? { client: 'app' } : {};
      const view = (keys) =>
        new Codec({ keys, audience }).view({ issuer: ISSUER, subject: 'alice', ...client });
      // In earlier revisions a state stays in the server, but a client can send one all the same.
      const make = (system, client, keys) =>
        system.kind === 'request-state' && era === LEGACY
          ? system.seal(view(keys))
          : system.get(client);

      let [server, alice, mallory, brief, old] = [];
      const late = {};
      before(async () => {
        server = await serve({});
        alice = await server.connect('alice', era);
        mallory = await server.connect('mallory', era);
        brief = await (await serve({ ttl: 1 })).connect('alice', era);
        old = await (await serve({ keys: retired })).connect('alice', era);
        for (const [name, system] of Object.entries(systems)) {
          late[name] = await (system.seal?.(view(keys), { ttl: 1 }) ?? system.get(brief));
        }
        await sleep(2100);
      });
      after(() => Promise.all(servers.map((server) => server.close())));

      for (const [name, system] of Object.entries(systems)) {
        test(`${name}: opens for whom it was made`, async () => {
          const token = await make(system, alice, keys);
          system.opens(await system.bring(alice, token), token);
        });

        test(`${name}: all else is refused, and the client cannot tell why`, async () => {
          const token = await make(system, alice, keys);
          const ofRetiredKey = await make(system, old, retired);
          // A handle is short: it has one code for whatever it is not.
          const short = system.kind === 'handle';
          const refusals = [
            [short ? 'unauthentic' : 'principal_mismatch', token, mallory],
            ['unauthentic', altered(token)],
            [short ? 'unauthentic' : 'unknown_key', ofRetiredKey],
            ['too_large', `${token}${'A'.repeat(1_000_000)}`],
            ['malformed', ''],
            ['malformed', 'a text of mine'],
            // Only the server whose handles live so briefly knows that this one is over.
            ['expired', late[name], short ? brief : alice],
          ];
          for (const [code, token, client = alice] of refusals) {
            const bring = () => system.bring(client, token);
            if (client === brief) {
              assertRefused(system, await bring(), code);
              continue;
            }
            const { result, events } = await during(server.events, bring);
            assertRefused(system, result, code);
            const event = events.find((event) => event.code);
            assert.equal(event?.code, code, JSON.stringify(events));
            assert.equal(event.kind, system.kind);
            assert.equal(event.principal.subject, client === mallory ? 'mallory' : 'alice');
            if (/^(principal|unauth|unknown|exp)/.test(code) && !short) {
              assert.match(event.id, /^[0-9a-f]{32}$/);
            }
            if (token !== '') assert.ok(!JSON.stringify(events).includes(token), 'a token is told');
            const since = events.slice(events.indexOf(event));
            assert.deepEqual(
              since.filter(({ ran }) => ran),
              [],
              'the handler ran',
            );
          }
          assertRefused(system, await system.bringToAnother(alice, token), 'another');
        });

        test(`${name}: what is no text is refused the same`, async () => {
          const values = system.kind.startsWith('handle') ? [7, null, {}, ['x']] : [7];
          for (const value of values)
            assertRefused(system, await system.bring(alice, value), value);
        });
      }
    });
  }
}

/** The same answer to the letter: the whole JSON-RPC error, or what a tool's result has. */
function assertRefused(system, answer, why) {
  if (answer.error) return assert.deepEqual(answer, { jsonrpc: '2.0', ...system.refusal }, why);
  const { _meta, resultType, ...result } = answer.result;
  assert.deepEqual(result, system.refusal, why);
}

/** One character of what is sealed, the last but one so that all its bits count. */
function altered(token) {
  const at = token.length - 2;
  return `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
}
