// What compiles against the types of @modelcontextprotocol/sdk 1.x.

import { createServer, type ServerResponse } from 'node:http';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import express from 'express';
import { Codec } from 'sealwax';
import { Guard, principalFromAuthInfo } from 'sealwax/mcp';

const codec = new Codec({ keys: '', audience: 'a' });
const guard = new Guard({ codec, principal: principalFromAuthInfo });
const baskets = guard.selfContainedHandles<string[]>('basket');
const sessions = guard.sessions<{ count: number }>({ initial: () => ({ count: 0 }) });

const server: McpServer = guard.protect(new McpServer({ name: 's', version: '1' }));
const low: Server = guard.protect(new Server({ name: 's', version: '1' }));
server.registerTool('hold', {}, async (extra) => {
  const { value } = await baskets.seal(extra, ['x']);
  const count: number | undefined = sessions.of(extra)?.value.count;
  const opened: string | undefined = guard.opened<string>(extra);
  const version: string | undefined = guard.negotiated(extra)?.protocolVersion;
  const text = JSON.stringify({ value, count, opened, version, next: guard.state(extra, 1) });
  return { content: [{ type: 'text', text }] };
});

const app = express();
app.all(
  '/mcp',
  guard.listener(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  }),
);
app.get(
  '/other',
  guard.listener((_: express.Request, response: express.Response) => response.json({})),
);
createServer(guard.listener((_, response: ServerResponse) => response.end()));
const transport = new WebStandardStreamableHTTPServerTransport();
export const handler = guard.fetch((request, options) => transport.handleRequest(request, options));
// @ts-expect-error: a listener takes a response too
guard.listener('none');
await low.close();
