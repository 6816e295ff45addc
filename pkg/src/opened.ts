import { SealwaxError } from './error.js';
import type { Kind, OpenedFacts } from './facts.js';
import { wrongType } from './input.js';

/** @internal */
export let lifeOf: (opened: unknown, kind: Kind) => OpenedFacts;

/**
 * The contents of an authentic token of kind `K`, after every check. Only opening and sealing create one, so
 * that only authentic tokens are renewed. It is logged as an empty object, so that no log holds its payload.
 */
export class Opened<K extends Kind = Kind> {
  readonly #kind: K;
  readonly #facts: OpenedFacts;

  /** @internal */
  constructor(kind: K, facts: OpenedFacts) {
    this.#kind = kind;
    this.#facts = facts;
  }

  /** The token's kind. */
  get kind(): K {
    return this.#kind;
  }

  /** The payload, as a copy of its own. */
  get payload(): Uint8Array {
    return this.#facts.payload;
  }

  /**
   * Returns the payload parsed as JSON.
   *
   * @throws {@link SealwaxError} `malformed` if it is not JSON
   */
  json<T = unknown>(): T {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(this.payload)) as T;
    } catch {
      throw new SealwaxError('malformed', 'expected a payload that is JSON', true);
    }
  }

  /** The time of sealing, in Unix seconds. */
  get issuedAt(): number {
    return this.#facts.issuedAt;
  }

  /** The end of its lifetime, in Unix seconds; `undefined` without expiry. */
  get expiresAt(): number | undefined {
    return this.#facts.expiresAt;
  }

  /** The start of its session, in Unix seconds: kept by renewals. */
  get startedAt(): number {
    return this.#facts.startedAt;
  }

  /** The number of renewals; stops at its maximum. */
  get generation(): number {
    return this.#facts.generation;
  }

  /** The token id, by which a ledger records use: 32 hex digits. */
  get tokenId(): string {
    // Written on demand: not every handler reads it, and it takes a tenth of the time to open.
    const { tokenId } = this.#facts;
    if (typeof tokenId === 'string') return tokenId;
    return tokenId.map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  /** Whether an older key sealed it, so that it should be sealed again before that key is removed. */
  get needsReseal(): boolean {
    return this.#facts.needsReseal;
  }

  /**
   * Whether to seal it again even without a change: half of its lifetime is over, or an older key
   * sealed it.
   */
  get needsRenewal(): boolean {
    return this.#facts.needsRenewal;
  }

  static {
    lifeOf = (opened, kind) => {
      if (!(opened instanceof Opened)) throw wrongType('opened', 'what open returned', opened);
      if (opened.#kind !== kind) {
        throw new TypeError(`opened: expected one of kind ${kind}, found ${opened.#kind}`);
      }
      return opened.#facts;
    };
  }
}
