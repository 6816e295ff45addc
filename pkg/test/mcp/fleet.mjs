// Replicas behind guards that share a ledger, and what their clients send and receive.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';

import { Key } from 'sealwax';
import { during, transports } from './client.mjs';

export const META = 'io.modelcontextprotocol/session';
export const STALE = 'io.github.sealwax/stale';
export const keys = Key.generate().toText();
const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
let files = 0;
const opened = [];

afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Closes it after the test. */
export function closing(one) {
  opened.push(one);
  return one;
}

/** The path of a new SQLite file. */
export function newFile() {
  files += 1;
  return join(folder, `${files}.db`);
}

/** A server over a transport, closed after the test. */
export async function serve(transport, config) {
  return closing(await transports[transport]({ keys, ...config }));
}

/** A server over HTTP, with sessions and a ledger. */
export const replica = (ledger, config = {}) => serve('http', { ledger, ...config });

/** The metadata of a new session. */
export async function created(client) {
  const { sessionId, state } = (await client.send('sessions/create', {})).result.session;
  return { sessionId, state };
}

export const within = (session) => ({ _meta: { [META]: session } });
export const latest = ({ result }) => result._meta[META];

/** The event of the first refusal while some work runs, and the answer to that work. */
export async function refused(server, work) {
  const { result, events } = await during(server.events, work);
  return { answer: result, ...events.find(({ code }) => code) };
}
