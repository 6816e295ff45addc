import type { IdentifierFacts } from './facts.js';
import { bytes, optional, options, text, wireText } from './input.js';
import { type Lifetime, lifetime } from './lifetime.js';
import type { Owned } from './owned.js';
import type * as raw from './raw.js';
import { type Kind, maxAge, type Purpose, Sealer } from './sealer.js';
import { Sessions } from './sessions.js';

/**
 * A {@link Codec} for one principal; reuse it for the whole request.
 *
 * Its methods return a sealer for each kind of token and take the bindings that the kind requires. It uses
 * a little of the module's memory, until it is collected or freed by {@link View.free}. The codec caches
 * the views of the last 64 principals.
 */
export class View {
  readonly #raw: Owned<raw.View>;

  /** @internal */
  constructor(raw: Owned<raw.View>) {
    this.#raw = raw;
  }

  /** Returns a sealer for the `state` of a data-layer session. {@link View.sessions} handles ids and states. */
  state(sessionId: string): Sealer<'state'> {
    return this.#sealer({ kind: 'state', sessionId: text('sessionId', sessionId) });
  }

  /** Returns a sealer for the `requestState` of a request; `context` is its {@link requestContext}. */
  requestState(context: Uint8Array): Sealer<'request-state'> {
    return this.#sealer({ kind: 'request-state', context: bytes('context', context) });
  }

  /** Returns a sealer for self-contained sessions, such as an `Mcp-Session-Id`, which cannot be renewed. */
  session(): Sealer<'session'> {
    return this.#sealer({ kind: 'session' });
  }

  /** Returns a sealer for the cursors of a list method, such as `tools/list`. */
  cursor(method: string): Sealer<'cursor'> {
    return this.#sealer({ kind: 'cursor', label: text('method', method) });
  }

  /** Returns a sealer for handles of a type that hold their state: the token is the handle. */
  handleState(type: string): Sealer<'handle-state'> {
    return this.#sealer({ kind: 'handle-state', label: text('type', type) });
  }

  /** Returns a sealer for tokens of the application's own, by label; optionally bound to a session or a request. */
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
      context: optional(bytes, 'context', context),
    });
  }

  /** Returns the data-layer sessions. Each ends when it was not written for the `idle` lifetime. */
  sessions(idle: Lifetime = {}): Sessions {
    return new Sessions(this.#raw, lifetime(idle));
  }

  /**
   * Creates a session id: 64 characters, fit for an HTTP header.
   *
   * @throws {@link SealwaxError} `entropy_unavailable`
   */
  mintSessionId(): string {
    return this.#raw.get().mintSessionId();
  }

  /**
   * Verifies a session id that a client sent back. One that is older than `maxAge` seconds has expired.
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
   * Creates a handle. Its type is a lowercase letter, then up to 31 lowercase letters or digits.
   *
   * @throws {@link SealwaxError} `invalid_argument`, `entropy_unavailable`
   */
  mintHandle(type: string): string {
    return this.#raw.get().mintHandle(text('type', type));
  }

  /**
   * Verifies a handle of a type that a client sent back. One that is older than `maxAge` seconds has
   * expired.
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

  /** Frees the module's memory. The view, its sealers and its sessions cannot be used afterwards. */
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
