// Official clients against the test server, over HTTP and over stdio, with what went over the wire.

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createMcpHandler, requireBearerAuth } from '@modelcontextprotocol/server';
import { jwtVerify, SignJWT } from 'jose';
import { principalFromAuthInfo } from 'sealwax/mcp';
import { ISSUER, world } from './server.mjs';

const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const secret = new TextEncoder().encode('a secret of the identity provider');
export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

export function token(claims) {
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h');
  return jwt.sign(secret);
}

/** For processes of a test: code that Node has compiled before, if the tests' own process has such a folder. */
const { NODE_COMPILE_CACHE } = process.env;
export const compiled = { ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };

/** The `Authorization` of a user. */
export async function bearer(user) {
  return `Bearer ${await token({ iss: ISSUER, sub: user, client_id: 'app' })}`;
}

async function verifyAccessToken(token) {
  const { payload } = await jwtVerify(token, secret);
  const clientId = payload.client_id ?? payload.azp ?? '';
  return { token, clientId, scopes: [], expiresAt: payload.exp, extra: { claims: payload } };
}

/** A fetch handler that authenticates, as a server has it. */
function authenticating(factory) {
  const { fetch } = createMcpHandler(factory);
  const gate = requireBearerAuth({ verifier: { verifyAccessToken } });
  return async (request, options) => {
    const authInfo = await gate(request);
    return authInfo instanceof Response ? authInfo : fetch(request, { ...options, authInfo });
  };
}

/** Serves HTTP on loopback until it is closed. */
export async function listen(listener) {
  const server = createServer(listener);
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  return { url, close: () => server.closeAllConnections() ?? server.close() };
}

/** Ways to reach a server: each gives `connect(user)`, and `events` of the guard. */
export const transports = {
  async http(config) {
    const events = [];
    const told = (event) => events.push(event);
    const { guard, factory } = world(config, principalFromAuthInfo, told);
    const { url, close } = await listen(guard.node(authenticating(factory)));
    const connections = [];
    return {
      events,
      guard,
      async connect(user, era) {
        const headers = { authorization: await bearer(user) };
        const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
        const client = await connected(transport, era);
        connections.push(client);
        return client;
      },
      async close() {
        await Promise.all(connections.map(({ client }) => client.close()));
        close();
      },
    };
  },

  async stdio(config) {
    const events = [];
    const connections = [];
    return {
      events,
      async connect(user, era) {
        const env = { ...compiled, TEST_CONFIG: JSON.stringify({ ...config, user }) };
        const args = [SERVER];
        const transport = new StdioClientTransport({
          ...{ command: process.execPath, args, env, stderr: 'pipe' },
        });
        createInterface(transport.stderr).on('line', (line) => events.push(JSON.parse(line)));
        const client = await connected(transport, era);
        connections.push(client);
        return client;
      },
      close: () => Promise.all(connections.map(({ client }) => client.close())),
    };
  },
};

/** An official client that shows the last message as it came over the wire, but for its id. */
export async function connected(transport, era = MODERN) {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: era === MODERN ? { pin: MODERN } : 'legacy' },
    },
  );
  await client.connect(transport);
  let came;
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if ('id' in message) came = message;
    onmessage(message, extra);
  };
  return {
    client,
    /** A request, and the whole answer. */
    async send(method, params) {
      came = undefined;
      const request = { method, params };
      // The SDK knows no schema of what is not in its revision.
      const asked = method.startsWith('sessions/')
        ? client.request(request, ANYTHING)
        : client.request(request, { allowInputRequired: true });
      await asked.catch((error) => {
        if (came === undefined) throw error;
      });
      const { id: _, ...answer } = came;
      return answer;
    },
    call(name, args, more) {
      return this.send('tools/call', { name, arguments: args, ...more });
    },
  };
}

const ANYTHING = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};

/** What a tool said, as the value it was. */
export const told = (answer) => JSON.parse(answer.result.content[0].text);

export const sleep = (ms) => new Promise((over) => setTimeout(over, ms));

/** What was told of while `work` was done, up to a refusal: on stdio that comes by a pipe. */
export async function during(events, work) {
  const from = events.length;
  const result = await work();
  const told = () => events.slice(from).some(({ code }) => code);
  for (let waits = 0; !told() && waits < 3000; waits += 1) await sleep(10);
  await sleep(10);
  return { result, events: events.slice(from) };
}
