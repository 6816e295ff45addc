import type { Judgement } from '../../documents.js';
import { checked, flag } from '../../input.js';
import { core, WIDE } from '../../module.js';
import { type Command, type Ledger, storeText } from './ledger.js';

/** A database for {@link SqliteLedger}, as of `node:sqlite` and `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/**
 * A text, a number or `null`. As that union, TypeScript before 5.5 refuses `better-sqlite3`, whose statements may also
 * take one object.
 */
// biome-ignore lint/suspicious/noExplicitAny: it is told above
type SqliteValue = any;

/** A prepared statement. */
export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  run(...values: SqliteValue[]): unknown;
}

const STATEMENTS = ['now', 'read', 'write', 'delete', 'sweep'] as const;

/** How long to retry while other processes open the file too, in milliseconds. */
const OPENING = 5_000;

/**
 * A ledger in a SQLite file, for the processes of one machine. It survives a restart, and what it has recorded
 * survives a power failure. Do not use a file on a network.
 *
 * Give it a database connection of its own; the file may have other tables. A new file becomes its owner's alone
 * (0600), in Node from 20.16. It blocks the event loop while it
 * waits for the disk, and up to 250 ms for the lock of another process: on most disks a few milliseconds for
 * each request that uses a token or writes.
 *
 * @example
 * ```js
 * import Database from 'better-sqlite3'; // or { DatabaseSync } of 'node:sqlite'
 * import { SqliteLedger } from 'sealwax/mcp';
 *
 * const ledger = (path) => new SqliteLedger(new Database(path));
 * console.log(typeof ledger); // function
 * ```
 */
export class SqliteLedger implements Ledger {
  readonly local = true;
  readonly #database: SqliteDatabase;
  readonly #begin = storeText('sqlite-begin');
  readonly #statements: Readonly<Record<(typeof STATEMENTS)[number], SqliteStatement>>;

  /**
   * @param given `durable`: true by default. With false, records survive `kill -9` but not a power failure,
   * and a request takes a fraction of the time
   * @throws the database's errors if it cannot be written
   */
  constructor(database: SqliteDatabase, given: { readonly durable?: boolean | undefined } = {}) {
    const { durable } = checked(given, { durable: flag });
    setUp(database);
    if (durable === false) database.exec(storeText('sqlite-normal'));
    this.#database = database;
    const prepared = STATEMENTS.map((name) => [
      name,
      database.prepare(storeText(`sqlite-${name}`)),
    ]);
    this.#statements = Object.fromEntries(prepared);
  }

  run(command: Command): readonly string[] {
    try {
      this.#database.exec(this.#begin);
      const reply = this.#judged(command);
      this.#database.exec('COMMIT');
      return reply;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #judged(command: Command): readonly string[] {
    const statements = this.#statements;
    const now = Number(first(statements.now.get()));
    const values = command.keys.map((key) => first(statements.read.get(key, now)) ?? null);
    const judged = core(WIDE).ledgerJudge(JSON.stringify(command), now, JSON.stringify(values));
    const { reply, writes }: Judgement = JSON.parse(judged);
    for (const { key, value, until } of writes) {
      if (value === null) statements.delete.run(key);
      else statements.write.run(key, value, until);
    }
    if (writes.length > 0) statements.sweep.run(now);
    return reply;
  }

  /** Rolls back, unless an error such as a full disk has done so already. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // The first error is the one to throw.
    }
  }
}

/** Creates the tables, and retries while the file is locked: SQLite does not wait to change to WAL. */
function setUp(database: SqliteDatabase): void {
  const until = Date.now() + OPENING;
  for (;;) {
    try {
      keepPrivate(database);
      database.exec(storeText('sqlite-connect'));
      database.exec(storeText('sqlite-create'));
      return;
    } catch (error) {
      if (!String(Object(error).message).includes('locked') || Date.now() > until) throw error;
    }
  }
}

/** Makes a new file its owner's alone, before SQLite makes others beside it with the same permissions. */
function keepPrivate(database: SqliteDatabase): void {
  const isNew = first(database.prepare('SELECT count(*) FROM sqlite_master').get()) === 0;
  const { file } = Object(database.prepare('PRAGMA database_list').get());
  if (!isNew || typeof file !== 'string' || file === '') return;
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): { chmodSync(path: string, mode: number): void } };
  };
  process?.getBuiltinModule?.('node:fs').chmodSync(file, 0o600);
}

/** Returns the only column of a row, if there is a row. */
function first(row: unknown): unknown {
  return Object.values(Object(row))[0];
}
