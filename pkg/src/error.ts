/**
 * Why something failed, the same in every language and every release.
 *
 * The first three are the server's own trouble; each of the others refuses what a client sent.
 */
export type SealwaxErrorCode =
  | 'invalid_argument'
  | 'invalid_key'
  | 'entropy_unavailable'
  | 'too_large'
  | 'unsupported'
  | 'malformed'
  | 'wrong_purpose'
  | 'unknown_key'
  | 'unauthentic'
  | 'principal_mismatch'
  | 'not_yet_valid'
  | 'expired';

/**
 * What every function of this package throws, but for a value of the wrong type, which is a
 * `TypeError`.
 *
 * The code and the message are for the server's log, never for the client: what the client hears
 * is {@link answer}. No message holds a key, a token or a payload.
 *
 * @example
 * ```js
 * import { KeyRing, SealwaxError } from 'sealwax';
 *
 * try {
 *   KeyRing.parse('swk1_short');
 * } catch (error) {
 *   console.log(error instanceof SealwaxError && error.code); // invalid_key
 * }
 * ```
 */
export class SealwaxError extends Error {
  /** The code. */
  readonly code: SealwaxErrorCode;
  /**
   * Whether something that a client sent was refused, as opposed to a mistake or a failure on the
   * server's side.
   */
  readonly isRefusal: boolean;

  /** @internal */
  constructor(code: SealwaxErrorCode, message: string, isRefusal: boolean) {
    super(message);
    this.name = 'SealwaxError';
    this.code = code;
    this.isRefusal = isRefusal;
  }
}

/** The caller's own mistake, where the module cannot be asked. */
export function invalidArgument(message: string): SealwaxError {
  return new SealwaxError('invalid_argument', message, false);
}
