/**
 * Counter: one counter and one transaction for each session of a client. The client keeps the state
 * sealed; this server stores nothing, so the next request may go to another replica.
 *
 * `SEALWAX_KEYS="$(npx sealwax keygen)" node sessions.js` serves stdio, with `PORT` HTTP; with
 * `NOTES_JWT_SECRET`, a caller over HTTP needs a token. With `SEALWAX_LEDGER`, the URL of a Redis or Valkey
 * that all replicas share, sessions can be deleted, and of concurrent calls one counts: the others hear it.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Redis } from 'ioredis';
import { jwtVerify } from 'jose';
import { Codec } from 'sealwax';
import { Guard, principalFromAuthInfo, RedisLedger, type Session } from 'sealwax/mcp';
import { z } from 'zod';

const { SEALWAX_LEDGER: store, NOTES_JWT_SECRET: secret, PORT } = process.env;
const redis = store && new Redis(store);
if (redis) redis.on('error', ({ message }) => console.error(`ledger: ${message}`));

const audience = 'https://counter.example.com';
const guard = new Guard({
  codec: Codec.fromEnv({ audience }),
  principal: secret && PORT ? principalFromAuthInfo : 'anonymous',
  ledger: redis ? new RedisLedger(redis) : undefined,
});

/** The state of a session; it has a draft from `begin` to `end`. */
interface Counter {
  readonly count: number;
  readonly draft?: string;
}
const sessions = guard.sessions<Counter>({
  initial: () => ({ count: 0 }),
  required: { tools: ['count', 'begin', 'read', 'write', 'end'] },
});

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const outside = { ...said('no transaction: call begin first'), isError: true };

/** A server for one request, or for one client on stdio. */
function counterServer(): McpServer {
  const server = guard.protect(new McpServer({ name: 'counter', version: '1.0.0' }));

  /** Returns the session of a call, which is required. The log has its ulid. */
  const sessionOf = (tool: string, ctx: ServerContext): Session<Counter> => {
    const session = sessions.of(ctx);
    if (session === undefined) throw new Error('expected a session');
    console.error(`${tool}: session ${session.ulid}, generation ${session.generation}`);
    return session;
  };

  server.registerTool('count', { description: 'One more than last time' }, (ctx) => {
    const session = sessionOf('count', ctx);
    const count = session.value.count + 1;
    session.write({ ...session.value, count });
    return said(`${count}`);
  });

  server.registerTool('begin', { description: 'Begins a transaction' }, (ctx) => {
    const session = sessionOf('begin', ctx);
    session.write({ ...session.value, draft: '' });
    return said('begun');
  });
  server.registerTool('read', { description: 'The text so far' }, (ctx) => {
    const { draft } = sessionOf('read', ctx).value;
    return draft === undefined ? outside : said(draft);
  });
  server.registerTool(
    'write',
    { description: 'Adds to the text', inputSchema: z.object({ text: z.string() }) },
    ({ text }, ctx) => {
      const session = sessionOf('write', ctx);
      if (session.value.draft === undefined) return outside;
      session.write({ ...session.value, draft: session.value.draft + text });
      return said('written');
    },
  );
  server.registerTool('end', { description: 'Ends it, and gives the text' }, (ctx) => {
    const session = sessionOf('end', ctx);
    const { draft, ...rest } = session.value;
    if (draft === undefined) return outside;
    session.write(rest);
    return said(draft);
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
  serveStdio(counterServer);
} else {
  const handler = guard.fetch(createMcpHandler(counterServer).fetch);
  const authenticated = requireBearerAuth({ verifier: { verifyAccessToken } });
  const fetch = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== '/mcp') return new Response(null, { status: 404 });
    if (!secret) return handler(request);
    const authInfo = await authenticated(request);
    return authInfo instanceof Response ? authInfo : handler(request, { authInfo });
  };
  const [local, handle] = [localhostHostValidation(), toNodeHandler({ fetch })];
  const http = createServer((req, res) => void (local(req, res) && handle(req, res)));
  http.listen(Number(PORT), '127.0.0.1', () => {
    const { port } = http.address() as AddressInfo;
    console.error(`listening on http://127.0.0.1:${port}/mcp`);
  });
}
