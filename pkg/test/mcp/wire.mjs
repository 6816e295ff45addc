// Servers at the end of plain messages, for what no client of the SDK would send.

import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';

import {
  createMcpHandler,
  InMemoryTransport,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { anonymous, Codec, Key } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { LEGACY, MODERN, SESSION } from './client.mjs';

export const codec = new Codec({
  keys: Key.generate().toText(),
  audience: 'https://mcp.example.com',
});

/** What a request of the later revision says of its client. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** The first message of an earlier revision. */
export const initialize = {
  ...{ jsonrpc: '2.0', id: 'first', method: 'initialize' },
  params: {
    ...{ protocolVersion: LEGACY, capabilities: {} },
    clientInfo: { name: 'wire', version: '1' },
  },
};

/** The same of a client with these. */
export function withCapabilities(capabilities) {
  return { ...initialize, params: { ...initialize.params, capabilities } };
}

export function guardOf(options = {}) {
  return new Guard({ codec, principal: () => anonymous, logger: { warn() {} }, ...options });
}

/** A guard, and what it tells its author: refusals, and what it logs. */
export function telling(options) {
  const [events, lines, fields] = [[], [], []];
  const warn = (line, more) => {
    lines.push(line);
    fields.push(more);
  };
  const onRefused = (event) => events.push(event);
  return { guard: guardOf({ logger: { warn }, onRefused, ...options }), events, lines, fields };
}

/** A factory of low-level servers with these handlers, protected where there is a guard. */
export function factoryOf(handlers, guard) {
  return () => {
    const info = { name: 'wire', version: '1' };
    const capabilities = { tools: {}, resources: {}, prompts: {}, logging: {} };
    const server = new Server(info, { capabilities });
    guard?.protect(server);
    for (const [method, handler] of Object.entries(handlers)) {
      server.setRequestHandler(method, handler);
    }
    return server;
  };
}

/** A handler of `tools/call` that takes two rounds. */
export const asking = (guard) => (_, ctx) =>
  guard.opened(ctx) === undefined
    ? { resultType: 'input_required', requestState: guard.state(ctx, 1) }
    : text('done');

/** Parameters with a session, as its client sends it. */
export const within = ({ sessionId, state }) => ({ _meta: { [SESSION]: { sessionId, state } } });

/** A server in memory, protected where there is a guard, and what it answers. */
export async function inMemory(guard, handlers) {
  const server = factoryOf(handlers, guard)();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const answers = [];
  theirs.onmessage = (message) => answers.push(message);
  await theirs.start();
  await server.connect(ours);
  const send = (message) => theirs.send({ jsonrpc: '2.0', ...message });
  return { answers, send, server };
}

/** What comes by lines or events, and who waits for some of it. */
class Came {
  messages = [];
  #waiting = [];

  add(message) {
    this.messages.push(message);
    for (const look of this.#waiting) look();
  }

  /** The first that is as it should be, whenever it comes. */
  async first(is) {
    return (await this.all(1, is))[0];
  }

  /** As many as it should be. */
  all(count, is = () => true) {
    return new Promise((found, never) => {
      const late = setTimeout(() => never(new Error(`expected ${count} messages`)), 15_000);
      const look = () => {
        const those = this.messages.filter(is);
        if (those.length < count) return;
        clearTimeout(late);
        found(those);
      };
      this.#waiting.push(look);
      look();
    });
  }
}

/** A server on stdio, in this process: real streams, and the SDK's own entry and transport. */
export async function overStdio(
  factory,
  { era = MODERN, streams = (...both) => both, capabilities = {} } = {},
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const transport = new StdioServerTransport(...(await streams(stdin, stdout)));
  const handle = serveStdio(factory, { transport });
  const came = new Came();
  createInterface(stdout).on('line', (line) => came.add(JSON.parse(line)));
  const send = (message) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let rounds = 0;
  const line = {
    ...{ came, send, close: () => handle.close() },
    request: (id, method, params = {}) => send({ id, method, params: as(era, params) }),
    notify: (method, params) => send({ method, params }),
    /** Everything sent before has been read by then, and what it gave at once has come. */
    async settled() {
      rounds += 1;
      const id = `settled ${rounds}`;
      line.request(id, 'tools/list');
      await came.first((message) => message.id === id);
    },
  };
  if (era === LEGACY) {
    send(withCapabilities(capabilities));
    await came.first(({ id }) => id === 'first');
    line.notify('notifications/initialized');
  }
  return line;
}

function as(era, params) {
  return era === MODERN ? { ...params, _meta: { ...envelope, ...params._meta } } : params;
}

/** What `createMcpHandler` answers to a body, in whichever revision that is. */
export async function overHttp(factory, body, headers = {}) {
  const response = await createMcpHandler(factory).fetch(requestOf(body, headers));
  return { status: response.status, messages: messagesOf(await response.text()) };
}

/** A call of a tool, and its answer. */
export async function called(factory, more = {}) {
  const sent = modern(1, 'tools/call', { name: 'x', arguments: {}, ...more });
  const { id: _, ...answered } = (await overHttp(factory, ...sent)).messages[0];
  return answered;
}

/** What a function makes of the context of a tool. */
export function inTool(guard, act) {
  return new Promise((done, failed) => {
    const tool = async (_, ctx) => {
      await Promise.resolve(ctx).then(act).then(done, failed);
      return text('done');
    };
    called(factoryOf({ 'tools/call': tool }, guard)).then(({ error }) => failed(error), failed);
  });
}

/** A way to post to a server of an earlier revision that keeps its sessions. */
export async function stateful(factory) {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
  });
  await factory().connect(transport);
  const session = { 'mcp-protocol-version': LEGACY };
  const post = (message, more) =>
    transport.handleRequest(requestOf({ jsonrpc: '2.0', ...message }, { ...session, ...more }));
  const begun = await post(withCapabilities({ elicitation: {} }), { 'x-user': 'alice' });
  session['mcp-session-id'] = begun.headers.get('mcp-session-id');
  await begun.text();
  return post;
}

/** A text is sent as it is. */
export function requestOf(body, headers = {}) {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** One request of the later revision, with the headers that it needs. */
export function modern(id, method, params = {}) {
  const name = params.name ?? params.uri;
  return [
    { jsonrpc: '2.0', id, method, params: as(MODERN, params) },
    {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  ];
}

export function messagesOf(text) {
  const events = [...text.matchAll(/^data: ?(\{.*\})$/gm)].map(([, data]) => JSON.parse(data));
  if (events.length > 0 || text === '' || text.startsWith(':')) return events;
  return [JSON.parse(text)].flat();
}

/** A door in a handler's way: `pass` waits there until the test does `open` it; the test waits until somebody `came`. */
export function door() {
  const it = {};
  const opened = new Promise((open) => {
    it.open = open;
  });
  it.came = new Promise((come, never) => {
    const late = setTimeout(() => never(new Error('expected somebody at the door')), 15_000);
    it.pass = () => {
      clearTimeout(late);
      come();
      return opened;
    };
  });
  it.came.catch(() => {});
  return it;
}

export const text = (text) => ({ content: [{ type: 'text', text }] });
