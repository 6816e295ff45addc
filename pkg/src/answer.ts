import { SealwaxError } from './error.js';
import { optional, options, wireText } from './input.js';
import { core } from './module.js';

/** The part of the protocol that carried a refused token. */
export type Profile =
  | 'sep-1359'
  | 'data-layer'
  | 'data-layer-required'
  | 'request-state'
  | 'cursor'
  | 'mcp-session-id'
  | 'handle';

/** The response to send: a JSON-RPC error object, an HTTP status, or the result of a `tools/call`. */
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
 * Returns the fixed answer of a profile. It is the same for every refusal, so that a client cannot
 * learn which check failed.
 *
 * Without `error` it returns the refusal. With a caught `error` it returns the refusal if a token was
 * refused, and an internal error otherwise, so that the client keeps its session. `sessionId` is the
 * one that the client sent; it is echoed only if the profile does so and it is well formed.
 *
 * @throws {@link SealwaxError} `invalid_argument` for an unknown profile
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
