/**
 * Notes: a tool that asks before it deletes, a basket in a handle, and a list in pages. It stores
 * nothing between requests except the notes, so the next request may go to another replica.
 *
 * `SEALWAX_KEYS="$(npx sealwax keygen)" node notes.js` serves stdio, with `PORT` HTTP; with
 * `NOTES_JWT_SECRET`, a caller over HTTP needs a token. With `SEALWAX_LEDGER`, the URL of a Redis or Valkey
 * that all replicas share, the answer to a question is accepted once.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { localhostHostValidation } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  ResourceTemplate,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Redis } from 'ioredis';
import { jwtVerify } from 'jose';
import { Codec } from 'sealwax';
import { type FetchHandler, Guard, principalFromAuthInfo, RedisLedger } from 'sealwax/mcp';
import { z } from 'zod';

const { SEALWAX_LEDGER: store, NOTES_JWT_SECRET: secret, PORT } = process.env;
const redis = store && new Redis(store);
if (redis) redis.on('error', ({ message }) => console.error(`ledger: ${message}`));

const audience = 'https://notes.example.com';
const guard = new Guard({
  codec: Codec.fromEnv({ audience }),
  principal: secret && PORT ? principalFromAuthInfo : 'anonymous',
  ledger: redis ? new RedisLedger(redis) : undefined,
});
const baskets = guard.selfContainedHandles<string[]>('basket', { ttl: 3600 });

const PAGE = 10;
const notes = new Map(Array.from({ length: 25 }, (_, i) => [i + 1, `This is note ${i + 1}.`]));

/** A server for one request, or for one client on stdio. */
function notesServer(): McpServer {
  const server = guard.protect(
    new McpServer({ name: 'notes', version: '1.0.0' }, { capabilities: { resources: {} } }),
  );

  server.registerTool(
    'delete_note',
    { description: 'Deletes a note, once the user agreed', inputSchema: z.object({ id: z.int() }) },
    ({ id }, ctx) => {
      const state = guard.opened<{ asked: number }>(ctx);
      if (state === undefined) {
        const confirm = inputRequired.elicit({
          message: `Delete note ${id}?`,
          requestedSchema: {
            type: 'object',
            properties: { confirm: { type: 'boolean' } },
            required: ['confirm'],
          },
        });
        const requestState = guard.state(ctx, { asked: id });
        return inputRequired({ inputRequests: { confirm }, requestState });
      }
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
      const agreed = answer?.confirm === true && state.asked === id;
      if (agreed) notes.delete(id);
      return { content: [{ type: 'text', text: `note ${id} ${agreed ? 'deleted' : 'kept'}` }] };
    },
  );

  const shown = (basket: { handle: string; value: string[]; expiresAt?: string }) => {
    const { handle, value, expiresAt } = basket;
    const structuredContent = { basket: handle, expiresAt, items: value };
    const text = JSON.stringify(structuredContent);
    return { content: [{ type: 'text' as const, text }], structuredContent };
  };
  server.registerTool(
    'new_basket',
    { description: 'Makes an empty basket; every change gives it a new handle' },
    async (ctx) => shown(await baskets.seal(ctx, [])),
  );
  server.registerTool(
    'add_to_basket',
    {
      description: 'Adds an item to a basket, which gets a new handle',
      inputSchema: z.object({ basket: z.string(), item: z.string() }),
    },
    async ({ basket, item }, ctx) => {
      const held = await baskets.open(ctx, basket);
      return shown(await baskets.renew(ctx, held, [...held.value, item]));
    },
  );

  server.registerResource(
    'note',
    new ResourceTemplate('note:///{id}', { list: undefined }),
    { mimeType: 'text/plain' },
    (uri, { id }) => ({ contents: [{ uri: uri.href, text: notes.get(Number(id)) ?? '' }] }),
  );
  server.server.setRequestHandler('resources/list', ({ params }) => {
    const offset = Number(params?.cursor ?? 0);
    const ids = [...notes.keys()];
    return {
      resources: ids.slice(offset, offset + PAGE).map((id) => ({
        ...{ uri: `note:///${id}`, name: `note ${id}` },
      })),
      ...(offset + PAGE < ids.length && { nextCursor: `${offset + PAGE}` }),
    };
  });
  return server;
}

/** Verifies a JWT and keeps the claims from which the guard reads the principal. */
async function verifyAccessToken(token: string) {
  try {
    const key = new TextEncoder().encode(secret);
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], audience });
    const clientId = String(payload.client_id ?? payload.azp ?? '');
    return { token, clientId, scopes: [], expiresAt: payload.exp ?? 0, extra: { claims: payload } };
  } catch {
    throw new OAuthError(OAuthErrorCode.InvalidToken, 'expected a JWT of ours, in its time');
  }
}

if (PORT === undefined) {
  serveStdio(notesServer);
} else {
  const handler = createMcpHandler(notesServer);
  const authenticated = requireBearerAuth({ verifier: { verifyAccessToken } });
  const fetch: FetchHandler = async (request, options) => {
    if (new URL(request.url).pathname !== '/mcp') return new Response(null, { status: 404 });
    if (!secret) return handler.fetch(request, options);
    const authInfo = await authenticated(request);
    if (authInfo instanceof Response) return authInfo;
    return handler.fetch(request, { ...options, authInfo });
  };
  const [local, handle] = [localhostHostValidation(), guard.node(fetch)];
  const http = createServer((req, res) => void (local(req, res) && handle(req, res)));
  http.listen(Number(PORT), '127.0.0.1', () => {
    const { port } = http.address() as AddressInfo;
    console.error(`listening on http://127.0.0.1:${port}/mcp`);
  });
}
