// The question of examples/notes.ts without a guard, on the TypeScript SDK's codec: by its defaults, or with BOUND=1 bound as
// its documentation shows.

import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { jwtVerify } from 'jose';
import { z } from 'zod';

const { NOTES_JWT_SECRET: secret, BOUND, PORT } = process.env;
const bind = (ctx) => `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ''}`;
const codec = createRequestStateCodec({ key: `scanned ${secret}`, ...(BOUND && { bind }) });

function notesServer() {
  const server = new McpServer(
    { name: 'notes', version: '1.0.0' },
    { requestState: { verify: codec.verify } },
  );
  server.registerTool(
    'delete_note',
    { inputSchema: z.object({ id: z.int() }) },
    async ({ id }, ctx) => {
      if (guard.opened(ctx) === undefined) {
        const confirm = inputRequired.elicit({
          message: `Delete note ${id}?`,
          requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } } },
        });
        const requestState = await codec.mint({ asked: true }, ctx);
        return inputRequired({ inputRequests: { confirm }, requestState });
      }
      const yes = acceptedContent(ctx.mcpReq.inputResponses, 'confirm')?.confirm === true;
      return { content: [{ type: 'text', text: `note ${id} ${yes ? 'deleted' : 'kept'}` }] };
    },
  );
  return server;
}

async function verifyAccessToken(token) {
  const { payload } = await jwtVerify(token, new TextEncoder().encode(secret));
  return { token, clientId: payload.client_id, scopes: [], expiresAt: payload.exp, extra: payload };
}

const handler = createMcpHandler(notesServer);
const authenticated = requireBearerAuth({ verifier: { verifyAccessToken } });
const handle = toNodeHandler({
  fetch: async (request) => {
    const authInfo = await authenticated(request);
    return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
  },
});
const http = createServer((req, res) => void handle(req, res));
http.listen(Number(PORT), '127.0.0.1', () => {
  console.error(`listening on http://127.0.0.1:${http.address().port}/mcp`);
});
