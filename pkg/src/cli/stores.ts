/** The stores of ledgers, by the clients that the user has: `ioredis` or `redis`; SQLite of Node, or `better-sqlite3`. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { nameOf } from '../mcp/cause.js';
import { TimeoutError, within } from '../mcp/later.js';
import type { Command } from '../mcp/ledger/ledger.js';
import { lowered, type Send } from '../mcp/ledger/redis-connections.js';
import type { SqliteDatabase } from '../mcp/ledger/sqlite.js';
import { type Answer, failed } from './documents.js';

/** The time limit to connect to a store, and for a command, in milliseconds. */
const LIMIT = 5_000;

// biome-ignore lint/suspicious/noExplicitAny: packages that are not ours to import
type Package = any;

/** What a command is connected to. */
export class Stores {
  readonly #command: string;
  #sending: Send | undefined;
  #close = () => {};
  #database: SqliteDatabase | undefined;

  /** @param command how the user calls it, for advice */
  constructor(command: string) {
    this.#command = command;
  }

  close(): void {
    this.#close();
  }

  async redis(url: string, send: [string, ...string[]]): Promise<Answer> {
    const place = URL.canParse(url) ? new URL(url) : undefined;
    if (!place || (place.protocol !== 'unix:' && place.host === '')) return { invalid: true };
    try {
      this.#sending ??= await this.#connect(url, place);
      const sending = this.#sending;
      if (sending === undefined) return this.#missing('Redis', 'ioredis');
      return told(await within(LIMIT, () => sending(...send)));
    } catch (error) {
      const { message } = Object(error);
      // An error of the server begins with its code. Any other is the client's, whose message may have the URL.
      return /^[A-Z]{3,} /.test(message) ? { error: message } : { failed: why(error) };
    }
  }

  async #connect(url: string, place: URL): Promise<Send | undefined> {
    const { Redis } = (await imported('ioredis')) ?? {};
    if (Redis) return this.#ioredis(Redis, url, place);
    const { createClient } = (await imported('redis')) ?? {};
    return createClient && this.#nodeRedis(createClient, url, place);
  }

  async #ioredis(Redis: Package, url: string, place: URL): Promise<Send> {
    const options = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: null };
    const made = { ...options, connectTimeout: LIMIT };
    const isSocket = place.protocol === 'unix:';
    const client = isSocket ? new Redis({ ...made, ...socketOf(place) }) : new Redis(url, made);
    this.#close = () => client.disconnect();
    // Only its event says why a connection failed.
    let why: unknown;
    client.on('error', (error: unknown) => {
      why ??= error;
    });
    await client.connect().catch((error: unknown) => {
      throw why ?? error;
    });
    return (...command) => client.call(...lowered(command));
  }

  async #nodeRedis(createClient: Package, url: string, place: URL): Promise<Send> {
    const socket = { connectTimeout: LIMIT, reconnectStrategy: false };
    const { path, db, ...user } = socketOf(place);
    const client = createClient(
      place.protocol === 'unix:'
        ? { socket: { ...socket, path }, database: db, ...user }
        : { url, socket },
    );
    this.#close = () => client.isOpen && client.destroy();
    client.on('error', () => {});
    await within(LIMIT, () => client.connect());
    return (...command) => client.sendCommand(command);
  }

  async query(path: string, sql: string, parameters: readonly string[]): Promise<Answer> {
    if (!existsSync(path)) return { absent: true };
    try {
      this.#database ??= await opened(path, true);
      if (this.#database === undefined) return this.#missing('SQLite', 'better-sqlite3');
      const row = this.#database.prepare(sql).get(...parameters);
      return { texts: Object.values(Object(row)).map(String) };
    } catch (error) {
      return failed(error);
    }
  }

  async run(path: string, command: Command): Promise<Answer> {
    try {
      const database = await opened(path, false);
      if (database === undefined) return this.#missing('SQLite', 'better-sqlite3');
      // It takes the package's own module, which starts as it is imported.
      await import('../index.js');
      const { SqliteLedger } = await import('../mcp/index.js');
      return { texts: [...(await new SqliteLedger(database).run(command))] };
    } catch (error) {
      return failed(error);
    }
  }

  #missing(store: string, name: string): Answer {
    const found =
      name === 'ioredis' ? 'ioredis or redis' : 'Node 22.13 or later, or better-sqlite3';
    return {
      failed: `no client for ${store}: expected ${found}`,
      tip: `${this.#command.replace(/^(npx )?sealwax/, `npx -p sealwax -p ${name} sealwax`)} …`,
    };
  }
}

function told(found: unknown): Answer {
  if (found === null) return { absent: true };
  if (typeof found === 'number') return { number: found };
  return Array.isArray(found) ? { texts: found.map(String) } : { text: String(found) };
}

function why(error: unknown): string {
  const isLate = error instanceof TimeoutError;
  return isLate ? 'expected an answer within 5 seconds, found none' : nameOf(error);
}

async function opened(path: string, readOnly: boolean): Promise<SqliteDatabase | undefined> {
  const { emitWarning } = process;
  // It warns that it may change.
  process.emitWarning = () => {};
  const node = await imported('node:sqlite');
  process.emitWarning = emitWarning;
  if (node) return new node.DatabaseSync(path, { readOnly });
  const other = await imported('better-sqlite3');
  return other && new other.default(path, { readonly: readOnly });
}

/** Imports a package from beside this one, or from the user's project, if there is one. */
async function imported(name: string): Promise<Package> {
  try {
    return await import(name);
  } catch {
    try {
      const { resolve } = createRequire(`${process.cwd()}/`);
      return await import(pathToFileURL(resolve(name)).href);
    } catch {
      return undefined;
    }
  }
}

/** Returns what `unix:///PATH?db=N&user=USER&pass=PASSWORD` says, as the crate `redis` reads it. */
function socketOf({ pathname, searchParams }: URL) {
  const [username, password] = [searchParams.get('user'), searchParams.get('pass')];
  return {
    path: decodeURIComponent(pathname),
    db: Number(searchParams.get('db') ?? 0),
    ...(username !== null && { username }),
    ...(password !== null && { password }),
  };
}
