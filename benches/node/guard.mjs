// What protection adds to a request: the SDK's servers in this process, without any, with the SDK's
// own codec, and with our guard: `node guard.mjs [quick]`.
// One JSON object a line on standard output (benches/run.py says which), progress on standard error.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  InMemoryTransport,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec, Key, KeyRing } from 'sealwax';
import { Guard } from 'sealwax/mcp';

import { contestant, timesByTurn, worked } from './measure.mjs';

const quick = process.argv[2] === 'quick';
// What it costs, on a machine that may have more to do: the work, not the time that passes.
const TURNS = {
  turnMs: 4,
  clock: worked,
  ...(quick ? { turns: 50, warmMs: 300 } : { turns: 150, warmMs: 1_500 }),
};

const SESSION = 'io.modelcontextprotocol/session';
const REVISION = '2026-07-28';
const audience = 'https://mcp.example.com';
const principal = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };

/** What a state or a session holds: 256 bytes of JSON. */
const FIRST = { round: 1, notes: 'x'.repeat(234) };
assert.equal(JSON.stringify(FIRST).length, 256);
const next = ({ round, notes }) => ({ round: (round % 9) + 1, notes });

// ---- what protects: `session` gives what the result has besides ----

function none() {
  return {
    state: ({ mcpReq }) => mcpReq.requestState() && JSON.parse(mcpReq.requestState()),
    sealed: (_, value) => JSON.stringify(value),
    session({ mcpReq }) {
      const { sessionId, state } = mcpReq._meta[SESSION];
      return {
        _meta: { [SESSION]: { sessionId, state: JSON.stringify(next(JSON.parse(state))) } },
      };
    },
  };
}

/** As it comes: of a request it can bind the method alone, and it has no sessions. */
function codec() {
  const bound = [audience, ...Object.values(principal)];
  const bind = ({ mcpReq }) => JSON.stringify([...bound, mcpReq.method]);
  const theirs = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600, bind });
  return {
    options: { requestState: { verify: theirs.verify } },
    state: ({ mcpReq }) => mcpReq.requestState(),
    sealed: (context, value) => theirs.mint(value, context),
  };
}

function guard({ sessions = false } = {}) {
  const ours = new Guard({
    codec: new Codec({ keys: new KeyRing([Key.generate()]), audience }),
    principal: () => principal,
    logger: { warn() {} },
  });
  const held = sessions && ours.sessions({ initial: () => FIRST });
  return {
    protect: (server) => ours.protect(server),
    state: ({ mcpReq }) => mcpReq.requestState(),
    sealed: (context, value) => ours.state(context, value),
    session(context) {
      const session = held.of(context);
      session.write(next(session.value));
      return {};
    },
  };
}

// ---- the server, and the two ways to it ----

const inputSchema = fromJsonSchema({
  type: 'object',
  properties: { id: { type: 'integer' }, reason: { type: 'string' } },
  required: ['id'],
});

function factoryOf({ options = {}, protect = (server) => server, state, sealed, session }) {
  return () => {
    const server = protect(new McpServer({ name: 'bench', version: '1' }, options));
    const done = { content: [{ type: 'text', text: 'done' }] };
    server.registerTool('plain', { inputSchema }, () => done);
    server.registerTool('state', { inputSchema }, async (_, context) => {
      const value = next((await state(context)) ?? FIRST);
      return inputRequired({ requestState: await sealed(context, value) });
    });
    server.registerTool('session', { inputSchema }, (_, context) => ({
      ...done,
      ...session(context),
    }));
    return server;
  };
}

let id = 0;
function message(method, params) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...params._meta,
  };
  id += 1;
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

/** One server for all requests, as on stdio. */
async function connected(factory) {
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const waiting = new Map();
  ours.onmessage = (answer) => {
    waiting.get(answer.id)(answer);
    waiting.delete(answer.id);
  };
  await ours.start();
  serveStdio(factory, { transport: theirs });
  return (method, params) =>
    new Promise((answered) => {
      const request = message(method, params);
      waiting.set(request.id, answered);
      ours.send(request);
    });
}

/** A server for each request, as over HTTP. */
function stateless(factory) {
  const handler = createMcpHandler(factory);
  return async (method, params) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(params.name && { 'mcp-name': params.name }),
    };
    const body = JSON.stringify(message(method, params));
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body });
    return (await handler.fetch(request)).json();
  };
}

// ---- what is asked: a request of each kind, with what the answer to another has given ----

const call = { arguments: { id: 7, reason: 'the user asked for it' } };

const requests = {
  async plain(ask) {
    return () => asked(ask, { ...call, name: 'plain' });
  },
  async state(ask, protection) {
    const { requestState } = await asked(ask, { ...call, name: 'state' });
    assert.equal(requestState.startsWith('{'), protection === 'none');
    const params = { ...call, name: 'state', requestState };
    if (protection !== 'none') {
      const { error } = await ask('tools/call', { ...params, requestState: `${requestState}!` });
      assert.equal(error.code, -32602);
    }
    return () => asked(ask, params);
  },
  async session(ask, protection) {
    const created = protection === 'guard' && (await ask('sessions/create', {})).result.session;
    const { sessionId, state } = created || { sessionId: 'clear', state: JSON.stringify(FIRST) };
    const params = { ...call, name: 'session', _meta: { [SESSION]: { sessionId, state } } };
    const { _meta } = await asked(ask, params);
    assert.notEqual(_meta[SESSION].state, state);
    return () => asked(ask, params);
  },
};

async function asked(ask, params) {
  const { result } = await ask('tools/call', params);
  if (result === undefined || result.isError) throw new Error(`refused: ${JSON.stringify(params)}`);
  return result;
}

for (const [server, over] of Object.entries({ memory: connected, http: stateless })) {
  for (const [request, prepare] of Object.entries(requests)) {
    const sessions = request === 'session';
    const protections = {
      none: none(),
      ...(!sessions && { codec: codec() }),
      guard: guard({ sessions }),
    };
    const sides = [];
    for (const [name, protection] of Object.entries(protections)) {
      const ask = await over(factoryOf(protection));
      sides.push(contestant(await prepare(ask, name)));
    }
    console.error(`node ${server} ${request}`);
    const times = await timesByTurn(sides, TURNS);
    const turns = Object.fromEntries(Object.keys(protections).map((name, at) => [name, times[at]]));
    console.log(JSON.stringify({ language: 'node', server, request, turns }));
  }
}
process.exit(0);
