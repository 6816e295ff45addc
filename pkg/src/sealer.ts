import type { Kind } from './facts.js';
import { count, json, optional, options, wireText } from './input.js';
import { type Lifetime, lifetime } from './lifetime.js';
import * as memory from './memory.js';
import { lifeOf, Opened } from './opened.js';
import type { Owned } from './owned.js';
import type * as raw from './raw.js';

export type { Kind } from './facts.js';

/** The kind of a token and its bindings. */
export interface Purpose<K extends Kind = Kind> {
  readonly kind: K;
  readonly label?: string;
  readonly sessionId?: string | undefined;
  readonly context?: Uint8Array | undefined;
}

/**
 * Seals and opens tokens of one kind, for one principal, with the bindings of the kind.
 *
 * A token opens only with the bindings that it was sealed with.
 */
export class Sealer<K extends Kind = Kind> {
  readonly #view: Owned<raw.View>;
  readonly #kind: K;
  readonly #fields: memory.Fields;

  /** @internal */
  constructor(view: Owned<raw.View>, purpose: Purpose<K>) {
    this.#view = view;
    const { kind, label, sessionId, context } = purpose;
    this.#kind = kind;
    this.#fields = memory.fieldsOf(kind, label, sessionId, context);
  }

  /**
   * Seals a payload into a new token of generation 0. The token is ASCII, fit for JSON, headers and
   * URLs.
   *
   * @throws {@link SealwaxError} `invalid_argument`, `too_large`, `entropy_unavailable`
   */
  seal(payload: Uint8Array, life?: Lifetime): string {
    const ttl = seconds(life);
    return memory.seal(this.#view.held(), this.#fields, payload, ttl);
  }

  /**
   * Seals a value as JSON.
   *
   * @throws {@link SealwaxError} as {@link Sealer.seal}, and `invalid_argument` for `NaN`,
   * infinities and other values that JSON cannot hold
   */
  sealJson(value: unknown, life?: Lifetime): string {
    return this.seal(new TextEncoder().encode(json('payload', value)), life);
  }

  /**
   * Opens a token that a client sent back.
   *
   * @param options `maxAge`: the maximum age of its session in seconds, across all renewals
   * @throws {@link SealwaxError} for every refusal
   */
  open(token: string, options?: { readonly maxAge?: number | undefined }): Opened<K> {
    const age = maxAge(options) ?? Number.NaN;
    const checked = wireText('token', token);
    return new Opened(this.#kind, memory.open(this.#view.held(), this.#fields, checked, age));
  }

  /**
   * Seals the successor of an opened token: the start is kept, so that a maximum age holds, and the
   * generation increases by one, so that a stale token can be recognized.
   *
   * @throws {@link SealwaxError} as {@link Sealer.seal}
   */
  renew(opened: Opened<K>, payload: Uint8Array, life?: Lifetime): string {
    const { startedAt, generation } = lifeOf(opened, this.#kind);
    const ttl = seconds(life);
    return memory.seal(this.#view.held(), this.#fields, payload, ttl, startedAt, generation);
  }
}

/** Returns the lifetime as a number: `NaN` for that of the kind, infinite for no expiry. */
function seconds(life: Lifetime | undefined): number {
  if (life === undefined) return Number.NaN;
  const { ttl, noExpiry } = lifetime(life);
  return noExpiry ? Number.POSITIVE_INFINITY : (ttl ?? Number.NaN);
}

/** Reads the only option, `maxAge`. */
export function maxAge(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  return optional(count, 'maxAge', options(given, 'maxAge').maxAge);
}
