import { count, HOST_CLOCK, optional, options, text, wrongClass } from './input.js';
import { KeyRing, noKeys, rawRing } from './key.js';
import { core } from './module.js';
import { Owned } from './owned.js';
import { type Principal, partsOf } from './principal.js';
import type * as raw from './raw.js';
import { View } from './view.js';
import { Views } from './views.js';

/** @internal */
export let rawCodec: (codec: Codec) => raw.Codec;

/** Optional limits of a {@link Codec}. */
export interface Limits {
  /** The largest payload in bytes: 4,096 by default, at most 1 MiB. */
  readonly payloadLimit?: number | undefined;
  /** How many seconds another replica's clock may be ahead: 60 by default, at most 300. */
  readonly skew?: number | undefined;
  /** The maximum age of a data-layer session, in seconds: 30 days by default. */
  readonly sessionMaxAge?: number | undefined;
}

/** Settings of a {@link Codec}. */
export interface CodecOptions extends Limits {
  /** A key ring, or the text of one, such as `process.env.SEALWAX_KEYS`. */
  readonly keys: string | KeyRing | undefined;
  /** The name of the service. */
  readonly audience: string;
}

/**
 * Seals and opens the tokens of one service: a key ring, an audience and limits.
 *
 * The audience names the service; its public URL is a good choice. Tokens of one service never open at
 * another, even under shared keys. Every replica needs the same audience.
 *
 * @example
 * ```js
 * import { Codec, Key, KeyRing } from 'sealwax';
 *
 * const keys = new KeyRing([Key.generate()]); // a server passes process.env.SEALWAX_KEYS
 * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
 *
 * const alice = codec.view({ subject: 'alice' });
 * const token = alice.cursor('tools/list').sealJson({ page: 2 });
 * console.log(alice.cursor('tools/list').open(token).json()); // { page: 2 }
 *
 * codec.view({ subject: 'mallory' }).cursor('tools/list').open(token); // throws principal_mismatch
 * ```
 */
export class Codec {
  readonly #raw: Owned<raw.Codec>;
  readonly #views = new Views();

  /**
   * Creates a codec. `keys` may be the text of `process.env.SEALWAX_KEYS`; its type allows `undefined` so that this
   * compiles, and the constructor refuses it.
   *
   * @throws {@link SealwaxError} `invalid_key`, also for `undefined`; `invalid_argument` for an audience that is empty
   * or over 1,024 bytes, or a limit out of range
   */
  constructor(given: CodecOptions);
  /** @internal */
  constructor(given: CodecOptions, clock?: number);
  constructor(given: CodecOptions, clock: number = HOST_CLOCK) {
    const { keys, audience, ...limits } = options(
      given,
      'keys',
      'audience',
      'payloadLimit',
      'skew',
      'sessionMaxAge',
    );
    const checkedAudience = text('audience', audience);
    const checkedLimits = {
      payloadLimit: optional(count, 'payloadLimit', limits.payloadLimit),
      skew: optional(count, 'skew', limits.skew),
      sessionMaxAge: optional(count, 'sessionMaxAge', limits.sessionMaxAge),
    };
    const own = typeof keys === 'string' ? new KeyRing(keys) : undefined;
    try {
      const ring = own ?? keys;
      if (ring === undefined || ring === null) throw noKeys();
      if (!(ring instanceof KeyRing)) throw wrongClass('keys', 'KeyRing', ring);
      const { Codec } = core();
      this.#raw = new Owned(
        'codec',
        new Codec(rawRing(ring), checkedAudience, checkedLimits, clock),
      );
    } finally {
      own?.free();
    }
  }

  /**
   * Scopes the codec to one principal; reuse it for the whole request.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a principal without parts, or with a part that
   * is empty or too long
   */
  view(principal: Principal): View {
    const parts = partsOf(principal ?? {});
    const codec = this.#raw.get();
    if ('anonymous' in parts) return new View(this.#views.take([], () => codec.viewOfAnonymous()));
    const [issuer, client, subject] = parts;
    return new View(this.#views.take(parts, () => codec.viewOf(issuer, client, subject)));
  }

  static {
    rawCodec = (codec) => codec.#raw.get();
  }

  /** Frees the codec. Its views, and the keys that they use, stay until the views are freed. */
  free(): void {
    this.#raw.free();
    this.#views.clear();
  }

  /** The same as {@link Codec.free}. */
  [Symbol.dispose](): void {
    this.free();
  }
}
