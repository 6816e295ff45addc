import { wrongType } from '../input.js';
import { core } from '../module.js';
import type * as raw from '../raw.js';
import type { Command } from './engine.js';

/**
 * Remembers that a token was used, that a session ended, and which of its states is the latest: LEDGER.md
 * says what it is asked and what it replies. {@link MemoryLedger} is for one process,
 * {@link SqliteLedger} for one machine, {@link RedisLedger} for a fleet.
 */
export interface Ledger {
  /** Does a command in one atomic step. What throws, or is late, refuses the request. */
  run(command: Command): readonly string[] | PromiseLike<readonly string[]>;
}

/** The store cannot be a ledger: it would forget. The message says what to change. */
export class LedgerUnfit extends Error {
  override readonly name = 'LedgerUnfit';
}

/**
 * A ledger in the memory of this process: no other replica knows of it, nor this one restarted. It
 * forgets nothing that is alive: where there is no room, whatever is new is refused, and one principal
 * fills at most half.
 */
export class MemoryLedger implements Ledger {
  readonly #memory: raw.Memory;

  /** @param given `room`: about how many bytes it takes, 64 MiB unless set */
  constructor(given: { readonly room?: number | undefined } = {}) {
    const { Memory } = core();
    this.#memory = new Memory(given.room ?? 64 << 20, now());
  }

  run(command: Command): readonly string[] {
    return JSON.parse(this.#memory.run(JSON.stringify(command), now()));
  }
}

/** What {@link SqliteLedger} needs of a database: `node:sqlite` and `better-sqlite3` have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...values: (string | number | null)[]): unknown;
    run(...values: (string | number | null)[]): unknown;
  };
}

/**
 * A ledger in a SQLite file: for the processes of one machine, and for what follows a restart. What was
 * answered survives a loss of power. A file on a network is none of this.
 *
 * @example
 * ```js
 * import Database from 'better-sqlite3';
 * const ledger = new SqliteLedger(new Database('ledger.db'));
 * ```
 */
export class SqliteLedger implements Ledger {
  readonly #database: SqliteDatabase;
  readonly #statements: Record<
    'now' | 'read' | 'write' | 'delete' | 'sweep',
    ReturnType<SqliteDatabase['prepare']>
  >;
  readonly #begin = text('sqlite-begin');

  constructor(database: SqliteDatabase) {
    database.exec(text('sqlite-connect'));
    database.exec(text('sqlite-create'));
    const statement = (name: string) => database.prepare(text(`sqlite-${name}`));
    this.#database = database;
    this.#statements = {
      now: statement('now'),
      read: statement('read'),
      write: statement('write'),
      delete: statement('delete'),
      sweep: statement('sweep'),
    };
  }

  run(command: Command): readonly string[] {
    this.#database.exec(this.#begin);
    try {
      const reply = this.#judged(command);
      this.#database.exec('COMMIT');
      return reply;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #judged(command: Command): readonly string[] {
    const statements = this.#statements;
    const now = Number(first(statements.now.get()));
    const values = command.keys.map((key) => first(statements.read.get(key, now)) ?? null);
    const judged = core().ledgerJudge(JSON.stringify(command), now, JSON.stringify(values));
    const { reply, writes } = JSON.parse(judged);
    for (const { key, value, until } of writes) {
      if (value === null) statements.delete.run(key);
      else statements.write.run(key, value, until);
    }
    if (writes.length > 0) statements.sweep.run(now);
    return reply;
  }
}

/** What {@link RedisLedger} needs of a client: `ioredis` and `redis` have one of the two. */
export type RedisClient =
  | { call(command: string, ...args: string[]): PromiseLike<unknown> }
  | { sendCommand(args: string[]): PromiseLike<unknown> };

/**
 * A ledger in a Redis 6.2 or later, or a Valkey: for a fleet. The first command checks the server, and
 * throws {@link LedgerUnfit} for one that would forget.
 *
 * Give it a client of its own: `WAIT` holds up whatever else goes over the same connection.
 */
export class RedisLedger implements Ledger {
  /** What the server's settings may make it forget, once it was asked. */
  warnings: readonly string[] | undefined;
  readonly #send: (...args: string[]) => PromiseLike<unknown>;
  readonly #digests = new Map<string, Promise<string>>();

  constructor(client: RedisClient) {
    if ('call' in client && typeof client.call === 'function') {
      this.#send = (command, ...args) => client.call(command as string, ...args);
    } else if ('sendCommand' in client && typeof client.sendCommand === 'function') {
      this.#send = (...args) => client.sendCommand(args);
    } else {
      throw wrongType('client', 'a client of ioredis or redis', client);
    }
  }

  async run(command: Command): Promise<readonly string[]> {
    if (this.warnings === undefined) await this.check();
    const reply = await this.#evaluate(command);
    const [verdict, confirm] = reply;
    if (verdict === 'ok' && command.script !== 'open' && confirm !== '0') {
      const confirmed = Number(await this.#send('WAIT', '1', '200'));
      if (confirmed === 0) return [...reply, 'unconfirmed'];
    }
    return reply;
  }

  /** What the server may forget; throws {@link LedgerUnfit} where it must not serve. */
  async check(): Promise<readonly string[]> {
    const found = JSON.parse(core().ledgerFitness(String(await this.#send('INFO'))));
    if (found.refused.length > 0) throw new LedgerUnfit(found.refused.join('; '));
    this.warnings = found.warned;
    return found.warned;
  }

  async #evaluate({ script, keys, args }: Command): Promise<readonly string[]> {
    const rest = [String(keys.length), ...keys, ...args];
    let reply: unknown;
    try {
      reply = await this.#send('EVALSHA', await this.#digest(script), ...rest);
    } catch (error) {
      if (!String(Object(error).message).startsWith('NOSCRIPT')) throw error;
      reply = await this.#send('EVAL', text(script), ...rest);
    }
    return (reply as unknown[]).map(String);
  }

  #digest(script: string): Promise<string> {
    let digest = this.#digests.get(script);
    if (digest === undefined) {
      digest = hex(text(script));
      this.#digests.set(script, digest);
    }
    return digest;
  }
}

async function hex(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(script));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function text(name: string): string {
  return core().ledgerText(name);
}

function first(row: unknown): string | number | undefined {
  return row === undefined ? undefined : (Object.values(Object(row))[0] as string | number);
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
