/**
 * Help for tests of an application: a clock and a principal to set, a codec, a ledger, and a client in the same process.
 *
 * @example
 * ```js
 * import { TestClock, testCodec } from 'sealwax/testing';
 *
 * const clock = new TestClock();
 * const alice = testCodec(clock).view({ subject: 'alice' });
 * const token = alice.cursor('tools/list').seal(new Uint8Array([2]));
 * clock.advance(24 * 3600);
 * try {
 *   alice.cursor('tools/list').open(token);
 * } catch (error) {
 *   console.log(error.code); // expired
 * }
 * ```
 */

import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { Codec, type Limits } from './codec.js';
import { addClock, wrongType } from './input.js';
import { Key, type KeyRing } from './key.js';
import { MemoryLedger } from './mcp/ledger/memory.js';
import type { AuthInfo } from './mcp/sdk-types.js';
import type { FetchHandler } from './mcp/transport/http.js';
import { type Principal, partsOf } from './principal.js';
// The one that loads the module here.
import 'sealwax';

/** The service that {@link testCodec} is for, unless told. */
export const TEST_AUDIENCE = 'https://test.example.com';

let numberOf: (clock: TestClock) => number;

/** A clock that stands still until it is set or advanced. Only codecs and ledgers made with it see its time. */
export class TestClock {
  #ms: number;
  readonly #number: number;

  static {
    numberOf = (clock) => clock.#number;
  }

  /** @param now where it begins: a `Date`, or a text that `new Date` reads; the present time by default */
  constructor(now: Date | string = new Date()) {
    this.#ms = milliseconds(now);
    this.#number = addClock(() => this.#ms);
  }

  /** The time. */
  get now(): Date {
    return new Date(this.#ms);
  }

  /** Sets the time; backwards too. */
  set(now: Date | string): void {
    this.#ms = milliseconds(now);
  }

  /** Lets so many seconds pass. */
  advance(seconds: number): void {
    this.#ms = milliseconds(new Date(this.#ms + 1000 * seconds));
  }
}

function milliseconds(now: Date | string): number {
  const ms = new Date(now).getTime();
  if (Number.isNaN(ms)) throw new RangeError(`clock: expected a time, found ${now}`);
  return ms;
}

/**
 * Returns a codec on a clock, with a fresh key unless `keys` are given: nothing of another test opens at it.
 *
 * @throws as the constructor of {@link Codec}
 */
export function testCodec(
  clock: TestClock,
  given: { readonly keys?: string | KeyRing; readonly audience?: string } & Limits = {},
): Codec {
  const { keys = Key.generate().toText(), audience = TEST_AUDIENCE, ...limits } = given;
  return new Codec({ keys, audience, ...limits }, numberOf(clock));
}

/** Returns a ledger in memory on a clock. Use one clock for it and the codec of a guard. */
export function testLedger(clock: TestClock): MemoryLedger {
  return new MemoryLedger({}, () => clock.now.getTime());
}

/** The principal of all requests of a test: the option `principal` of a `Guard`. */
export interface TestPrincipal {
  (): Principal | undefined;
  /** Sets whoever sends the next requests; `undefined` for a caller who is not authenticated. */
  set(principal: Principal | undefined): void;
}

/**
 * Returns a principal that the test may set between requests.
 *
 * @throws `TypeError` for what is no principal
 */
export function testPrincipal(principal?: Principal): TestPrincipal {
  let current: Principal | undefined;
  const set = (next: Principal | undefined) => {
    if (next !== undefined) partsOf(next);
    current = next;
  };
  set(principal);
  return Object.assign(() => current, { set });
}

/** Settings of {@link connect}. */
export interface ConnectOptions {
  /** What the handler is told of the caller, as by `requireBearerAuth`. */
  readonly authInfo?: AuthInfo | undefined;
  /** Headers of each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where the server is, for its handler: `http://localhost/mcp` by default. */
  readonly url?: string | URL | undefined;
  /** The options of the client; by default it speaks revision 2026-07-28 and can be asked. */
  readonly client?: ClientOptions | undefined;
}

/**
 * Connects the official client, `@modelcontextprotocol/client`, to a server in this process, without a port.
 *
 * @param handler the `fetch` of the server: of `createMcpHandler`, of `guard.fetch`, or the application's own
 * @example
 * ```js
 * import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
 * import { Guard } from 'sealwax/mcp';
 * import { connect, TestClock, testCodec, testLedger, testPrincipal } from 'sealwax/testing';
 *
 * const clock = new TestClock();
 * const principal = testPrincipal({ subject: 'alice' });
 * const guard = new Guard({ codec: testCodec(clock), principal, ledger: testLedger(clock) });
 * const { fetch } = createMcpHandler(() => {
 *   const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
 *   server.registerTool('count', {}, () => ({ content: [{ type: 'text', text: '25' }] }));
 *   return server;
 * });
 * const client = await connect(fetch);
 * console.log((await client.callTool({ name: 'count' })).content[0].text); // 25
 * await client.close();
 * ```
 */
export async function connect(handler: FetchHandler, given: ConnectOptions = {}): Promise<Client> {
  if (typeof handler !== 'function') throw wrongType('handler', 'a function', handler);
  const { authInfo, headers = {}, url = 'http://localhost/mcp', client: options } = given;
  const sdk = await import('@modelcontextprotocol/client');
  const client = new sdk.Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      ...options,
    },
  );
  const within = { ...(authInfo && { authInfo }) };
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: (input, init) => Promise.resolve(handler(new Request(input, init), within)),
    requestInit: { headers },
  });
  await client.connect(transport);
  return client;
}
