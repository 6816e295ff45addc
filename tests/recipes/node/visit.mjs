// What every recipe serves, by the official client: `node visit.mjs '{"url": …, "alice": …, "mallory": …, "once": false}'`.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** `alice` and `mallory` are access tokens; `once`, whether there is a ledger; `fetch`, what sends a request. */
export async function visit({ url, alice, mallory, once, fetch = globalThis.fetch }) {
  const anybody = await fetch(url, { method: 'POST', body: '{}' });
  assert.equal(anybody.status, 401);

  const [hers, his] = [await connected(url, alice, fetch), await connected(url, mallory, fetch)];
  const { requestState } = await clear(hers);
  assert.match(requestState, /^sw1\./);
  const answer = { requestState, inputResponses: { confirm: { action: 'accept', content: {} } } };
  const refused = { code: -32602, message: /Invalid or expired requestState/ };
  await assert.rejects(clear(his, answer), refused);
  const altered = `${requestState.slice(0, 40)}${requestState[40] === 'a' ? 'b' : 'a'}${requestState.slice(41)}`;
  await assert.rejects(clear(hers, { ...answer, requestState: altered }), refused);
  assert.deepEqual((await clear(hers, answer)).content, [{ type: 'text', text: 'cleared' }]);
  if (once) await assert.rejects(clear(hers, answer), refused);
  else assert.deepEqual((await clear(hers, answer)).content, [{ type: 'text', text: 'cleared' }]);
  await Promise.all([hers.close(), his.close()]);
}

/** Connects the official client. */
export async function connected(url, token, fetch) {
  const capabilities = { elicitation: { form: {} } };
  const versionNegotiation = { mode: { pin: '2026-07-28' } };
  const client = new Client(
    { name: 'visit', version: '1.0.0' },
    { capabilities, versionNegotiation },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit }));
  return client;
}

function clear(client, answer = {}) {
  return client.callTool({ name: 'clear', ...answer }, { allowInputRequired: true });
}

if (import.meta.main) await visit(JSON.parse(process.argv[2]));
