// An official TypeScript client that is told by lines what to do, and tells what it got: see fleet.py.

import { createInterface } from 'node:readline';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const SESSION = 'io.modelcontextprotocol/session';
const NOT_FOUND = -32043;
/** The SDK has no schema for results of a draft. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'demo', validate: (value) => ({ value }) },
};

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
/** The metadata of each session by its name, as the server sent it last. */
const sessions = new Map();
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

/** Calls a tool in a session, which the server creates at its first call. */
async function called(name, call) {
  if (!sessions.has(name)) {
    const { session } = await client.request({ method: 'sessions/create', params: {} }, ANYTHING);
    sessions.set(name, session);
  }
  const { sessionId, state } = sessions.get(name);
  try {
    const result = await client.callTool({ ...call, _meta: { [SESSION]: { sessionId, state } } });
    sessions.set(name, { ...sessions.get(name), ...result._meta[SESSION] });
    return result;
  } catch (error) {
    if (error.code === NOT_FOUND) sessions.delete(name);
    throw error;
  }
}

async function carryOut({ call, delete: over, page, session, tools }) {
  if (call !== undefined) {
    const { content, isError } =
      session === undefined ? await client.callTool(call) : await called(session, call);
    return { text: content[0].text, isError: isError === true };
  }
  if (over !== undefined) {
    const { sessionId } = sessions.get(over);
    const params = { _meta: { [SESSION]: { sessionId } } };
    await client.request({ method: 'sessions/delete', params }, ANYTHING);
    sessions.delete(over);
    return { deleted: over };
  }
  if (tools !== undefined) return { tools: (await client.listTools()).tools.length };
  const { resources, nextCursor } = await client.request({
    method: 'resources/list',
    params: page === null ? {} : { cursor: page },
  });
  return { items: resources.length, nextCursor };
}
