/**
 * Data-layer sessions at the client, on the official SDK, `@modelcontextprotocol/client`. It holds
 * what servers sealed and needs no key, and it starts no module.
 */

import {
  metadataOf,
  SESSION_META,
  SESSIONS_CREATE,
  SESSIONS_DELETE,
  withMetadata,
} from './metadata.js';

/** A session as a client has it. Whoever has it and is this user goes on with it: a secret. */
export interface HeldMetadata {
  readonly sessionId: string;
  readonly state?: string;
  readonly expiresAt?: string;
}

/** Where sessions are kept, by a key that says whose they are. */
export interface SessionStore {
  load(key: string): HeldMetadata | undefined | PromiseLike<HeldMetadata | undefined>;
  save(key: string, metadata: HeldMetadata): void | PromiseLike<void>;
  remove(key: string): void | PromiseLike<void>;
}

/** Whose session it is. */
export interface SessionOwner {
  /** The server that made it, best by its address: it is sent to no other. */
  readonly server: string;
  /** The user that it was made for. */
  readonly user: string;
  /** Which of the user's conversations it is; one without a name unless set. */
  readonly name?: string | undefined;
}

type Params = Readonly<Record<string, unknown>>;
type Result = Readonly<Record<string, unknown>>;

/** What of the SDK's `Client` is used. */
export interface AnyClient<Tool extends Params, Options, Told> {
  callTool(params: Tool, options?: Options): Promise<Told>;
}

interface Requests {
  request(
    request: { readonly method: string; readonly params: Params },
    ...rest: readonly unknown[]
  ): Promise<Result>;
}

/** For the client, the session is over. */
const SESSION_NOT_FOUND = -32043;
const METHOD_NOT_FOUND = -32601;
/** The session's state was not the latest: nothing ran; or the handler ran, and was discarded. */
const [STALE, STALE_AND_RAN] = [-32044, -32045];
/** Where a tool's result says the same. */
const STALE_META = 'io.github.sealwax/stale';
/** How often a request goes out, whose session others write at the same time. */
const TRIES = 4;

/** The parts of the draft that no schema of the SDK knows. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'sealwax', validate: (value: unknown) => ({ value }) },
} as const;

/** One session's metadata, and who waits for it. */
interface Slot {
  metadata: HeldMetadata | undefined;
  tail: Promise<unknown>;
}

/**
 * The sessions of a client, each by its server, user and name.
 *
 * @example
 * ```js
 * import { ClientSessions } from 'sealwax/mcp/client';
 *
 * const sessions = new ClientSessions(); // or with a store that outlives the process
 * async function count(client) {
 *   const session = await sessions.open(client, { server: 'https://mcp.example.com', user: 'alice' });
 *   return session.callTool({ name: 'count', arguments: {} });
 * }
 * console.log(typeof count); // function
 * ```
 */
export class ClientSessions {
  readonly #store: SessionStore;
  readonly #slots = new Map<string, Slot>();

  /** @param store where they are kept: in memory unless given */
  constructor(store: SessionStore = inMemory()) {
    this.#store = store;
  }

  /** The session that is kept for its owner, or a new one. */
  async open<Tool extends Params, Options, Told>(
    client: AnyClient<Tool, Options, Told>,
    owner: SessionOwner,
  ): Promise<ClientSession<Tool, Options, Told>> {
    const { server, user, name = '' } = owner;
    const key = JSON.stringify([server, user, name]);
    const slot = this.#slots.get(key) ?? { metadata: undefined, tail: Promise.resolve() };
    this.#slots.set(key, slot);
    await inTurn(slot, async () => {
      slot.metadata ??= await this.#store.load(key);
      if (slot.metadata !== undefined) return;
      const requests = client as unknown as Requests;
      const { session } = await requests.request({ method: SESSIONS_CREATE, params: {} }, ANYTHING);
      slot.metadata = checked(session);
      await this.#store.save(key, slot.metadata);
    });
    return new ClientSession(client, key, slot, this.#store);
  }
}

/**
 * One session with a server. Its requests go one after another, so that each has the state that the
 * one before left. Made by {@link ClientSessions.open}.
 *
 * If the server has a ledger and the session's state was not the latest, it answers with that, which is
 * kept. A request of which nothing ran goes out again, up to three times. One that ran and was discarded
 * is the caller's to decide: a tool's result with `isError`, or the error -32045.
 */
export class ClientSession<Tool extends Params = Params, Options = unknown, Told = unknown> {
  readonly #client: AnyClient<Tool, Options, Told>;
  readonly #key: string;
  readonly #slot: Slot;
  readonly #store: SessionStore;

  /** @internal */
  constructor(
    client: AnyClient<Tool, Options, Told>,
    key: string,
    slot: Slot,
    store: SessionStore,
  ) {
    this.#client = client;
    this.#key = key;
    this.#slot = slot;
    this.#store = store;
  }

  /** When it ends unless it is used, as the server last said, such as `2026-07-28T12:00:00Z`. */
  get expiresAt(): string | undefined {
    return this.#slot.metadata?.expiresAt;
  }

  /**
   * A request with the session.
   *
   * @param rest what the client's own `request` takes after the request
   * @throws what the client throws; once the server does not know the session, it is dropped, and
   * {@link ClientSessions.open} makes a new one
   */
  request(
    request: { readonly method: string; readonly params?: Params },
    ...rest: readonly unknown[]
  ): Promise<Result> {
    const { method, params = {} } = request;
    const client = this.#client as unknown as Requests;
    return this.#with((metadata) =>
      client.request({ method, params: withMetadata(params, metadata) }, ...rest),
    );
  }

  /**
   * A tool called with the session. Where the SDK asks the user in between and calls again by
   * itself, both calls have the same state: what the first wrote is kept only of the last.
   *
   * @throws as {@link ClientSession.request}
   */
  callTool(params: Tool, options?: Options): Promise<Told> {
    return this.#with((metadata) => this.#client.callTool(withMetadata(params, metadata), options));
  }

  /**
   * Ends it here, and at the server, if that remembers such an end. That the server knows the
   * session no more is no error.
   */
  async delete(): Promise<void> {
    const client = this.#client as unknown as Requests;
    await inTurn(this.#slot, async () => {
      if (this.#slot.metadata === undefined) return;
      const { sessionId } = this.#slot.metadata;
      const request = { method: SESSIONS_DELETE, params: withMetadata({}, { sessionId }) };
      try {
        await client.request(request, ANYTHING);
      } catch (error) {
        const { code } = jsonRpcError(error);
        // Nothing there remembers that a session ends, or the session itself.
        if (code !== SESSION_NOT_FOUND && code !== METHOD_NOT_FOUND) throw error;
      }
      await this.#drop();
    });
  }

  #with<R>(work: (metadata: HeldMetadata) => Promise<R>): Promise<R> {
    return inTurn(this.#slot, async () => {
      for (let left = TRIES - 1; ; left -= 1) {
        const { metadata } = this.#slot;
        if (metadata === undefined) throw new Error('session: expected one not over; open it anew');
        const { sessionId, state } = metadata;
        try {
          const result = await work(state === undefined ? { sessionId } : { sessionId, state });
          await this.#keep(metadata, metadataOf(result));
          if (left === 0 || !isNotRun(result)) return result;
        } catch (error) {
          const { code, data } = jsonRpcError(error);
          if (code === SESSION_NOT_FOUND) await this.#drop();
          if (code === STALE || code === STALE_AND_RAN) {
            await this.#keep(metadata, Object(data).session);
          }
          if (left === 0 || code !== STALE) throw error;
        }
      }
    });
  }

  /** Keeps what came; of another session than the one that was asked for, nothing. */
  async #keep(metadata: HeldMetadata, came: unknown): Promise<void> {
    const { sessionId, state, expiresAt } = Object(came);
    if (sessionId !== metadata.sessionId) return;
    const news = {
      ...(typeof state === 'string' && { state }),
      ...(typeof expiresAt === 'string' && { expiresAt }),
    };
    if (Object.keys(news).length === 0) return;
    this.#slot.metadata = { ...metadata, ...news };
    await this.#store.save(this.#key, this.#slot.metadata);
  }

  async #drop(): Promise<void> {
    this.#slot.metadata = undefined;
    await this.#store.remove(this.#key);
  }
}

/**
 * A `fetch` for the SDK's `StreamableHTTPClientTransport`, which puts a session's id in the header
 * `Mcp-Session-Id` too: the transport itself lets no request set that one. A header that is there
 * already stays, for in earlier revisions it is the transport's own.
 */
export function sessionFetch(fetch: typeof globalThis.fetch = globalThis.fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    const sessionId = idIn(init?.body);
    if (sessionId === undefined || headers.has('mcp-session-id')) return fetch(input, init);
    headers.set('mcp-session-id', sessionId);
    return fetch(input, { ...init, headers });
  };
}

function idIn(body: unknown): string | undefined {
  if (typeof body !== 'string' || !body.includes(SESSION_META)) return undefined;
  const { sessionId } = Object(metadataOf(Object(JSON.parse(body)).params));
  return typeof sessionId === 'string' ? sessionId : undefined;
}

/** One after another, whatever became of the one before. */
function inTurn<R>(slot: Slot, work: () => Promise<R>): Promise<R> {
  const turn = slot.tail.then(work, work);
  slot.tail = turn.catch(() => {});
  return turn;
}

/** The server's error. Over HTTP, the SDK throws some as the response that they came by. */
function jsonRpcError(error: unknown): { readonly code?: unknown; readonly data?: unknown } {
  const { data } = Object(error);
  try {
    return Object(Object(JSON.parse(Object(data).text)).error);
  } catch {
    return Object(error);
  }
}

/** Whether a tool says that nothing was done, for want of the session's latest state. */
function isNotRun(result: unknown): boolean {
  return Object(Object(Object(result)._meta)[STALE_META]).ran === false;
}

function checked(session: unknown): HeldMetadata {
  if (typeof Object(session).sessionId === 'string') return session as HeldMetadata;
  throw new Error('sessions/create: expected a session with a sessionId');
}

function inMemory(): SessionStore {
  const held = new Map<string, HeldMetadata>();
  return {
    load: (key) => held.get(key),
    save: (key, metadata) => void held.set(key, metadata),
    remove: (key) => void held.delete(key),
  };
}
