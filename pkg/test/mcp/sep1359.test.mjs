// SEP-1359 over HTTP and stdio. The official client's schemas refuse the member as the server's do,
// so a shim takes it off what comes, and puts it on what leaves.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Key } from 'sealwax';
import { bearer, compiled, connected, LEGACY, sleep, told, transports } from './client.mjs';

const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const keys = Key.generate().toText();
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

/** The shim: a transport of the SDK's that speaks the SEP. `seen` is all that came, as it came. */
function shimmed(transport, peer) {
  const { send } = transport;
  transport.send = (message, options) => {
    const { sessionId } = peer;
    const carried = sessionId === undefined || message.method === 'initialize';
    return send.call(transport, carried ? message : { ...message, sessionId }, options);
  };
  const { start } = transport;
  transport.start = () => {
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      peer.seen.push(message);
      if (message.result?.sessionTimeout !== undefined) {
        peer.sessionId ??= message.result.sessionId;
        peer.timeout = message.result.sessionTimeout;
      }
      const { sessionId: _, ...rest } = message;
      if (rest.result) {
        const { sessionId, sessionTimeout, ...result } = rest.result;
        rest.result = result;
      }
      onmessage(rest, extra);
    };
    return start.call(transport);
  };
  return transport;
}

/** Alice's peers that speak the SEP, each to a server of its own. */
const ways = {
  async http(peer) {
    const server = await transports.http({ keys, fetch: { sep1359: true } });
    closing.push(server);
    const requestInit = { headers: { authorization: await bearer('alice') } };
    // The body alone: what is in the header is another way.
    const bodyAlone = async (url, init) => {
      const headers = new Headers(init.headers);
      if (peer.sessionId !== undefined) headers.delete('mcp-session-id');
      const response = await globalThis.fetch(url, { ...init, headers });
      response
        .clone()
        .text()
        .then(
          (text) => peer.wire.push(text),
          () => {}, // closed before its end
        );
      return response;
    };
    const options = { requestInit, fetch: bodyAlone };
    return shimmed(new StreamableHTTPClientTransport(server.url, options), peer);
  },

  async stdio(peer) {
    const transport = shimmed(newProcess(), peer);
    const { start } = transport;
    transport.start = async () => {
      await start();
      transport._process.stdout.on('data', (chunk) => peer.wire.push(`${chunk}`));
    };
    return transport;
  },
};

/** The transport of a new process. */
function newProcess() {
  const TEST_CONFIG = JSON.stringify({ keys, user: 'alice', sep1359: {} });
  const env = { ...compiled, TEST_CONFIG };
  return new StdioClientTransport({
    ...{ command: process.execPath, args: [SERVER], env, stderr: 'ignore' },
  });
}

async function connect(way) {
  const peer = { seen: [], wire: [] };
  const client = await connected(await ways[way](peer), LEGACY);
  closing.unshift(client.client);
  return Object.assign(client, { peer });
}

for (const way of Object.keys(ways)) {
  test(`${way}: initialize begins a session, and messages carry it both ways`, async () => {
    const client = await connect(way);
    const { peer } = client;
    assert.match(peer.sessionId, /^sw1\./);
    assert.ok(Math.abs(peer.timeout - 30 * 24 * 3600) < 5);
    assert.ok(told(await client.call('mint')).handle);
    await client.client.ping();
    const results = peer.seen.filter(({ result }) => result);
    assert.equal(results.length, 3);
    for (const { result } of results) assert.equal(result.sessionId, peer.sessionId);
    assert.equal(told(await client.call('notify', {})), 'notified');
    // The client's reader refuses the member before any shim sees it.
    await sleep(50);
    const [line] = peer.wire.join('').match(/\{.*notifications\/tools\/list_changed.*\}/);
    assert.equal(JSON.parse(line).sessionId, peer.sessionId);
  });
}

test('stdio: a session outlives the process', async () => {
  const first = await connect('stdio');
  const { sessionId } = first.peer;
  const { requestState } = (await first.call('ask', { id: 7 }, {})).result;
  assert.equal(requestState, undefined); // in this revision the server asks by itself
  await first.client.close();

  // Another process: no initialize, but plain messages.
  const transport = newProcess();
  closing.push(transport);
  // The SDK's reader refuses the member, so the lines are read as they are.
  const seen = [];
  await transport.start();
  transport._process.stdout.removeAllListeners('data');
  createInterface(transport._process.stdout).on('line', (line) => seen.push(JSON.parse(line)));
  const params = { name: 'mint', arguments: {} };
  const request = { jsonrpc: '2.0', method: 'tools/call', params, sessionId };
  await transport.send({ ...request, id: 1 });
  await transport.send({ ...request, id: 2 });
  await transport.send({ ...request, id: 3, sessionId: 'x' });
  for (let waits = 0; waits < 3000 && seen.length < 3; waits += 1) await sleep(10);
  await sleep(50);
  const byId = new Map(seen.map((message) => [message.id, message]));
  assert.deepEqual([...byId.keys()].sort(), [1, 2, 3]);
  assert.equal(seen.length, 3);
  for (const id of [1, 2]) {
    assert.equal(byId.get(id).result.sessionId, sessionId);
    assert.ok(told(byId.get(id)).handle);
  }
  assert.equal(byId.get(3).error.code, -32003);
});
