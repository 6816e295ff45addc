/**
 * The code of an error, the same in every language and every release.
 *
 * The first four are errors of the server; each of the others refuses a token that a client sent.
 */
export type SealwaxErrorCode =
  | 'invalid_argument'
  | 'invalid_key'
  | 'entropy_unavailable'
  | 'internal_error'
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
 * The error that every function of this package throws. A value of the wrong type is a `TypeError`
 * instead.
 *
 * The code and the message are for the server's log. Send the client {@link answer} instead. No message
 * contains a key, a token or a payload.
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
  /** The code of the error. */
  readonly code: SealwaxErrorCode;
  /**
   * Whether a token that a client sent was refused. Otherwise it is a mistake or a failure of the server.
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

/** Returns an `invalid_argument` error for a check made outside of the module. */
export function invalidArgument(message: string): SealwaxError {
  return new SealwaxError('invalid_argument', message, false);
}
