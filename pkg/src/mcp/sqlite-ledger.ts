import { flag, optional, options } from '../input.js';
import { core } from '../module.js';
import type { Command } from './engine.js';
import { type Ledger, storeText } from './ledger.js';

/** What {@link SqliteLedger} needs of a database: `node:sqlite` and `better-sqlite3` have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** A statement of one. */
export interface SqliteStatement {
  get(...values: (string | number | null)[]): unknown;
  run(...values: (string | number | null)[]): unknown;
}

/** How long to try for a file while other processes open it too, in milliseconds. */
const OPENING = 5_000;

/**
 * A ledger in a SQLite file: for the processes of one machine, and for what follows a restart. What was
 * answered survives a loss of power. A file on a network is none of this.
 *
 * Its database is a connection of its own, to a file that may have other tables. It waits for the disk, and
 * up to 250 ms for a lock that another process holds, and the event loop with it: on most disks a few
 * milliseconds a request that uses something up or writes.
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
  readonly #now: SqliteStatement;
  readonly #read: SqliteStatement;
  readonly #write: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #sweep: SqliteStatement;

  /**
   * @param given `durable`: true unless set; if it is false, what was answered survives `kill -9`, and no loss
   * of power, and takes a fraction of the time
   * @throws what the database throws where it cannot be written
   */
  constructor(database: SqliteDatabase, given: { readonly durable?: boolean | undefined } = {}) {
    const { durable } = options(given, 'durable');
    setUp(database);
    if (optional(flag, 'durable', durable) === false) database.exec(storeText('sqlite-normal'));
    const statement = (name: string) => database.prepare(storeText(`sqlite-${name}`));
    this.#database = database;
    this.#now = statement('now');
    this.#read = statement('read');
    this.#write = statement('write');
    this.#delete = statement('delete');
    this.#sweep = statement('sweep');
  }

  run(command: Command): readonly string[] {
    this.#database.exec(this.#begin);
    try {
      const reply = this.#judged(command);
      this.#database.exec('COMMIT');
      return reply;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #judged(command: Command): readonly string[] {
    const now = Number(first(this.#now.get()));
    const values = command.keys.map((key) => first(this.#read.get(key, now)) ?? null);
    const judged = core().ledgerJudge(JSON.stringify(command), now, JSON.stringify(values));
    const { reply, writes } = JSON.parse(judged);
    for (const { key, value, until } of writes) {
      if (value === null) this.#delete.run(key);
      else this.#write.run(key, value, until);
    }
    if (writes.length > 0) this.#sweep.run(now);
    return reply;
  }

  /** Some errors, such as a full disk, have done so already. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // The error before it is the one to tell of.
    }
  }
}

/** Sets the file up, as soon as it is not locked: one that changes to WAL waits for nobody. */
function setUp(database: SqliteDatabase): void {
  const until = Date.now() + OPENING;
  for (;;) {
    try {
      database.exec(storeText('sqlite-connect'));
      database.exec(storeText('sqlite-create'));
      return;
    } catch (error) {
      if (!String(Object(error).message).includes('locked') || Date.now() > until) throw error;
    }
  }
}

/** The one column of a row, if there is a row. */
function first(row: unknown): unknown {
  return Object.values(Object(row))[0];
}
