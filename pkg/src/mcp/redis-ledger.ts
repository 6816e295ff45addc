import { invalidArgument } from '../error.js';
import { wrongType } from '../input.js';
import { core, WIDE } from '../module.js';
import type { Command } from './engine.js';
import { type Ledger, LedgerUnfit, storeText } from './ledger.js';

/**
 * A client for {@link RedisLedger}: `Redis` or `Cluster` of `ioredis`, `createClient` or
 * `createCluster` of `redis`, or `Redis` of `@upstash/redis`.
 */
export type RedisClient =
  | { call(command: string, ...args: string[]): PromiseLike<unknown> }
  | { sendCommand(args: string[]): PromiseLike<unknown> }
  | {
      readonly masters: readonly unknown[];
      sendCommand(key: string, isReadonly: boolean, args: string[]): PromiseLike<unknown>;
    }
  | { exec(args: [string, ...string[]]): PromiseLike<unknown> };

type Send = (...command: [string, ...string[]]) => PromiseLike<unknown>;

/** One store, through any of the clients. */
interface Store {
  /** Sends a command to the server that holds a key. */
  send(key: string, ...command: [string, ...string[]]): PromiseLike<unknown>;
  /** Returns every server that accepts writes. */
  servers(): PromiseLike<readonly Send[]> | readonly Send[];
  /** Whether every command uses one connection, and a reconnection is reported. */
  readonly isOne: boolean;
}

/** The time limit for a confirmation by a replica, in milliseconds: less than that of the whole command. */
const CONFIRMED_IN = '200';

/**
 * A ledger in Redis 6.2 or later, or Valkey, for several machines. It checks the server at the first command,
 * and again after a reconnection or an error; a server that would lose records is {@link LedgerUnfit}.
 *
 * Give it a client of its own, because `WAIT` blocks every other command of the connection. A command that
 * the client resends does not count as a second use, but the guard waits at most three tenths of its `acceptTimeout`. To
 * learn at once that the server is down, set `enableOfflineQueue: false` and `maxRetriesPerRequest: 1` for `ioredis`,
 * `disableOfflineQueue: true` for `redis`. Both need an `error` listener.
 *
 * Confirmation by a replica is known only with a single server. With a Cluster, and with `@upstash/redis`
 * (which needs `automaticDeserialization: false`), ends and revocations are logged as `ledger_unconfirmed`.
 *
 * @example
 * ```js
 * import { Redis } from 'ioredis';
 * import { RedisLedger } from 'sealwax/mcp';
 *
 * async function connect(url) {
 *   const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
 *   client.on('error', (error) => console.error(error.code));
 *   return new RedisLedger(client);
 * }
 * console.log(typeof connect); // function
 * ```
 */
export class RedisLedger implements Ledger {
  readonly #store: Store;
  readonly #digests = new Map<string, Promise<string>>();
  #warnings: readonly string[] | undefined;
  #checked: Promise<unknown> | undefined;
  /** Whether a replica must confirm each command, because servers cannot be told apart. */
  #mustConfirm = false;
  /** The number of connections so far. */
  #connections = 0;

  /** @throws `TypeError` for another client; {@link SealwaxError} `invalid_argument` for a `keyPrefix` */
  constructor(client: RedisClient) {
    this.#store = storeOf(client);
    const { on, options } = Object(client);
    // Replicas in other languages would use another ledger.
    if (options?.keyPrefix || options?.redisOptions?.keyPrefix) {
      throw invalidArgument('client: expected one without a keyPrefix');
    }
    if (typeof on !== 'function') return;
    on.call(client, 'ready', () => {
      this.#connections += 1;
      this.#checked = undefined;
    });
  }

  /** Warnings about server settings that may lose records, after the first check. */
  get warnings(): readonly string[] | undefined {
    return this.#warnings;
  }

  async run(command: Command): Promise<readonly string[]> {
    try {
      this.#checked ??= this.check();
      await this.#checked;
      const from = this.#connections;
      return await this.#confirmed(command, await this.#evaluate(command), from);
    } catch (error) {
      // The next reply may come from another server.
      this.#checked = undefined;
      throw error;
    }
  }

  /**
   * Checks the server's settings, for a check before the first request, and returns the warnings.
   *
   * @throws {@link LedgerUnfit} for an unsuitable server; the client's errors
   */
  async check(): Promise<readonly string[]> {
    const refused: string[] = [];
    const warned = new Set<string>();
    for (const send of await this.#store.servers()) {
      const found = JSON.parse(core(WIDE).ledgerFitness(String(await send('INFO'))));
      refused.push(...found.refused);
      for (const one of found.warned) warned.add(one);
    }
    if (refused.length > 0) throw new LedgerUnfit(refused.join('; '));
    this.#warnings = [...warned];
    return this.#warnings;
  }

  async #evaluate({ script, keys, args }: Command): Promise<readonly string[]> {
    const [key = ''] = keys;
    const rest = [String(keys.length), ...keys, ...args];
    let reply: unknown;
    try {
      reply = await this.#store.send(key, 'EVALSHA', await this.#digest(script), ...rest);
    } catch (error) {
      if (!String(Object(error).message).includes('NOSCRIPT')) throw error;
      reply = await this.#store.send(key, 'EVAL', storeText(script), ...rest);
    }
    if (!Array.isArray(reply)) return [];
    if (reply.some((one) => typeof one === 'number')) {
      throw new LedgerUnfit('client: expected texts; set automaticDeserialization: false');
    }
    return reply.map(String);
  }

  /** Waits for a replica to confirm a command that should, or must, survive a failover. */
  async #confirmed(
    { script, keys: [key = ''] }: Command,
    reply: readonly string[],
    from: number,
  ): Promise<readonly string[]> {
    const { isOne, send } = this.#store;
    const [verdict, confirm] = reply;
    if (script === 'open' && verdict === 'ok') this.#mustConfirm = reply.at(-1) === '2';
    if (this.#mustConfirm && !isOne) {
      throw new LedgerUnfit(
        'scripts: expected a server that allows INFO in them, for a fail-over to be seen; else a replica ' +
          'must confirm each command, which takes ioredis or redis and one server',
      );
    }
    if (verdict !== 'ok' || script === 'open' || (confirm !== '1' && confirm !== '2')) return reply;
    // WAIT covers only the writes of its own connection.
    const count = isOne ? await attempted(() => send(key, 'WAIT', '1', CONFIRMED_IN)) : 0;
    const confirmed = Number(count) > 0 && this.#connections === from;
    return confirmed ? reply : [...reply, 'unconfirmed'];
  }

  #digest(script: string): Promise<string> {
    const known = this.#digests.get(script);
    if (known !== undefined) return known;
    const digest = digestOf(storeText(script));
    this.#digests.set(script, digest);
    return digest;
  }
}

function storeOf(client: unknown): Store {
  const given = Object(client);
  if (typeof given.call === 'function') {
    const isOne = given.isCluster !== true;
    const send = (of: typeof given, command: string[]) => of.call(...lowered(command));
    return {
      isOne,
      send: (_, ...command) => send(given, command),
      servers() {
        const nodes = isOne ? [given] : given.nodes('master');
        return nodes.map(
          (node: unknown) =>
            (...command: string[]) =>
              send(node, command),
        );
      },
    };
  }
  if (typeof given.sendCommand === 'function') {
    const sending =
      (of: typeof given): Send =>
      (...command) =>
        of.sendCommand(command);
    if (given.masters === undefined) {
      const send = sending(given);
      const isOne = given.totalClients === undefined; // a pool has more
      return { isOne, send: (_, ...command) => send(...command), servers: () => [send] };
    }
    return {
      isOne: false,
      send: (key, ...command) => given.sendCommand(key, false, command),
      servers: async () => {
        const masters = given.masters.map((master: unknown) => given.nodeClient(master));
        return (await Promise.all(masters)).map(sending);
      },
    };
  }
  if (typeof given.exec === 'function') {
    const send: Send = (...command) => given.exec(command);
    return { isOne: false, send: (_, ...command) => send(...command), servers: () => [send] };
  }
  throw wrongType('client', 'a client of ioredis, redis or @upstash/redis', client);
}

/** Lowers the command's name, by which ioredis finds its keys. */
function lowered([name = '', ...args]: string[]): string[] {
  return [name.toLowerCase(), ...args];
}

async function attempted(work: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

/** Returns the digest by which a server knows a script. */
async function digestOf(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(script));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
