import { bytes, count, json, optional, options, wireText } from './input.js';
import { type Lifetime, lifetime } from './lifetime.js';
import { lifeOf, Opened } from './opened.js';
import type { Owned } from './owned.js';
import type * as raw from './raw.js';
import * as shared from './shared.js';

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
  readonly #kind: K;
  readonly #fields: shared.Fields;

  /** @internal */
  constructor(view: Owned<raw.View>, purpose: Purpose<K>) {
    this.#view = view;
    const { kind, label, sessionId, context } = purpose;
    this.#kind = kind;
    this.#fields = shared.fieldsOf(kind, label, sessionId, context);
  }

  /**
   * Seals a payload: a new life, of generation 0. The token is ASCII, fit for JSON, headers and
   * URLs.
   *
   * @throws {@link SealwaxError} `invalid_argument`, `too_large`, `entropy_unavailable`
   */
  seal(payload: Uint8Array, life?: Lifetime): string {
    const ttl = seconds(life);
    return shared.seal(this.#view.get(), this.#fields, bytes('payload', payload), ttl);
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
    const age = maxAge(options) ?? Number.NaN;
    const checked = wireText('token', token);
    return new Opened(this.#kind, shared.open(this.#view.get(), this.#fields, checked, age));
  }

  /**
   * Seals a payload in place of what was opened: the start is kept, so that a maximum age holds,
   * and the generation is one more, so that a stale token can be told.
   *
   * @throws {@link SealwaxError} as {@link Sealer.seal}
   */
  renew(opened: Opened<K>, payload: Uint8Array, life?: Lifetime): string {
    const { startedAt, generation } = lifeOf(opened, this.#kind);
    const ttl = seconds(life);
    const checked = bytes('payload', payload);
    return shared.seal(this.#view.get(), this.#fields, checked, ttl, startedAt, generation);
  }
}

/** As a number: `NaN` for the kind's own time, infinite for none. */
function seconds(life: Lifetime | undefined): number {
  if (life === undefined) return Number.NaN;
  const { ttl, noExpiry } = lifetime(life);
  return noExpiry ? Number.POSITIVE_INFINITY : (ttl ?? Number.NaN);
}

/** The `maxAge` among options that have nothing else. */
export function maxAge(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  return optional(count, 'maxAge', options(given, 'maxAge').maxAge);
}
