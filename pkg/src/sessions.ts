import type { IdentifierFacts, SessionMetadata } from './facts.js';
import { bytes, wireText, wrongType } from './input.js';
import type { Lifetime } from './lifetime.js';
import { readOpened } from './memory.js';
import { Opened } from './opened.js';
import { Owned } from './owned.js';
import type * as raw from './raw.js';

export type { SessionMetadata } from './facts.js';

/** @internal */
export let rawSession: (session: unknown) => raw.Session;

/**
 * An opened data-layer session: its id and its state, after every check.
 *
 * It uses a little of the module's memory, until it is collected or freed by {@link Session.free}.
 */
export class Session extends Opened<'state'> {
  readonly #id: string;
  readonly #raw: Owned<raw.Session>;

  /** @internal */
  constructor(raw: raw.Session) {
    super('state', readOpened(raw.state()));
    this.#id = raw.id();
    this.#raw = new Owned('session', raw);
  }

  /** The session id. */
  get id(): string {
    return this.#id;
  }

  /** Frees the module's memory. Values already read stay valid. */
  free(): void {
    this.#raw.free();
  }

  /** The same as {@link Session.free}. */
  [Symbol.dispose](): void {
    this.free();
  }

  static {
    rawSession = (session) => {
      if (!(session instanceof Session)) throw wrongType('session', 'what open returned', session);
      return session.#raw.get();
    };
  }
}

/**
 * Data-layer sessions of one principal, without a store.
 *
 * A session ends when it was idle for its lifetime, or when it reaches the codec's `sessionMaxAge`.
 *
 * @example
 * ```js
 * import { Codec, Key, KeyRing } from 'sealwax';
 *
 * const keys = new KeyRing([Key.generate()]);
 * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
 * const sessions = codec.view({ subject: 'alice' }).sessions();
 *
 * const sent = sessions.create(new TextEncoder().encode('language=en'));
 * const session = sessions.open(sent); // the client sent it back in _meta
 * const renewed = sessions.renew(session, new TextEncoder().encode('language=de'));
 * console.log(renewed.sessionId === sent.sessionId, session.generation); // true 0
 * ```
 */
export class Sessions {
  readonly #view: Owned<raw.View>;
  readonly #idle: Lifetime;

  /** @internal */
  constructor(view: Owned<raw.View>, idle: Lifetime) {
    this.#view = view;
    this.#idle = idle;
  }

  /**
   * Creates a session with a first state.
   *
   * @throws {@link SealwaxError} `too_large`, `entropy_unavailable`, `invalid_argument`
   */
  create(payload: Uint8Array): SessionMetadata {
    return this.#view.get().createSession(this.#idle, bytes('payload', payload));
  }

  /**
   * Opens the metadata that a client sent, of any type: it is opened or refused.
   *
   * @throws {@link SealwaxError} for every refusal; `malformed` if the state is missing, because
   * leaving it out must not reset a session
   */
  open(metadata: unknown): Session {
    const { sessionId, state } = Object(metadata);
    const opened = this.#view
      .get()
      .openSession(textOrEmpty(sessionId), state === undefined ? undefined : textOrEmpty(state));
    return new Session(opened);
  }

  /**
   * Seals a new state of the same session: the id and the start are kept, and the generation increases
   * by one.
   *
   * @throws {@link SealwaxError} as {@link Sessions.create}
   */
  renew(session: Session, payload: Uint8Array): SessionMetadata {
    const opened = rawSession(session);
    const checked = bytes('payload', payload);
    return this.#view.get().renewSession(this.#idle, opened, checked);
  }

  /**
   * Creates a session with the state of another. Both continue independently.
   *
   * @throws {@link SealwaxError} as {@link Sessions.create}
   */
  fork(session: Session): SessionMetadata {
    return this.#view.get().forkSession(this.#idle, rawSession(session));
  }

  /**
   * Verifies an id without its state, as in `sessions/delete`.
   *
   * @throws {@link SealwaxError} for every refusal
   */
  verify(sessionId: string): IdentifierFacts & { readonly sessionId: string } {
    const facts = this.#view.get().verifySession(wireText('sessionId', sessionId));
    return { sessionId, ...facts };
  }
}

/** Replaces a value that is not a string by the empty string, which the core refuses. */
function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
