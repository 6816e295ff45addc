/** The connections that a ledger opens to a single Redis or Valkey. */

import { TimeoutError, within } from '../later.js';

export type Send = (...command: [string, ...string[]]) => PromiseLike<unknown>;

/** A connection that is never made again: what it did not answer is not sent a second time. */
export interface Connection {
  readonly send: Send;
  /** Calls a function, at least once, when it is over. */
  onOver(over: () => void): void;
  close(): void;
}

/** A connection is given up if a command has no answer in so many milliseconds: its other side may be gone for good. */
const SILENT = 2_000;
/** The number of connections to keep for commands that have one to themselves, and the most at once. */
const [KEPT, MOST_ALONE] = [4, 64];

export class Connections {
  readonly #open: () => Connection;
  readonly #over: () => void;
  readonly #all = new Set<Connection>();
  /** The connection for all commands that wait for nothing. */
  #common: Connection | undefined;
  readonly #free: Connection[] = [];
  #isClosed = false;

  /** @param over is called when the common connection is over: the next one may be to another server */
  constructor(open: () => Connection, over: () => void) {
    this.#open = open;
    this.#over = over;
  }

  /** Sends a command over the common connection. */
  readonly send: Send = (...command) => {
    this.#common ??= this.#made();
    return this.answered(this.#common, command);
  };

  /** Returns a connection that no other command uses until it is released. */
  take(): Connection {
    if (this.#all.size - this.#free.length > MOST_ALONE) {
      throw new TimeoutError(`expected at most ${MOST_ALONE} commands that wait for a replica`);
    }
    return this.#free.pop() ?? this.#made();
  }

  release(connection: Connection): void {
    if (!this.#all.has(connection) || this.#free.length >= KEPT) this.#give(connection);
    else this.#free.push(connection);
  }

  /** Closes them all, because the client was closed; a client that is connected again opens new ones. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#all]) this.#give(connection);
  }

  reopen(): void {
    this.#isClosed = false;
  }

  /** Sends a command that may take so many milliseconds over a connection, and gives that up if there is no answer. */
  async answered(connection: Connection, command: Parameters<Send>, ms = 0): Promise<unknown> {
    try {
      return await within(Math.max(SILENT, ms), () => connection.send(...command));
    } catch (error) {
      if (error instanceof TimeoutError) this.#give(connection);
      throw error;
    }
  }

  #made(): Connection {
    if (this.#isClosed) throw new Error('client: expected one that is open');
    const connection = this.#open();
    this.#all.add(connection);
    connection.onOver(() => this.#forget(connection));
    return connection;
  }

  #give(connection: Connection): void {
    this.#forget(connection);
    connection.close();
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    if (this.#common !== connection) return;
    this.#common = undefined;
    this.#over();
  }
}

/** Opens a connection like that of a client of `ioredis`. */
// biome-ignore lint/suspicious/noExplicitAny: the client's package is not ours to import
export function ofIoredis(client: any): Connection {
  const made = client.duplicate({
    ...{ lazyConnect: false, enableOfflineQueue: true, autoResubscribe: false },
    ...{ autoResendUnfulfilledCommands: false, maxRetriesPerRequest: null },
    retryStrategy: () => null,
    reconnectOnError: null,
  });
  // Why it is closed is not in the error of a command that it did not send.
  let cause: unknown;
  made.on('error', (error: unknown) => {
    cause = error;
  });
  return {
    async send(...command) {
      try {
        return await made.call(...lowered(command));
      } catch (error) {
        if (error instanceof Error) error.cause ??= cause;
        throw error;
      }
    },
    onOver: (over) => made.on('end', over),
    close() {
      made.disconnect();
      // It would wait for the other side to close too.
      made.stream?.destroy();
    },
  };
}

/** Opens a connection like that of a client of `redis`. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function ofRedis(client: any): Connection {
  const socket = { ...client.options?.socket, reconnectStrategy: false };
  const made = client.duplicate({ socket, disableOfflineQueue: false });
  const connected = made.connect();
  return {
    async send(...command) {
      await connected;
      return made.sendCommand(command);
    },
    onOver(over) {
      // It is over with the first error, and says no more.
      made.on('error', over);
      made.on('end', over);
      connected.catch(over);
    },
    close: () => made.destroy(),
  };
}

/** Lowers the command's name, by which ioredis finds its keys. */
export function lowered([name = '', ...args]: string[]): string[] {
  return [name.toLowerCase(), ...args];
}
