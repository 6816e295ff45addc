import { invalidArgument } from '../../error.js';
import { wrongType } from '../../input.js';
import { core, WIDE } from '../../module.js';
import type { Command } from '../engine.js';
import { type Ledger, LedgerUnfit, storeText } from './ledger.js';
import {
  type Connection,
  Connections,
  lowered,
  ofIoredis,
  ofRedis,
  type Send,
} from './redis-connections.js';

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

/** A store, through any of the clients. */
interface Store {
  /** Sends a command to the server that holds a key. */
  send(key: string, ...command: [string, ...string[]]): PromiseLike<unknown>;
  /** Returns every server that accepts writes. */
  servers(): PromiseLike<readonly Send[]> | readonly Send[];
  /** Opens a connection of our own, which is never made again and sends nothing again; only with a single server. */
  readonly open?: () => Connection;
}

/** The time limit for a confirmation by a replica, in milliseconds: half of that of the whole command. */
const CONFIRMED_IN = '150';

/**
 * A ledger in Redis 6.2 or later, or Valkey, for several machines. It checks the server at the first command,
 * and again after a reconnection or an error; a server that would lose records is {@link LedgerUnfit}.
 *
 * With a single server the ledger opens connections of its own, with the client's options, and closes them when the
 * client is closed. One serves all requests; what a replica should confirm has another one to itself, because `WAIT`
 * blocks its connection. A connection without an answer for two seconds is given up, and what was sent there is never
 * sent again. Give the client an `error` listener.
 *
 * A Cluster, a pool and `@upstash/redis` (which needs `automaticDeserialization: false`) are used as they are. There, set
 * `socketTimeout` for `redis`; for `ioredis` `socketTimeout` and `autoResendUnfulfilledCommands: false`, or else a
 * command that the client took for failed is sent again. Confirmation by a replica is not known there: ends and
 * revocations are logged as `ledger_unconfirmed`.
 *
 * @example
 * ```js
 * import { Redis } from 'ioredis';
 * import { RedisLedger } from 'sealwax/mcp';
 *
 * async function connect(url) {
 *   const client = new Redis(url);
 *   client.on('error', (error) => console.error(error.code));
 *   return new RedisLedger(client);
 * }
 * console.log(typeof connect); // function
 * ```
 */
export class RedisLedger implements Ledger {
  readonly #store: Store;
  readonly #digests = new Map<string, Promise<string>>();
  readonly #connections: Connections | undefined;
  #warnings: readonly string[] | undefined;
  #checked: Promise<unknown> | undefined;
  /** Whether a replica must confirm each command, because servers cannot be told apart. */
  #mustConfirm = false;

  /** @throws `TypeError` for another client; {@link SealwaxError} `invalid_argument` for a `keyPrefix` */
  constructor(client: RedisClient) {
    this.#store = storeOf(client);
    const { on, options } = Object(client);
    // Replicas in other languages would use another ledger.
    if (options?.keyPrefix || options?.redisOptions?.keyPrefix) {
      throw invalidArgument('client: expected one without a keyPrefix');
    }
    const again = () => {
      this.#checked = undefined;
    };
    const { open } = this.#store;
    this.#connections = open && new Connections(open, again);
    if (typeof on !== 'function') return;
    on.call(client, 'ready', () => {
      again();
      this.#connections?.reopen();
    });
    on.call(client, 'end', () => this.#connections?.close());
  }

  /** Warnings about server settings that may lose records, after the first check. */
  get warnings(): readonly string[] | undefined {
    return this.#warnings;
  }

  async run(command: Command): Promise<readonly string[]> {
    try {
      do {
        this.#checked ??= this.check();
        await this.#checked;
        // Its connection may be over already.
      } while (this.#checked === undefined);
      return await this.#run(command);
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
    const servers = this.#connections ? [this.#connections.send] : await this.#store.servers();
    for (const send of servers) {
      const found = JSON.parse(core(WIDE).ledgerFitness(String(await send('INFO'))));
      refused.push(...found.refused);
      for (const one of found.warned) warned.add(one);
    }
    if (refused.length > 0) throw new LedgerUnfit(refused.join('; '));
    this.#warnings = [...warned];
    return this.#warnings;
  }

  /** Runs a command; one that ends something, or that must be confirmed, on a connection where it can wait for that. */
  async #run(command: Command): Promise<readonly string[]> {
    const { script, args } = command;
    const ends = script === 'revoke' || args.includes('end') || args.includes('force');
    if (this.#connections !== undefined && (ends || this.#mustConfirm)) {
      return this.#connections.alone((send) => this.#confirmed(command, send));
    }
    const [key = ''] = command.keys;
    const send: Send = this.#connections?.send ?? ((...given) => this.#store.send(key, ...given));
    return this.#confirmed(command, send, false);
  }

  /** Runs a command, and waits for a replica to confirm one that should, or must, survive a failover. */
  async #confirmed(command: Command, send: Send, canWait = true): Promise<readonly string[]> {
    const reply = await this.#evaluate(command, send);
    const { script } = command;
    const [verdict, confirm] = reply;
    const must = (script === 'open' ? reply.at(-1) : confirm) === '2';
    if (verdict === 'ok' && (script === 'open' || must)) this.#mustConfirm = must;
    if (this.#mustConfirm && this.#connections === undefined) {
      throw new LedgerUnfit(
        'scripts: expected a server that allows INFO in them, for a fail-over to be seen; else a replica ' +
          'must confirm each command, which takes ioredis or redis and one server',
      );
    }
    if (verdict !== 'ok' || script === 'open' || (confirm !== '1' && confirm !== '2')) return reply;
    const count = canWait ? await attempted(() => send('WAIT', '1', CONFIRMED_IN)) : 0;
    return Number(count) > 0 ? reply : [...reply, 'unconfirmed'];
  }

  async #evaluate({ script, keys, args }: Command, send: Send): Promise<readonly string[]> {
    const rest = [String(keys.length), ...keys, ...args];
    let reply: unknown;
    try {
      reply = await send('EVALSHA', await this.#digest(script), ...rest);
    } catch (error) {
      if (!String(Object(error).message).includes('NOSCRIPT')) throw error;
      reply = await send('EVAL', storeText(script), ...rest);
    }
    if (!Array.isArray(reply)) return [];
    if (reply.some((one) => typeof one === 'number')) {
      throw new LedgerUnfit('client: expected texts; set automaticDeserialization: false');
    }
    return reply.map(String);
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
    const send = (of: typeof given, command: string[]) => of.call(...lowered(command));
    const isOne = given.isCluster !== true && typeof given.duplicate === 'function';
    return {
      ...(isOne && { open: () => ofIoredis(given) }),
      send: (_, ...command) => send(given, command),
      servers() {
        const nodes = given.isCluster === true ? given.nodes('master') : [given];
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
      // A pool has more than one connection.
      const isOne = given.totalClients === undefined && typeof given.duplicate === 'function';
      return {
        ...(isOne && { open: () => ofRedis(given) }),
        send: (_, ...command) => send(...command),
        servers: () => [send],
      };
    }
    return {
      send: (key, ...command) => given.sendCommand(key, false, command),
      servers: async () => {
        const masters = given.masters.map((master: unknown) => given.nodeClient(master));
        return (await Promise.all(masters)).map(sending);
      },
    };
  }
  if (typeof given.exec === 'function') {
    const send: Send = (...command) => given.exec(command);
    return { send: (_, ...command) => send(...command), servers: () => [send] };
  }
  throw wrongType('client', 'a client of ioredis, redis or @upstash/redis', client);
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
