/**
 * Data-layer sessions for clients on the official SDK, `@modelcontextprotocol/client`. It stores sealed
 * metadata, needs no key and does not load the module.
 */

import {
  metadataOf,
  SESSION_META,
  SESSIONS_CREATE,
  SESSIONS_DELETE,
  withMetadata,
} from './metadata.js';

/** The metadata of a session at the client. It is a secret: with it, anyone signed in as this user has the session. */
export interface HeldMetadata {
  readonly sessionId: string;
  readonly state?: string | undefined;
  readonly expiresAt?: string | undefined;
}

/** A store of sessions, by a key for each owner. */
export interface SessionStore {
  load(key: string): HeldMetadata | undefined | PromiseLike<HeldMetadata | undefined>;
  save(key: string, metadata: HeldMetadata): void | PromiseLike<void>;
  remove(key: string): void | PromiseLike<void>;
}

/** The owner of a session. */
export interface SessionOwner {
  /** The server that created it, such as its URL. It is sent to no other. */
  readonly server: string;
  /** The user that it was created for. */
  readonly user: string;
  /** The name of the user's conversation, if there are several. */
  readonly name?: string | undefined;
}

type Params = Readonly<Record<string, unknown>>;
type Result = Readonly<Record<string, unknown>>;

/** The used members of the SDK's `Client`. */
export interface AnyClient<Tool extends Params, Options, ToolResult> {
  callTool(params: Tool, options?: Options): Promise<ToolResult>;
}

interface Requests {
  request(
    request: { readonly method: string; readonly params: Params },
    ...rest: readonly unknown[]
  ): Promise<Result>;
}

/** The error code for a session that ended. */
const SESSION_NOT_FOUND = -32043;
const METHOD_NOT_FOUND = -32601;
/** The error codes for an outdated state: nothing ran; or the handler ran and its result was discarded. */
const [STALE, STALE_AND_RAN] = [-32044, -32045];
/** The member of `_meta` by which a tool's result tells the same. */
const STALE_META = 'io.github.sealwax/stale';
/** How often a request is sent at most while other requests write its session. */
const TRIES = 4;

/** A schema for results of the draft, which the SDK has no schema for. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'sealwax', validate: (value: unknown) => ({ value }) },
} as const;

/** The metadata of one session, and the queue of its requests. */
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

  /** @param store in memory by default */
  constructor(store: SessionStore = inMemory()) {
    this.#store = store;
  }

  /** Returns the stored session of an owner, or creates one. */
  async open<Tool extends Params, Options, ToolResult>(
    client: AnyClient<Tool, Options, ToolResult>,
    owner: SessionOwner,
  ): Promise<ClientSession<Tool, Options, ToolResult>> {
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
 * A session with one server. It serializes its requests, so that each sends the state that the previous
 * one returned. Created by {@link ClientSessions.open}.
 *
 * A server with a ledger answers an outdated state with the latest one, which is stored. If the handler did
 * not run, the request is sent again, up to three times. If it ran and its result was discarded, the program
 * decides: it receives a tool's result with `isError`, or the error -32045.
 */
export class ClientSession<Tool extends Params = Params, Options = unknown, ToolResult = unknown> {
  readonly #client: AnyClient<Tool, Options, ToolResult>;
  readonly #key: string;
  readonly #slot: Slot;
  readonly #store: SessionStore;

  /** @internal */
  constructor(
    client: AnyClient<Tool, Options, ToolResult>,
    key: string,
    slot: Slot,
    store: SessionStore,
  ) {
    this.#client = client;
    this.#key = key;
    this.#slot = slot;
    this.#store = store;
  }

  /** The end of the session unless it is used, as the server last sent it, such as `2026-07-28T12:00:00Z`. */
  get expiresAt(): string | undefined {
    return this.#slot.metadata?.expiresAt;
  }

  /**
   * Sends a request with the session.
   *
   * @param rest the further arguments of the client's `request`
   * @throws the client's errors; if the session ended at the server it is dropped, and
   * {@link ClientSessions.open} creates a new one
   */
  request(
    request: { readonly method: string; readonly params?: Params | undefined },
    ...rest: readonly unknown[]
  ): Promise<Result> {
    const { method, params = {} } = request;
    const client = this.#client as unknown as Requests;
    return this.#with((metadata) =>
      client.request({ method, params: withMetadata(params, metadata) }, ...rest),
    );
  }

  /**
   * Calls a tool with the session. If the SDK asks the user for input and calls again by itself, both calls
   * send the same state, and only the state of the last result is stored.
   *
   * @throws as {@link ClientSession.request}
   */
  callTool(params: Tool, options?: Options): Promise<ToolResult> {
    return this.#with((metadata) => this.#client.callTool(withMetadata(params, metadata), options));
  }

  /**
   * Ends the session here, and at the server if that records ended sessions. It is no error if the session
   * ended at the server before.
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
        // The server does not record ended sessions, or the session ended before.
        if (code !== SESSION_NOT_FOUND && code !== METHOD_NOT_FOUND) throw error;
      }
      await this.#drop();
    });
  }

  #with<R>(work: (metadata: HeldMetadata) => Promise<R>): Promise<R> {
    return inTurn(this.#slot, async () => {
      for (let left = TRIES - 1; ; left -= 1) {
        const { metadata } = this.#slot;
        if (metadata === undefined) throw new Error('session: it has ended; open a new one');
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

  /** Stores the received metadata, unless it is of another session. */
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
 * Returns a `fetch` for the SDK's `StreamableHTTPClientTransport` that also sends the session id in the
 * header `Mcp-Session-Id`, which the transport lets no request set. It keeps a header that is already
 * present: in earlier revisions the transport sets it.
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

/** Serializes work, also after a failure. */
function inTurn<R>(slot: Slot, work: () => Promise<R>): Promise<R> {
  const turn = slot.tail.then(work, work);
  slot.tail = turn.catch(() => {});
  return turn;
}

/** Returns the server's error. Over HTTP, the SDK throws some as the HTTP response. */
function jsonRpcError(error: unknown): { readonly code?: unknown; readonly data?: unknown } {
  const { data } = Object(error);
  try {
    return Object(Object(JSON.parse(Object(data).text)).error);
  } catch {
    return Object(error);
  }
}

/** Whether a tool's result tells that nothing ran, because the session's state was outdated. */
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
