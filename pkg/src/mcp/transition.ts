/** A `requestState` from before the guard, which another codec made. */

import type { TransitionStep } from '../documents.js';
import { invalidArgument } from '../error.js';
import { json } from '../input.js';
import type { Outcome } from './caller.js';
import { attempt, within } from './later.js';
import type { RequestContext } from './request-context.js';

/** The context of a request that brings such a token: what a codec's `bind` can read of the SDK's context. */
export interface TransitionContext extends RequestContext {
  readonly mcpReq: { readonly id: unknown; readonly method: string };
  /** The parameters of the request, as they came. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Accepts, until a date, the `requestState` tokens that clients have from before the guard. None is ever made. */
export interface Transition {
  /**
   * Verifies a token and returns the JSON of the value in it, or `undefined` to refuse it. If it throws, or takes
   * longer than the guard's `timeLimit`, the request fails with an error of the server.
   */
  open(
    token: string,
    context: TransitionContext,
  ): string | undefined | PromiseLike<string | undefined>;
  /** When they are refused from then on: a date, or a time in Unix seconds. */
  readonly until: Date | number;
}

/** What the SDK's codec throws for a token. */
const REFUSALS = ['malformed', 'mac', 'expired', 'bind'];

/**
 * Returns the {@link Transition.open} for the tokens of the SDK's `createRequestStateCodec`.
 *
 * @example
 * ```js
 * import { createRequestStateCodec } from '@modelcontextprotocol/server';
 * import { Codec, Key } from 'sealwax';
 * import { Guard, openerOf } from 'sealwax/mcp';
 *
 * const codec = new Codec({ keys: Key.generate().toText(), audience: 'https://mcp.example.com' });
 * const before = createRequestStateCodec({ key: 'the key that the server had until now' });
 * const until = new Date('2027-01-15T00:00:00Z');
 * const transition = { open: openerOf(before), until };
 * const guard = new Guard({ codec, principal: 'anonymous', transition });
 * console.log(guard instanceof Guard); // true
 * ```
 */
export function openerOf(codec: {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's codec takes its own context
  verify(state: string, context: any): PromiseLike<unknown>;
}): Transition['open'] {
  return async (token, context) => {
    try {
      return json('requestState', await codec.verify(token, context));
    } catch (error) {
      if (REFUSALS.includes((error as Error | undefined)?.message ?? '')) return undefined;
      throw error;
    }
  };
}

/** Returns the answer to a step about a token. */
export function transitioned(
  transition: Transition,
  { token, withinMs }: TransitionStep,
  context: TransitionContext,
): Outcome | Promise<Outcome> {
  return attempt<string | undefined, Outcome>(
    () => within(withinMs, transition.open(token, context)),
    (opened) => {
      if (opened === undefined) return { event: { transition: { refused: true } } };
      if (typeof opened !== 'string') throw new TypeError('transition: expected a text');
      return { event: { transition: { opened } } };
    },
    (cause) => ({ event: { transition: { failed: 'transition: failed or was too late' } }, cause }),
  );
}

export function untilOf(name: string, until: unknown): number {
  const seconds = until instanceof Date ? until.getTime() / 1000 : until;
  if (typeof seconds === 'number' && seconds >= 0 && seconds < 2 ** 53) return Math.floor(seconds);
  throw invalidArgument(`${name}: expected a Date or Unix seconds`);
}
