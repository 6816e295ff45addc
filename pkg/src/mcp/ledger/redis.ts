import type { Plain, RedisAnswer, StoreStep } from '../../documents.js';
import { invalidArgument } from '../../error.js';
import { wrongType } from '../../input.js';
import { type Answer, EVENT, Machine, STORE, STORE_MACHINE, WAITS } from '../../machine.js';
import { WIDE } from '../../module.js';
import { within } from '../later.js';
import { type Command, type Ledger, LedgerFailure, LedgerUnfit } from './ledger.js';
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
  /** Connections of our own, which are never made again and send nothing again; only with a single server. */
  readonly connections?: Connections;
}

/** The time limit of a check, in milliseconds: a client that is used as it is may have none. */
const CHECKING = 10_000;

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
  readonly #redis: Machine;
  /** The connections of its own whose server was checked. */
  readonly #fit = new WeakSet<Connection>();
  #warnings: readonly string[] | undefined;
  #checked: Promise<unknown> | undefined;
  /** How scripts are sent whose commands need no store machine, while the server counts as checked. */
  #plain = new Map<string, Plain>();

  /** @throws `TypeError` for another client; {@link SealwaxError} `invalid_argument` for a `keyPrefix` */
  constructor(client: RedisClient) {
    const again = () => this.#again();
    this.#store = storeOf(client, again);
    const { connections } = this.#store;
    const { on, options } = Object(client);
    // Replicas in other languages would use another ledger.
    if (options?.keyPrefix || options?.redisOptions?.keyPrefix) {
      throw invalidArgument('client: expected one without a keyPrefix');
    }
    const flags = connections === undefined ? 0 : WAITS;
    this.#redis = new Machine(undefined, { kind: STORE, flags, texts: [] }).kept();
    if (typeof on !== 'function') return;
    on.call(client, 'ready', () => {
      again();
      connections?.reopen();
    });
    on.call(client, 'end', () => connections?.close());
  }

  /** Warnings about server settings that may lose records, after the first check. */
  get warnings(): readonly string[] | undefined {
    return this.#warnings;
  }

  async run(command: Command): Promise<readonly string[]> {
    const { script, keys, args } = command;
    try {
      const plain = this.#plain.get(script);
      if (plain !== undefined) {
        const sent = [...plain.send, `${keys.length}`, ...keys, ...args] as Parameters<Send>;
        const answer = await answered(this.#store.send(keys[0] ?? '', ...sent));
        const isPassed = 'texts' in answer && `${answer.texts}` === `${plain.passes}`;
        return isPassed ? plain.passes : await this.#machine(command, answer);
      }
      do {
        this.#checked ??= this.check();
        await this.#checked;
        // Its connection may be over already.
      } while (this.#checked === undefined);
      return await this.#machine(command);
    } catch (error) {
      // The next reply may come from another server.
      this.#again();
      throw error;
    }
  }

  #again(): void {
    this.#checked = undefined;
    this.#plain.clear();
  }

  /**
   * Checks the server's settings, for a check before the first request, and returns the warnings.
   *
   * @throws {@link LedgerUnfit} for an unsuitable server; the client's errors; an error if it takes more than ten seconds
   */
  async check(): Promise<readonly string[]> {
    return within(CHECKING, () => this.#check());
  }

  async #check(): Promise<readonly string[]> {
    const unfit: string[] = [];
    const warned = new Set<string>();
    for (const send of await this.#store.servers()) {
      const next = await this.#judged((sent) => send(...sent));
      if (next.unfit) unfit.push(next.unfit);
      for (const one of next.warned ?? []) warned.add(one);
    }
    if (unfit.length > 0) throw new LedgerUnfit(unfit.join('; '));
    this.#warnings = [...warned];
    return this.#warnings;
  }

  /** Returns what the core says of a server. */
  async #judged(send: (sent: Parameters<Send>) => PromiseLike<unknown>): Promise<StoreStep> {
    const check = this.#begin({});
    try {
      const asked = nextOf(check.first).send as Parameters<Send>;
      return told(check, { text: String(await send(asked)) });
    } finally {
      check.free();
    }
  }

  /** Takes a connection of its own. A new one may be to another server, which is checked. */
  async #taken(connections: Connections): Promise<Connection> {
    const own = connections.take();
    try {
      if (!this.#fit.has(own)) {
        const { unfit } = await this.#judged((sent) => connections.answered(own, sent));
        if (unfit) throw new LedgerUnfit(unfit);
        this.#fit.add(own);
      }
      return own;
    } catch (error) {
      connections.release(own);
      throw error;
    }
  }

  /** Begins a store machine about a command, or a check. */
  #begin(about: Command | object): Machine {
    const texts = [JSON.stringify(about)];
    return new Machine(this.#redis, { kind: STORE_MACHINE, texts }, WIDE);
  }

  /** Has the core's store machine about a command: sends what it says, and reports the answers to it; `first` came already. */
  async #machine(command: Command, first?: RedisAnswer): Promise<readonly string[]> {
    const checked = this.#checked;
    const machine = this.#begin(command);
    const { script, keys, withinMs } = command;
    const { connections } = this.#store;
    let own: Connection | undefined;
    let answer = first;
    try {
      for (let next = nextOf(machine.first); ; next = told(machine, answer)) {
        if (next.done !== undefined) {
          if (next.plain === undefined) this.#plain.clear();
          else if (this.#checked === checked) this.#plain.set(script, next.plain);
          return next.done;
        }
        if (next.unfit !== undefined) throw new LedgerUnfit(next.unfit);
        if (next.send === undefined) throw new LedgerFailure(next.failed);
        const sent = next.send as Parameters<Send>;
        if (next.own && connections) own ??= await this.#taken(connections);
        if (own && connections) {
          answer = await answered(connections.answered(own, sent, withinMs));
        } else {
          answer = first ?? (await answered(this.#store.send(keys[0] ?? '', ...sent)));
        }
        first = undefined;
      }
    } finally {
      if (own !== undefined) connections?.release(own);
      machine.free();
    }
  }
}

/** Reports an answer to a store machine, and returns what is next. */
function told(machine: Machine, answer: RedisAnswer): StoreStep {
  return nextOf(machine.tell({ kind: EVENT, texts: [JSON.stringify(answer)] }, WIDE));
}

function nextOf({ text }: Answer): StoreStep {
  return JSON.parse(text as string);
}

/** Returns the store of a client. `over` is called when the next connection may be to another server. */
// biome-ignore lint/suspicious/noExplicitAny: it may be anything
function storeOf(given: any, over: () => void): Store {
  const send = senderOf(given);
  if (send === undefined) {
    throw wrongType('client', 'a client of ioredis, redis or @upstash/redis', given);
  }
  // A Cluster of `redis`, and one of `ioredis`. Neither knows its servers until it is connected: a command fails, or waits for that.
  if (given.masters !== undefined) {
    const servers = async () => {
      if (given.masters.length === 0) await given.sendCommand(undefined, false, ['PING']);
      const nodes = given.masters.map((master: unknown) => given.nodeClient(master));
      return (await Promise.all(nodes)).map(senderOf) as Send[];
    };
    return { send: (key, ...command) => given.sendCommand(key, false, command), servers };
  }
  if (given.isCluster === true) {
    const servers = async () => {
      if (given.status !== 'ready') await send('PING');
      return given.nodes('master').map(senderOf);
    };
    return { send: (_, ...command) => send(...command), servers };
  }
  // A pool has more than one connection.
  if (given.totalClients !== undefined || typeof given.duplicate !== 'function') {
    return { send: (_, ...command) => send(...command), servers: () => [send] };
  }
  const open = typeof given.call === 'function' ? ofIoredis : ofRedis;
  const connections = new Connections(() => open(given), over);
  return {
    connections,
    send: (_, ...command) => connections.send(...command),
    servers: () => [connections.send],
  };
}

/** Returns what sends a command through a client, if it is one. */
function senderOf(client: unknown): Send | undefined {
  const given = Object(client);
  if (typeof given.call === 'function') return (...command) => given.call(...lowered(command));
  if (typeof given.sendCommand === 'function') return (...command) => given.sendCommand(command);
  return typeof given.exec === 'function' ? (...command) => given.exec(command) : undefined;
}

/** Converts a client's answer for the store machine. An error of the server begins with its code; any other is the client's. */
async function answered(answer: PromiseLike<unknown>): Promise<RedisAnswer> {
  try {
    const found = await answer;
    if (typeof found === 'number') return { number: found };
    if (!Array.isArray(found)) return { text: String(found) };
    if (!found.some((one) => typeof one === 'number')) return { texts: found.map(String) };
  } catch (error) {
    const { message } = Object(error);
    if (/^[A-Z]{3,} /.test(message)) return { error: message };
    throw error;
  }
  throw new LedgerUnfit('client: expected texts; set automaticDeserialization: false');
}
