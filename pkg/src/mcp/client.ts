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
        if (!isOver(error) && !isNoMethod(error)) throw error;
      }
      await this.#drop();
    });
  }

  #with<R>(work: (metadata: HeldMetadata) => Promise<R>): Promise<R> {
    return inTurn(this.#slot, async () => {
      const { metadata } = this.#slot;
      if (metadata === undefined) throw new Error('session: expected one not over; open it anew');
      const { sessionId, state } = metadata;
      try {
        const result = await work(state === undefined ? { sessionId } : { sessionId, state });
        await this.#keep(metadata, metadataOf(result));
        return result;
      } catch (error) {
        if (isOver(error)) await this.#drop();
        throw error;
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

/** Nothing there remembers that a session ends. Over HTTP, the SDK throws a 404 as it came. */
function isNoMethod(error: unknown): boolean {
  const { code, data } = Object(error);
  return code === METHOD_NOT_FOUND || codeOf(Object(data).text) === METHOD_NOT_FOUND;
}

function codeOf(text: unknown): unknown {
  try {
    return Object(Object(JSON.parse(String(text))).error).code;
  } catch {
    return undefined;
  }
}

function isOver(error: unknown): boolean {
  return Object(error).code === SESSION_NOT_FOUND;
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
