import { invalidArgument } from './error.js';
import { count, HOST_CLOCK, optional, options, text, wrongType } from './input.js';
import { type KeyLike, KeyRing, rawRing } from './key.js';
import { follow, keysOfEnvironment, readRing } from './keys-file.js';
import { type Logger, standard } from './log.js';
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
  readonly clockTolerance?: number | undefined;
  /** The maximum age of a data-layer session, in seconds: 30 days by default. */
  readonly sessionMaxAge?: number | undefined;
}

/** A file that has the keys of a {@link Codec}: read again when it changes. */
export interface KeysFile {
  /**
   * The path of a file with the text of a key ring, such as a mounted secret; in Node 20.16 or later, Bun and Deno.
   * Replace it in one step, as `sealwax keys` does. While it is missing or bad, the codec keeps the keys that it has.
   */
  readonly keysFile: string;
  /** How many seconds pass between two reads: 5 by default. */
  readonly keysInterval?: number | undefined;
  /** Receives a line when the keys change, and one when the file is bad: by default stderr. */
  readonly logger?: Logger | undefined;
}

/** The keys of a {@link Codec}: given, or in a file. */
export type Keys =
  | { readonly keys: KeyLike | readonly KeyLike[] | undefined; readonly keysFile?: undefined }
  | (KeysFile & { readonly keys?: undefined });

/** Settings of a {@link Codec}. */
export type CodecOptions = Keys &
  Limits & {
    /** The name of the service. */
    readonly audience: string;
  };

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
 * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
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
  readonly #unfollow: (() => void) | undefined;

  /**
   * Creates a codec. `keys` are key texts, a key, a ring, or an array of them, of which the first seals. The type allows
   * `undefined`, for a variable of the environment, and the constructor refuses it. {@link Codec.fromEnv} takes the keys
   * from the environment by itself.
   *
   * @throws {@link SealwaxError} `invalid_key`, also for `undefined`, and for a file that cannot be read;
   * `invalid_argument` for an audience that is empty or over 1,024 bytes, or a limit out of range
   */
  constructor(given: CodecOptions);
  /** @internal */
  constructor(given: CodecOptions, clock?: number);
  constructor(given: CodecOptions, clock: number = HOST_CLOCK) {
    const { keys, keysFile, keysInterval, logger, audience, ...limits } = options(
      given,
      ...['keys', 'keysFile', 'keysInterval', 'logger', 'audience'],
      ...['payloadLimit', 'clockTolerance', 'sessionMaxAge'],
    );
    const path = optional(text, 'keysFile', keysFile);
    if (path !== undefined && keys !== undefined) {
      throw invalidArgument('keys: expected keys or keysFile, found both');
    }
    const seconds = optional(interval, 'keysInterval', keysInterval) ?? 5;
    const ownLogger = optional(loggerOf, 'logger', logger) ?? standard;
    if (audience === undefined) {
      throw invalidArgument(
        'audience: expected the name of the service, such as its URL, found none',
      );
    }
    const checkedAudience = text('audience', audience);
    const checkedLimits = {
      payloadLimit: optional(count, 'payloadLimit', limits.payloadLimit),
      clockTolerance: optional(count, 'clockTolerance', limits.clockTolerance),
      sessionMaxAge: optional(count, 'sessionMaxAge', limits.sessionMaxAge),
    };
    const own = path === undefined ? undefined : readRing(path);
    try {
      this.#raw = withRing(own ?? keys, (ring) => {
        const { Codec } = core();
        const raw = new Codec(rawRing(ring), checkedAudience, checkedLimits, clock);
        return new Owned('codec', raw);
      });
    } finally {
      own?.free();
    }
    if (path !== undefined) this.#unfollow = follow(this, path, seconds, ownLogger);
  }

  /**
   * Creates a codec with the keys of the environment: of the file that `SEALWAX_KEYS_FILE` names, which it follows, of
   * `SEALWAX_KEYS`, or {@link Key.derive | derived} from `SEALWAX_SECRET` and `SEALWAX_SECRET_FALLBACKS`, earlier ones,
   * separated by white space.
   *
   * @throws {@link SealwaxError} `invalid_key` if none of these is set, or more than one; and as the constructor
   */
  static fromEnv(
    given: Omit<KeysFile, 'keysFile'> & { readonly audience: string } & Limits,
  ): Codec {
    const found = keysOfEnvironment();
    try {
      return new Codec({ ...given, ...found });
    } finally {
      if ('keys' in found) found.keys.free();
    }
  }

  /**
   * Replaces the keys, also of guards with this codec, and returns whether they are others than before. Views, and
   * requests in progress, keep the keys that they began with; make new views. The old keys are wiped when their last
   * view is freed or collected.
   *
   * @throws {@link SealwaxError} `invalid_key`; the codec then keeps its keys
   *
   * @example
   * ```js
   * import { Codec, Key } from 'sealwax';
   *
   * const [old, next] = [Key.generate().toText(), Key.generate().toText()];
   * const codec = new Codec({ keys: old, audience: 'https://mcp.example.com' });
   * const token = codec.view({ subject: 'alice' }).session().seal(new Uint8Array(3));
   * console.log(codec.setKeys(`${next} ${old}`)); // true
   * console.log(codec.view({ subject: 'alice' }).session().open(token).needsReseal); // true
   * ```
   */
  setKeys(keys: KeyLike | readonly KeyLike[]): boolean {
    const codec = this.#raw.get();
    const isNew = withRing(keys, (ring) => codec.setKeys(rawRing(ring)));
    if (isNew) this.#views.clear();
    return isNew;
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

  /** Frees the codec. Its views, and the keys that they use, stay until the views are freed. A file is followed no more. */
  free(): void {
    this.#unfollow?.();
    this.#raw.free();
    this.#views.clear();
  }

  /** The same as {@link Codec.free}. */
  [Symbol.dispose](): void {
    this.free();
  }
}

/** Uses a ring, or makes one for as long as it is used. */
function withRing<T>(keys: unknown, use: (ring: KeyRing) => T): T {
  if (keys instanceof KeyRing) return use(keys);
  const ring = new KeyRing(keys as KeyLike);
  try {
    return use(ring);
  } finally {
    ring.free();
  }
}

function interval(name: string, value: unknown): number {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value);
  if (value > 0 && value <= 86_400) return value;
  throw invalidArgument(`${name}: expected over 0 and at most 86,400 seconds, found ${value}`);
}

function loggerOf(name: string, value: unknown): Logger {
  if (typeof Object(value).warn === 'function') return value as Logger;
  throw wrongType(name, 'an object with the method warn', value);
}
