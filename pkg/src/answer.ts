import { SealwaxError } from './error.js';
import { optional, options, wireText } from './input.js';
import { core } from './module.js';

/** Which part of the protocol a refused token came by. */
export type Profile =
  | 'sep-1359'
  | 'data-layer'
  | 'data-layer-required'
  | 'request-state'
  | 'cursor'
  | 'mcp-session-id'
  | 'handle';

/** What to send: a JSON-RPC error object, a bare HTTP status, or the result of a `tools/call`. */
export type Answer =
  | {
      readonly error: {
        readonly code: number;
        readonly message: string;
        readonly data?: { readonly sessionId: string } | { readonly reason: string };
      };
    }
  | { readonly httpStatus: number }
  | {
      readonly toolResult: {
        readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
        readonly isError: true;
      };
    };

/**
 * The one fixed answer that a client gets, so that nobody can use the server to learn which check
 * failed.
 *
 * Without `error` it is the profile's refusal. With whatever was caught as `error`, it is that for
 * a refusal, and an internal error for anything else, which must not make a client throw its
 * session away. `sessionId` is what the client sent; it is echoed only where the profile does so,
 * and only if it is well formed.
 *
 * @throws {@link SealwaxError} `invalid_argument` for a profile that is none
 *
 * @example
 * ```js
 * import { answer } from 'sealwax';
 *
 * console.log(answer('cursor')); // { error: { code: -32602, message: 'Invalid cursor' } }
 * ```
 */
export function answer(
  profile: Profile,
  given: { readonly error?: unknown; readonly sessionId?: string | undefined } = {},
): Answer {
  const { error, sessionId } = options(given, 'error', 'sessionId');
  const checked = wireText('profile', profile);
  const echoed = optional(wireText, 'sessionId', sessionId);
  const refused = error === undefined || (error instanceof SealwaxError && error.isRefusal);
  return refused ? core().refusal(checked, echoed) : core().internalError(checked);
}
