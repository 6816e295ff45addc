/**
 * What the official conformance suite asks of a server, for its scenarios
 * `input-required-result-*`: each state goes through a guard.
 *
 * `make -C pkg build` makes a program of it beside the official SDK, and
 * `PORT=0 node build/npm/mcp/conformance.js` starts that; its URL is on stderr.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Codec, Key, KeyRing } from 'sealwax';
import { Guard } from 'sealwax/mcp';

const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'conformance' });
const guard = new Guard({ codec, principal: 'anonymous' });

interface State {
  readonly round: number;
}

/** A question with one answer. */
function ask(
  message: string,
  name: string,
  schema: { type: 'string' } | { type: 'boolean' } = { type: 'string' },
) {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: schema }, required: [name] },
  });
}

function said(text: string) {
  return { content: [{ type: 'text' as const, text }] };
}

const sampling = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
  maxTokens: 50,
});

/** What each tool does, by the end of its name. */
const tools: Record<string, (ctx: ServerContext) => CallToolResult | InputRequiredResult> = {
  elicitation({ mcpReq }) {
    const answer = acceptedContent(mcpReq.inputResponses, 'user_name');
    if (typeof answer?.name === 'string') return said(`Hello, ${answer.name}!`);
    return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
  },
  sampling({ mcpReq }) {
    const answered = inputResponse(mcpReq.inputResponses, 'capital').kind === 'sampling';
    return answered ? said('Paris') : inputRequired({ inputRequests: { capital: sampling } });
  },
  list_roots({ mcpReq }) {
    const answered = inputResponse(mcpReq.inputResponses, 'client_roots').kind === 'roots';
    if (answered) return said('roots');
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  request_state(ctx) {
    if (ctx.mcpReq.requestState<State>()?.round === 1) return said('state-ok');
    const inputRequests = { confirm: ask('Please confirm', 'ok', { type: 'boolean' }) };
    return inputRequired({ inputRequests, requestState: guard.state(ctx, { round: 1 }) });
  },
  multiple_inputs(ctx) {
    if (ctx.mcpReq.requestState<State>()?.round === 1) return said('all three');
    return inputRequired({
      inputRequests: {
        user_name: ask('What is your name?', 'name'),
        greeting: sampling,
        client_roots: inputRequired.listRoots(),
      },
      requestState: guard.state(ctx, { round: 1 }),
    });
  },
  multi_round(ctx) {
    const { round } = ctx.mcpReq.requestState<State>() ?? { round: 0 };
    if (round === 2) return said('done');
    const [step1, step2] = ['Step 1: What is your name?', 'Step 2: What is your favorite color?'];
    return inputRequired({
      inputRequests: round === 0 ? { step1: ask(step1, 'name') } : { step2: ask(step2, 'color') },
      requestState: guard.state(ctx, { round: round + 1 }),
    });
  },
  tampered_state(ctx) {
    if (ctx.mcpReq.requestState<State>()?.round === 1) return said('state-ok');
    const inputRequests = { confirm: ask('Please confirm', 'ok', { type: 'boolean' }) };
    return inputRequired({ inputRequests, requestState: guard.state(ctx, { round: 1 }) });
  },
  capabilities(ctx) {
    const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope };
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
    const inputRequests: InputRequests = {
      ...(declared?.sampling !== undefined && { greeting: sampling }),
      ...(declared?.elicitation !== undefined && { user_name: ask('What is your name?', 'name') }),
    };
    return inputRequired({ inputRequests, requestState: guard.state(ctx, { round: 1 }) });
  },
};

function conformanceServer(): McpServer {
  const server = guard.protect(new McpServer({ name: 'conformance', version: '1.0.0' }));
  for (const [name, handler] of Object.entries(tools)) {
    server.registerTool(`test_input_required_result_${name}`, {}, handler);
  }
  server.registerPrompt('test_input_required_result_prompt', {}, ({ mcpReq }) => {
    const context = acceptedContent(mcpReq.inputResponses, 'user_context')?.context;
    if (typeof context === 'string') {
      return { messages: [{ role: 'user', content: { type: 'text', text: context } }] };
    }
    const user_context = ask('What context should the prompt use?', 'context');
    return inputRequired({ inputRequests: { user_context } });
  });
  return server;
}

const handle = toNodeHandler(createMcpHandler(conformanceServer));
const http = createServer((req, res) => void handle(req, res));
http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo;
  console.error(`listening on http://127.0.0.1:${port}/mcp`);
});
