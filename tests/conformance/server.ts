/**
 * A server with all features that the official conformance suite tests, from `features.json`.
 *
 * `make -C pkg build` makes a program of it beside the official SDK, and
 * `PORT=0 node build/npm/mcp/conformance.js` starts that; its URL is on stderr. With `--bare` no
 * guard protects it; with `--stateless` it keeps no sessions for older revisions, and the guard does.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type EventStore,
  fromJsonSchema,
  type GetPromptResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  type JSONRPCMessage,
  type JsonSchemaType,
  McpServer,
  ResourceTemplate,
  type ServerCapabilities,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { Codec, Key, KeyRing } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { z } from 'zod';

/** What is in `features.json`: what the protocol lists, and what is returned, by name. */
interface Features {
  capabilities: ServerCapabilities;
  tools: { name: string; description: string; inputSchema: JsonSchemaType }[];
  results: Record<string, CallToolResult>;
  questions: Record<string, Question>;
  rounds: Record<string, { state: boolean; ask: string[][] }>;
  asked: InputRequests;
  prompts: { name: string; description: string; arguments: { name: string }[] }[];
  messages: Record<string, GetPromptResult['messages']>;
  resources: { uri: string; name: string; mimeType: string }[];
  contents: Record<string, TextContents>;
  resourceTemplates: [{ uriTemplate: string; name: string; mimeType: string }];
  template: TextContents;
}
interface Question {
  method: 'elicitation/create' | 'sampling/createMessage';
  params: Record<string, unknown>;
}
type TextContents = { uri: string; mimeType: string; text: string };

const features: Features = JSON.parse(
  readFileSync(new URL('features.json', import.meta.url), 'utf8'),
);
const bare = process.argv.includes('--bare');
const stateless = process.argv.includes('--stateless');

const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'conformance' });
const guard = new Guard({
  ...{ codec, principal: 'anonymous' },
  ...{ ledger: new MemoryLedger(), ledgerOptions: { clockTolerance: 0 } },
});
// Tokens as old as the ledger are refused.
await new Promise((later) => setTimeout(later, 1100));

/** How many rounds are over: sealed by the guard; without it plain, as any client could write it. */
function roundsOver(ctx: ServerContext): number | undefined {
  const state = bare ? ctx.mcpReq.requestState<string>() : guard.opened<number>(ctx);
  return state === undefined ? undefined : Number(state);
}

function stateOf(ctx: ServerContext, rounds: number): string {
  return bare ? String(rounds) : guard.state(ctx, rounds);
}

const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

/** A value of `features.json`, with the placeholders of its texts filled in. */
function filled<T>(template: T, values: Record<string, unknown>): T {
  return JSON.parse(JSON.stringify(template), (_, value) =>
    typeof value === 'string'
      ? value.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all))
      : value,
  );
}

/** Asks round by round, and only for what the client has declared. */
function inRounds<T>(name: string, ctx: ServerContext, last: T): T | InputRequiredResult {
  const { state, ask } = features.rounds[name] ?? { state: false, ask: [] };
  const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
  const declared = Object(envelope[CLIENT_CAPABILITIES_META_KEY]);
  const over = state ? roundsOver(ctx) : 0;
  const answered = (key: string) =>
    inputResponse(ctx.mcpReq.inputResponses, key).kind !== 'missing';
  const next = over === undefined ? 0 : ask[over]?.every(answered) ? over + 1 : over;
  const keys = ask[next];
  if (keys === undefined) return last;
  const inputRequests: InputRequests = {};
  for (const key of keys) {
    const request = features.asked[key];
    const [needed = ''] = request?.method.split('/') ?? [];
    if (request && needed in declared) inputRequests[key] = request;
  }
  return inputRequired({ inputRequests, ...(state && { requestState: stateOf(ctx, next) }) });
}

/** The tools that do more than return a result of `features.json`, or ask. */
const tools: Record<
  string,
  (ctx: ServerContext) => Promise<CallToolResult> | CallToolResult | InputRequiredResult
> = {
  async test_tool_with_logging({ mcpReq }) {
    for (const text of ['Tool execution started', 'Tool processing data']) {
      await mcpReq.log('info', text);
      await soon();
    }
    await mcpReq.log('info', 'Tool execution completed');
    return said('logged');
  },
  async test_logging_tool({ mcpReq }) {
    await mcpReq.log('info', 'for a client that asks for logs');
    return said('logged');
  },
  async test_tool_with_progress({ mcpReq }) {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100 };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
      await soon();
    }
    return said('done');
  },
  async test_reconnection({ http }) {
    http?.closeSSE?.();
    await soon();
    return said('this came after the stream was closed');
  },
  test_missing_capability() {
    const { greeting } = features.asked;
    return inputRequired({ inputRequests: { ...(greeting && { greeting }) } });
  },
  test_trigger_tool_change() {
    modern.notify.toolsChanged();
    return said('told');
  },
  test_trigger_prompt_change() {
    modern.notify.promptsChanged();
    return said('told');
  },
};

/** What a tool does. */
function called(name: string, given: Record<string, unknown>, ctx: ServerContext) {
  const { [name]: result } = features.results;
  const { [name]: question } = features.questions;
  if (result) return result;
  if (question) return asked(filled(question, given), ctx);
  return tools[name]?.(ctx) ?? inRounds(name, ctx, said('state-ok'));
}

async function asked(question: Question, { mcpReq }: ServerContext) {
  // The answer could not come back.
  if (stateless) throw new Error('a stateless server cannot ask');
  return said(`the client answered ${JSON.stringify(await mcpReq.send(question))}`);
}

function conformanceServer(): McpServer {
  const { capabilities } = features;
  const server = new McpServer({ name: 'conformance', version: '1.0.0' }, { capabilities });
  if (!bare) guard.protect(server);

  for (const { name, description, inputSchema } of features.tools) {
    const schema = fromJsonSchema<Record<string, unknown>>(inputSchema);
    server.registerTool(name, { description, inputSchema: schema }, (given, ctx) =>
      called(name, given, ctx),
    );
  }
  for (const { name, description, arguments: names } of features.prompts) {
    const argsSchema = z.object(Object.fromEntries(names.map((it) => [it.name, z.string()])));
    const { [name]: messages } = features.messages;
    const last: GetPromptResult = {
      messages: [{ role: 'user', content: { type: 'text', text: 'with that context' } }],
    };
    server.registerPrompt(name, { description, argsSchema }, (given, ctx) =>
      messages ? filled({ messages }, given) : inRounds(name, ctx, last),
    );
  }
  for (const { uri, name, mimeType } of features.resources) {
    const { [uri]: content } = features.contents;
    server.registerResource(name, uri, { mimeType }, () => ({
      contents: content ? [content] : [],
    }));
  }
  const [{ uriTemplate, name, mimeType }] = features.resourceTemplates;
  const template = new ResourceTemplate(uriTemplate, { list: undefined });
  server.registerResource(name, template, { mimeType }, (_, values) => ({
    contents: [filled(features.template, values)],
  }));

  server.server.setRequestHandler('completion/complete', ({ params }) => ({
    completion: { values: [`${params.argument.value}is`], total: 1, hasMore: false },
  }));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  return server;
}

/** The messages in the streams of one session, for clients that reconnect. */
class Events implements EventStore {
  readonly #sent: { stream: string; message: JSONRPCMessage }[] = [];

  async storeEvent(stream: string, message: JSONRPCMessage) {
    return String(this.#sent.push({ stream, message }) - 1);
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ) {
    const stream = this.#sent[Number(last)]?.stream ?? '';
    for (const [id, sent] of this.#sent.entries()) {
      const missed = id > Number(last) && sent.stream === stream;
      if (missed && 'jsonrpc' in sent.message) await send(String(id), sent.message);
    }
    return stream;
  }
}

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

/** Serves the older revisions with the SDK's own sessions. */
async function stateful(request: Request): Promise<Response> {
  const id = request.headers.get('mcp-session-id');
  const known = sessions.get(id ?? '');
  if (known) return known.handleRequest(request);
  if (id) return new Response(null, { status: 404 });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new Events(),
    retryInterval: 500,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await conformanceServer().connect(transport);
  return transport.handleRequest(request);
}

const modern = createMcpHandler(conformanceServer);

async function fetch(request: Request): Promise<Response> {
  const own = !stateless && (await isLegacyRequest(request));
  return own ? stateful(request) : modern.fetch(request);
}

const handle = toNodeHandler({ fetch: stateless && !bare ? guard.fetch(fetch) : fetch });
const local = localhostHostValidation();
const http = createServer((req, res) => void (local(req, res) && handle(req, res)));
http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo;
  console.error(`listening on http://127.0.0.1:${port}/mcp`);
});
