import { SealwaxError } from './error.js';
import { bytes, wireText, wrongClass, wrongType } from './input.js';
import { core } from './module.js';
import { Owned } from './owned.js';
import type * as raw from './raw.js';

let shared: (key: Key) => raw.Key;

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
  static parse(text: string): Key {
    return new Key(core().Key.parse(wireText('key', text)));
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
    shared = (key) => key.#raw.get().share();
  }
}

/**
 * A key ring of 1 to 16 keys: the first seals, each opens.
 *
 * To rotate, give the new key to every replica before it seals, and keep the old one until its tokens
 * have expired: `[old, new]` everywhere, then `[new, old]`, then `[new]`.
 */
export class KeyRing {
  readonly #raw: Owned<raw.KeyRing>;

  /**
   * Creates a ring of keys, the sealing key first, or of key texts, as {@link KeyRing.parse} does.
   *
   * @throws {@link SealwaxError} `invalid_key` for no key, more than 16, or two with one id
   */
  constructor(keys: string | readonly Key[]) {
    const { KeyRing } = core();
    const ring = typeof keys === 'string' ? KeyRing.parse(keys) : KeyRing.of(copies(keys));
    this.#raw = new Owned('key ring', ring);
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
  static parse(text: string | undefined): KeyRing {
    if (text === undefined || text === null) throw noKeys();
    return new KeyRing(wireText('keys', text));
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

/** Copies the keys: the module takes ownership of those that it is given. */
function copies(keys: readonly Key[]): raw.Key[] {
  if (keys === undefined || keys === null) throw noKeys();
  if (!Array.isArray(keys)) throw wrongType('keys', 'a text or an array of keys', keys);
  const held = [...keys];
  for (const key of held) if (!(key instanceof Key)) throw wrongClass('keys', 'Key', key);
  return held.map(shared);
}

/** The error for missing keys: most likely the variable is not set. */
export function noKeys(): SealwaxError {
  const message =
    'keys: expected key texts or a KeyRing, found none: is SEALWAX_KEYS set? `npx sealwax keygen` makes ' +
    'a key for it, as does Key.generate().toText()';
  return new SealwaxError('invalid_key', message, false);
}
