import { SealwaxError } from './error.js';
import type { OpenedFacts } from './facts.js';
import { wrongType } from './input.js';
import type { Kind } from './sealer.js';

/** @internal */
export let lifeOf: (opened: unknown, kind: Kind) => OpenedFacts;

/**
 * What an authentic token of kind `K` held, every check passed. Only opening makes one, or sealing
 * what it would open to, so what is renewed is authentic. It logs as an empty object: a payload is nobody's business.
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

  /** The payload: the caller's own copy. */
  get payload(): Uint8Array {
    return this.#facts.payload;
  }

  /**
   * The payload as JSON.
   *
   * @throws {@link SealwaxError} `malformed` where it is none
   */
  json<T = unknown>(): T {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(this.payload)) as T;
    } catch {
      throw new SealwaxError('malformed', 'expected a payload that is JSON', true);
    }
  }

  /** When it was sealed, in Unix seconds. */
  get issuedAt(): number {
    return this.#facts.issuedAt;
  }

  /** When its own lifetime ends, in Unix seconds; `undefined` for no expiry. */
  get expiresAt(): number | undefined {
    return this.#facts.expiresAt;
  }

  /** When its session began, in Unix seconds: kept across renewals. */
  get startedAt(): number {
    return this.#facts.startedAt;
  }

  /** How often it was renewed; stops at its maximum. */
  get generation(): number {
    return this.#facts.generation;
  }

  /** What a ledger of spent tokens counts by: 32 hex digits. */
  get tokenId(): string {
    // Spelled out for those who ask: not every handler does, and it costs a tenth of opening.
    const { tokenId } = this.#facts;
    if (typeof tokenId === 'string') return tokenId;
    return tokenId.map((word) => word.toString(16).padStart(8, '0')).join('');
  }

  /** Whether an older key made it, so that it should be sealed anew before that key goes. */
  get needsReseal(): boolean {
    return this.#facts.needsReseal;
  }

  /**
   * Whether it is time to seal it anew though nothing was written: half of its life is over, or an
   * older key made it.
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
