import { bytes, count, json, optional, options, wireText } from './input.js';
import { type Lifetime, lifetime } from './lifetime.js';
import { lifeOf, Opened } from './opened.js';
import type { Owned } from './owned.js';
import type * as raw from './raw.js';

/** The kinds of sealed tokens. */
export type Kind = 'state' | 'request-state' | 'session' | 'cursor' | 'handle-state' | 'custom';

/** What a token is for, and what it is bound to. */
export interface Purpose<K extends Kind = Kind> {
  readonly kind: K;
  readonly label?: string;
  readonly sessionId?: string | undefined;
  readonly context?: Uint8Array | undefined;
}

/**
 * Seals and opens tokens of one kind, for one principal, with the kind's bindings.
 *
 * The two sides must be given the same bindings; what differs in any is refused.
 */
export class Sealer<K extends Kind = Kind> {
  readonly #view: Owned<raw.View>;
  readonly #purpose: Purpose<K>;

  /** @internal */
  constructor(view: Owned<raw.View>, purpose: Purpose<K>) {
    this.#view = view;
    this.#purpose = purpose;
  }

  /**
   * Seals a payload: a new life, of generation 0. The token is ASCII, fit for JSON, headers and
   * URLs.
   *
   * @throws {@link SealwaxError} `invalid_argument`, `too_large`, `entropy_unavailable`
   */
  seal(payload: Uint8Array, life?: Lifetime): string {
    const { kind, label, sessionId, context } = this.#purpose;
    const { ttl, noExpiry } = lifetime(life);
    const checked = bytes('payload', payload);
    return this.#view.get().seal(kind, label, sessionId, context, ttl, noExpiry === true, checked);
  }

  /**
   * Seals a value as JSON.
   *
   * @throws {@link SealwaxError} as {@link Sealer.seal}, and `invalid_argument` for `NaN`,
   * infinities and whatever else JSON has no value for
   */
  sealJson(value: unknown, life?: Lifetime): string {
    return this.seal(new TextEncoder().encode(json('payload', value)), life);
  }

  /**
   * Opens a token that came back.
   *
   * @param options `maxAge`: how many seconds old it may be since its session began, however often
   * it was renewed
   * @throws {@link SealwaxError} for every refusal
   */
  open(token: string, options?: { readonly maxAge?: number | undefined }): Opened<K> {
    const { kind, label, sessionId, context } = this.#purpose;
    const age = maxAge(options);
    const checked = wireText('token', token);
    const facts = this.#view.get().open(kind, label, sessionId, context, age, checked);
    return new Opened(kind, facts);
  }

  /**
   * Seals a payload in place of what was opened: the start is kept, so that a maximum age holds,
   * and the generation is one more, so that a stale token can be told.
   *
   * @throws {@link SealwaxError} as {@link Sealer.seal}
   */
  renew(opened: Opened<K>, payload: Uint8Array, life?: Lifetime): string {
    const { kind, label, sessionId, context } = this.#purpose;
    const { startedAt, generation } = lifeOf(opened, kind);
    const { ttl, noExpiry } = lifetime(life);
    const checked = bytes('payload', payload);
    return this.#view
      .get()
      .renew(
        kind,
        label,
        sessionId,
        context,
        ttl,
        noExpiry === true,
        checked,
        startedAt,
        generation,
      );
  }
}

/** The `maxAge` among options that have nothing else. */
export function maxAge(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  return optional(count, 'maxAge', options(given, 'maxAge').maxAge);
}
