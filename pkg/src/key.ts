import { SealwaxError } from './error.js';
import { bytes, text, wireText, wrongClass, wrongType } from './input.js';
import { core } from './module.js';
import { Owned } from './owned.js';
import type * as raw from './raw.js';

let ringOfKey: (key: Key) => raw.KeyRing;

/** @internal */
export let rawRing: (ring: KeyRing) => raw.KeyRing;

/**
 * A secret key and the keys derived from it.
 *
 * It is held in the module's memory, is wiped when freed or collected, and is never printed. Texts and
 * bytes that pass through JavaScript cannot be wiped: keep them short-lived.
 *
 * @example
 * ```js
 * import { Key, KeyRing } from 'sealwax';
 *
 * const key = Key.generate();
 * const ring = new KeyRing([key]);
 * console.log(ring.ids[0] === key.id); // true
 * key.free(); // now, not when it is collected
 * ```
 */
export class Key {
  readonly #raw: Owned<raw.Key>;

  private constructor(raw: raw.Key) {
    this.#raw = new Owned('key', raw);
  }

  /**
   * Generates a key from the system's randomness.
   *
   * @throws {@link SealwaxError} `entropy_unavailable`
   */
  static generate(): Key {
    return new Key(core().Key.generate());
  }

  /**
   * Reads a key text. Its checksum detects a mistyped key.
   *
   * @throws {@link SealwaxError} `invalid_key`
   */
  static parse(keyText: string): Key {
    return new Key(core().Key.parse(wireText('key', keyText)));
  }

  /**
   * Derives a key from a secret that is there: a generated text of 32 characters and more, such as a framework's
   * `SECRET_KEY`, 64 hexadecimal digits or 44 characters of base64. It is never decoded, and gives the same key in
   * every language. Never a passphrase.
   *
   * @throws {@link SealwaxError} `invalid_key` for fewer characters, white space, one character repeated, and the
   * text of a key
   *
   * @example
   * ```js
   * import { Key } from 'sealwax';
   *
   * console.log(Key.derive('c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ').id); // cbeb7d73
   * ```
   */
  static derive(secret: string): Key {
    return new Key(core().Key.derive(text('secret', secret)));
  }

  /**
   * Creates a key from an existing secret: 32 random bytes or more, never a passphrase.
   *
   * @throws {@link SealwaxError} `invalid_key` for fewer than 32 bytes, and for bytes that are all equal or
   * printable ASCII alone
   */
  static fromSecret(secret: Uint8Array): Key {
    return new Key(core().Key.fromSecret(bytes('secret', secret)));
  }

  /** The public id of the key: 8 hex digits, readable in every sealed token and session id. */
  get id(): string {
    return this.#raw.get().id();
  }

  /**
   * Returns the text for `SEALWAX_KEYS`, as secret as the key itself; `undefined` for an imported secret
   * of more than 32 bytes, which has no text form.
   */
  toText(): string | undefined {
    return this.#raw.get().toText();
  }

  /** Wipes the key. Rings that contain it keep their copy until they are freed. */
  free(): void {
    this.#raw.free();
  }

  /** The same as {@link Key.free}. */
  [Symbol.dispose](): void {
    this.free();
  }

  static {
    ringOfKey = (key) => key.#raw.get().ring();
  }
}

/** Keys of a {@link KeyRing}: a key, the texts of keys as in `SEALWAX_KEYS`, or those of another ring. */
export type KeyLike = Key | string | KeyRing;

/**
 * A key ring of 1 to 16 keys: the first seals, each opens.
 *
 * To rotate, give the new key to every replica before it seals, and keep the old one until its tokens
 * have expired: `[old, new]` everywhere, then `[new, old]`, then `[new]`.
 */
export class KeyRing {
  readonly #raw: Owned<raw.KeyRing>;

  /**
   * Creates a ring of keys, key texts and rings, the sealing key first.
   *
   * @throws {@link SealwaxError} `invalid_key` for no key, more than 16, or two with one id
   */
  constructor(keys: KeyLike | readonly KeyLike[]) {
    this.#raw = new Owned('key ring', ringOf(keys));
  }

  /**
   * Reads key texts separated by commas or white space, as in `SEALWAX_KEYS`. `#` and what follows in its line is a
   * comment.
   *
   * @throws {@link SealwaxError} `invalid_key`, also for `undefined` from a variable that is not set
   *
   * @example
   * ```js
   * import { Key, KeyRing } from 'sealwax';
   *
   * const [newer, older] = [Key.generate(), Key.generate()];
   * const ring = KeyRing.parse(`${newer.toText()} ${older.toText()}`);
   * console.log(ring.ids.length); // 2
   *
   * KeyRing.parse(process.env.NOT_SET); // throws invalid_key
   * ```
   */
  static parse(ringText: string | undefined): KeyRing {
    if (ringText === undefined || ringText === null) throw noKeys();
    return new KeyRing(wireText('keys', ringText));
  }

  /** The ids of the keys, in order. */
  get ids(): readonly string[] {
    return this.#raw.get().ids();
  }

  /** Wipes the ring. Codecs that use its keys keep their copy until they are freed. */
  free(): void {
    this.#raw.free();
  }

  /** The same as {@link KeyRing.free}. */
  [Symbol.dispose](): void {
    this.free();
  }

  static {
    rawRing = (ring) => ring.#raw.get();
  }
}

/** Makes a ring of copies: the module takes ownership of what it is given. */
function ringOf(keys: unknown): raw.KeyRing {
  if (!Array.isArray(keys)) return ringOfOne(keys);
  const rings: raw.KeyRing[] = [];
  try {
    for (const one of keys) rings.push(ringOfOne(one));
  } catch (error) {
    for (const ring of rings) ring.free();
    throw error;
  }
  return core().KeyRing.of(rings);
}

function ringOfOne(keys: unknown): raw.KeyRing {
  const { KeyRing: Raw } = core();
  if (keys === undefined || keys === null) throw noKeys();
  if (typeof keys === 'string') return Raw.parse(keys);
  if (keys instanceof Key) return ringOfKey(keys);
  if (keys instanceof KeyRing) return rawRing(keys).share();
  if (keys instanceof Raw) return keys; // of variables
  // It may be of another copy of the package.
  for (const one of ['Key', 'KeyRing']) {
    if (Object(keys).constructor?.name === one) throw wrongClass('keys', one, keys);
  }
  throw wrongType('keys', 'key texts, a Key, a KeyRing or an array of them', keys);
}

/** Returns the ring that variables of the environment have, unless they name a file. */
export function ringOfVariables(variables: string): KeyRing | undefined {
  const ring = core().KeyRing.fromVariables(wireText('variables', variables));
  return ring && new KeyRing(ring as unknown as KeyRing);
}

/** Returns the ring of what was read of a file, or throws what reading it gave instead. */
export function ringOfFile(path: string, found: Uint8Array | Error): KeyRing {
  // An error of another realm is no `Error` of this one.
  const [data, why] = ArrayBuffer.isView(found) ? [found] : [new Uint8Array(), found.message];
  return new KeyRing(core().KeyRing.ofFile(path, data, why) as unknown as KeyRing);
}

/** The error for missing keys: most likely the variable is not set. */
function noKeys(): SealwaxError {
  const message =
    'keys: expected keys, found none: is SEALWAX_KEYS set? `npx sealwax keygen` makes a key for it. Codec.fromEnv ' +
    'reads it, and SEALWAX_KEYS_FILE and SEALWAX_SECRET';
  return new SealwaxError('invalid_key', message, false);
}
