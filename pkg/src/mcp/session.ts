import { invalidArgument } from '../error.js';
import { json } from '../input.js';
import type { Session as Opened, SessionMetadata, Sessions } from '../sessions.js';

/** A session as the draft writes it; `state` is missing where the server holds it. */
export type Metadata = Omit<SessionMetadata, 'state'> & { readonly state?: string };

/** What a session opened to: its state, unless the server holds that. */
export interface Verified {
  readonly id: string;
  readonly ulid: string;
  readonly sessions: Sessions;
  readonly opened: Opened | undefined;
}

/**
 * The session of a request, as its handler has it. It logs as an empty object: what logs know a
 * session by is its {@link Session.ulid}.
 *
 * Reached by {@link DataLayerSessions.of}.
 */
export class Session<T = unknown> {
  readonly #verified: Verified;
  #value: T;
  #written: string | undefined;
  #over = false;

  /** @internal */
  constructor(verified: Verified, value: T) {
    this.#verified = verified;
    this.#value = value;
  }

  /** The session id, with which whoever has it and is this user goes on: no log should have it. */
  get id(): string {
    return this.#verified.id;
  }

  /** What logs and a store of yours know it by: 32 hex digits, the same for all its life. */
  get ulid(): string {
    return this.#verified.ulid;
  }

  /** How often it was sealed anew before this request; 0 where the server holds the state. */
  get generation(): number {
    return this.#verified.opened?.generation ?? 0;
  }

  /** The value, as it was last written; a change of it in place is none until it is written. */
  get value(): T {
    return this.#value;
  }

  /**
   * Writes a new value, which leaves with the result. An error in place of a result discards it; a
   * tool's result with `isError` does not. Of two requests at once that write, the client keeps
   * whatever came last.
   *
   * @throws {@link SealwaxError} `invalid_argument` for what is no JSON, once the request is
   * answered, and where the server holds the state
   */
  write(value: T): void {
    this.#holding('write');
    if (this.#over) throw invalidArgument('session: expected a write before the result, not after');
    this.#written = json('value', value);
    this.#value = value;
  }

  /**
   * A new session that begins with this one's value, while this one goes on: hand its metadata to
   * the client in a result.
   *
   * @throws {@link SealwaxError} as {@link Session.write}; `too_large`, `entropy_unavailable`
   */
  fork(): SessionMetadata {
    const opened = this.#holding('fork');
    if (this.#over) throw invalidArgument('session: expected a fork before the result, not after');
    const { sessions } = this.#verified;
    return this.#written === undefined
      ? sessions.fork(opened)
      : sessions.create(bytes(this.#written));
  }

  #holding(what: string): Opened {
    const { opened } = this.#verified;
    if (opened !== undefined) return opened;
    throw invalidArgument(
      `${what}: expected a session that holds its state; this is yours, by ulid`,
    );
  }

  /**
   * What goes back to the client.
   *
   * @internal
   */
  static seal(session: Session): Metadata {
    const { id, sessions, opened } = session.#verified;
    const written = session.#written;
    if (opened === undefined) return { sessionId: id };
    if (written === undefined && !opened.needsRenewal) return { sessionId: id };
    return sessions.renew(opened, written === undefined ? opened.payload : bytes(written));
  }

  /**
   * It was answered: what comes later comes too late.
   *
   * @internal
   */
  static end(session: Session): void {
    session.#over = true;
    session.#verified.opened?.free();
  }
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
