import { requestContext } from '../context.js';
import { invalidArgument } from '../error.js';
import type { Call } from './call.js';

/**
 * What the request's `requestState` is bound to, from the arguments as they are now: before any
 * handler had them in its hands. A request that cannot be bound is no matter until it needs to be.
 */
export function binding(
  call: Call,
  only: ReadonlyMap<string, readonly string[]>,
): () => Uint8Array {
  const { method } = call.request;
  try {
    const target = call.param(call.carried?.target ?? '');
    if (typeof target !== 'string') throw invalidArgument('request: expected a target, a text');
    const context = requestContext(method, target, call.param('arguments'), {
      only: only.get(target),
    });
    return () => context;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
