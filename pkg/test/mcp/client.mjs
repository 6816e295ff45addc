// Official clients, with what went over the wire.

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
/** The member of `_meta` that has a session. */
export const SESSION = 'io.modelcontextprotocol/session';

/** For processes of a test: code that Node has compiled before, if the tests' own process has such a folder. */
const { NODE_COMPILE_CACHE } = process.env;
export const compiled = { ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };

/** Serves HTTP on loopback until it is closed. */
export async function listen(listener) {
  const server = createServer(listener);
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  return { url, close: () => server.closeAllConnections() ?? server.close() };
}

/** The same until a test is over; returns its URL. */
export async function serving(t, listener) {
  const { url, close } = await listen(listener);
  t.after(close);
  return url;
}

/** Begins a request of HTTP. */
export function sending(url, { method = 'POST', headers }) {
  const sent = request(url, { method, headers });
  // A server may answer and go before the whole body is sent.
  return sent.on('error', () => {});
}

/** What is answered to a request: its status, headers and text. */
export async function answerTo(sent) {
  const [response] = await once(sent, 'response');
  const { statusCode: status, headers } = response;
  return { status, headers, text: `${await buffer(response)}` };
}

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

/** What a tool says at several calls in one session. */
export async function toldInSession(url, era, name, times) {
  const client = await connected(new StreamableHTTPClientTransport(url), era);
  let { session } = (await client.send('sessions/create', {})).result;
  const texts = [];
  while (texts.length < times) {
    const { sessionId, state } = session;
    const { result } = await client.call(name, {}, { _meta: { [SESSION]: { sessionId, state } } });
    session = result._meta[SESSION];
    texts.push(result.content[0].text);
  }
  await client.client.close();
  return texts;
}

export const ANYTHING = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};

/** What a tool said, as the value it was. */
export const told = (answer) => JSON.parse(answer.result.content[0].text);

export const sleep = (ms) => new Promise((over) => setTimeout(over, ms));
