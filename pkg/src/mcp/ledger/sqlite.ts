import type { SqliteAnswer, SqliteStep, Statement } from '../../documents.js';
import { checked, flag } from '../../input.js';
import { type Answer, EVENT, Machine, SQLITE } from '../../machine.js';
import { WIDE } from '../../module.js';
import { after, isPromiseLike } from '../later.js';
import { type Command, type Ledger, LedgerFailure } from './ledger.js';

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

/**
 * A ledger in a SQLite file, for the processes of one machine. It survives a restart, and what it has recorded
 * survives a power failure. Do not use a file on a network.
 *
 * Give it a database connection of its own; the file may have other tables. A new file becomes its owner's alone
 * (0600), in Node from 20.16. While another process opens the file too, the first commands wait for that, up to five
 * seconds. A command blocks the event loop while it waits for the disk, and up to 250 ms for the lock of another process:
 * on most disks a few milliseconds for each request that uses a token or writes.
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
  readonly #durable: boolean | undefined;
  readonly #statements = new Map<string, SqliteStatement>();
  #isOpen = false;
  /** Set while another process is waited for. */
  #opening: Promise<void> | undefined;

  /**
   * @param given `durable`: true by default. With false, records survive `kill -9` but not a power failure,
   * and a request takes a fraction of the time
   * @throws the database's errors if it cannot be written
   */
  constructor(database: SqliteDatabase, given: { readonly durable?: boolean | undefined } = {}) {
    const { durable } = checked(given, { durable: flag });
    this.#database = database;
    this.#durable = durable;
    keepPrivate(database);
    // What goes wrong later, the next command finds too.
    Promise.resolve(this.#open()).catch(() => {});
  }

  run(command: Command): Reply | Promise<Reply> {
    return this.#isOpen ? this.#talk(command) : after(this.#open(), () => this.run(command));
  }

  #open(): void | Promise<void> {
    if (this.#opening !== undefined) return this.#opening;
    const opened = after(this.#talk({ durable: this.#durable }), () => {
      this.#isOpen = true;
    });
    if (!isPromiseLike(opened)) return;
    this.#opening = Promise.resolve(opened).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #talk(about: unknown): Reply | Promise<Reply> {
    const texts = [JSON.stringify(about)];
    const machine = new Machine(undefined, { kind: SQLITE, texts }, WIDE);
    return this.#goOn(machine, machine.first);
  }

  /** Does what the core says, now or, where it says to wait, later. */
  #goOn(machine: Machine, said: Answer, failure?: unknown): Reply | Promise<Reply> {
    const next: SqliteStep = JSON.parse(said.text as string);
    if (next.wait !== undefined) {
      const waited = new Promise<void>((resolve) => setTimeout(resolve, next.wait));
      return waited.then(() => this.#goOn(machine, told(machine, { rows: [] })));
    }
    if (next.run !== undefined) {
      let [answer, first]: [SqliteAnswer, unknown] = [{ rows: [] }, failure];
      try {
        answer = { rows: this.#rows(next.run) };
      } catch (error) {
        answer = { error: String(Object(error).message) };
        first ??= error;
      }
      return this.#goOn(machine, told(machine, answer), first);
    }
    machine.free();
    if (next.done !== undefined) return next.done;
    throw failure ?? new LedgerFailure(next.failed);
  }

  /** Runs statements, and returns what was read. */
  #rows(statements: readonly Statement[]): (string | null)[] {
    const rows = [];
    for (const { sql, args = [], reads } of statements) {
      if (args.length === 0 && !reads) {
        this.#database.exec(sql);
        continue;
      }
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      if (reads) {
        const found = first(statement.get(...args));
        rows.push(found === undefined ? null : String(found));
      } else statement.run(...args);
    }
    return rows;
  }
}

type Reply = readonly string[];

function told(machine: Machine, answer: SqliteAnswer): Answer {
  try {
    return machine.tell({ kind: EVENT, texts: [JSON.stringify(answer)] }, WIDE);
  } catch (error) {
    machine.free();
    throw error;
  }
}

/** Makes a new file its owner's alone, before SQLite makes others beside it with the same permissions. */
function keepPrivate(database: SqliteDatabase): void {
  const { file } = Object(database.prepare('PRAGMA database_list').get());
  if (typeof file !== 'string' || file === '') return;
  try {
    if (first(database.prepare('SELECT count(*) FROM sqlite_master').get()) !== 0) return;
  } catch {
    // Another process has it, or it is no database: opening tells.
    return;
  }
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): { chmodSync(path: string, mode: number): void } };
  };
  process?.getBuiltinModule?.('node:fs').chmodSync(file, 0o600);
}

/** Returns the only column of a row, if there is a row. */
function first(row: unknown): unknown {
  return Object.values(Object(row))[0];
}
