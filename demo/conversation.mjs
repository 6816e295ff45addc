// An official TypeScript client that is told by lines what to do, and tells what it got: see fleet.py.

import { createInterface } from 'node:readline';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ClientSessions } from 'sealwax/mcp/client';

const [url, bearer, era] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const told = async () => JSON.parse((await lines.next()).value ?? 'null');
const tell = (what) => console.log(JSON.stringify(what));

const client = new Client(
  { name: 'demo', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
  },
);
// The client answers what a tool asks back, and retries the call with the state, by itself.
client.setRequestHandler('elicitation/create', async ({ params }) => {
  tell({ asked: params.message });
  return { action: 'accept', content: await told() };
});
const headers = { authorization: `Bearer ${bearer}` };
const sessions = new ClientSessions();
const opened = (name) => sessions.open(client, { server: 'fleet', user: 'me', name });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
tell('connected');

for (let order = await told(); order !== null; order = await told()) {
  try {
    tell(await carryOut(order));
  } catch (error) {
    tell({ error: { code: error.code, message: error.message } });
  }
}
await client.close();

async function carryOut({ call, delete: over, page, session, tools }) {
  if (call !== undefined) {
    const caller = session === undefined ? client : await opened(session);
    const { content, isError } = await caller.callTool(call);
    return { text: content[0].text, isError: isError === true };
  }
  if (over !== undefined) {
    await (await opened(over)).delete();
    return { deleted: over };
  }
  if (tools !== undefined) return { tools: (await client.listTools()).tools.length };
  const { resources, nextCursor } = await client.request({
    method: 'resources/list',
    params: page === null ? {} : { cursor: page },
  });
  return { items: resources.length, nextCursor };
}
