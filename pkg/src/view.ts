import type { IdentifierFacts } from './facts.js';
import { bytes, optional, options, text, wireText } from './input.js';
import { type Lifetime, lifetime } from './lifetime.js';
import type { Owned } from './owned.js';
import type * as raw from './raw.js';
import { type Kind, maxAge, type Purpose, Sealer } from './sealer.js';
import { Sessions } from './sessions.js';

/**
 * A {@link Codec} for one principal: computed once, it serves a whole request.
 *
 * Its methods give a sealer for each kind of token, which asks for the bindings that the kind
 * requires. It holds a little of the module's memory, which goes with it when it is collected or freed
 * by {@link View.free}; the codec keeps that of the last 64 principals for their next requests.
 */
export class View {
  readonly #raw: Owned<raw.View>;

  /** @internal */
  constructor(raw: Owned<raw.View>) {
    this.#raw = raw;
  }

  /** `state` of the data-layer session of this id. {@link View.sessions} does all of it. */
  state(sessionId: string): Sealer<'state'> {
    return this.#sealer({ kind: 'state', sessionId: text('sessionId', sessionId) });
  }

  /** `requestState` for the request that {@link requestContext} names. */
  requestState(context: Uint8Array): Sealer<'request-state'> {
    return this.#sealer({ kind: 'request-state', context: copy(context) });
  }

  /** A self-contained session: what was negotiated, for a header that cannot be renewed. */
  session(): Sealer<'session'> {
    return this.#sealer({ kind: 'session' });
  }

  /** A cursor of a list method, such as `tools/list`. */
  cursor(method: string): Sealer<'cursor'> {
    return this.#sealer({ kind: 'cursor', label: text('method', method) });
  }

  /** State that the holder of a handle of this type keeps: the token is the handle. */
  handleState(type: string): Sealer<'handle-state'> {
    return this.#sealer({ kind: 'handle-state', label: text('type', type) });
  }

  /** The application's own, by name; bound to a session or a request if it says so. */
  custom(
    label: string,
    bindings: {
      readonly sessionId?: string | undefined;
      readonly context?: Uint8Array | undefined;
    } = {},
  ): Sealer<'custom'> {
    const { sessionId, context } = options(bindings, 'sessionId', 'context');
    return this.#sealer({
      kind: 'custom',
      label: text('label', label),
      sessionId: optional(text, 'sessionId', sessionId),
      context: context === undefined ? undefined : copy(context),
    });
  }

  /** Data-layer sessions that live as long without a write as `idle` says. */
  sessions(idle: Lifetime = {}): Sessions {
    return new Sessions(this.#raw, lifetime(idle));
  }

  /**
   * A new session id: 64 characters, fit for an HTTP header.
   *
   * @throws {@link SealwaxError} `entropy_unavailable`
   */
  mintSessionId(): string {
    return this.#raw.get().mintSessionId();
  }

  /**
   * Verifies a session id that came back. With `maxAge`, in seconds, one that was made longer ago
   * has expired.
   *
   * @throws {@link SealwaxError} for every refusal
   */
  verifySessionId(
    sessionId: string,
    options: { readonly maxAge?: number | undefined } = {},
  ): IdentifierFacts & { readonly sessionId: string } {
    const checked = wireText('sessionId', sessionId);
    return { sessionId, ...this.#raw.get().verifySessionId(checked, maxAge(options)) };
  }

  /**
   * A new handle of a type: a small letter, then up to 31 small letters or digits.
   *
   * @throws {@link SealwaxError} `invalid_argument`, `entropy_unavailable`
   */
  mintHandle(type: string): string {
    return this.#raw.get().mintHandle(text('type', type));
  }

  /**
   * Verifies a handle of a type that came back. With `maxAge`, in seconds, one that was made
   * longer ago has expired.
   *
   * @throws {@link SealwaxError} for every refusal
   */
  verifyHandle(
    type: string,
    handle: string,
    options: { readonly maxAge?: number | undefined } = {},
  ): IdentifierFacts & { readonly handle: string } {
    const [checkedType, checked] = [text('type', type), wireText('handle', handle)];
    return { handle, ...this.#raw.get().verifyHandle(checkedType, checked, maxAge(options)) };
  }

  /** Frees the module's memory; the view, its sealers and sessions are of no use any more. */
  free(): void {
    this.#raw.free();
  }

  /** The same as {@link View.free}. */
  [Symbol.dispose](): void {
    this.free();
  }

  #sealer<K extends Kind>(purpose: Purpose<K>): Sealer<K> {
    return new Sealer(this.#raw, purpose);
  }
}

/** What the caller does to its own array later must not change a binding. */
function copy(context: unknown): Uint8Array {
  return new Uint8Array(bytes('context', context));
}
