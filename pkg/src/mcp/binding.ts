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
    // A resource has none: whatever is there is no part of the request.
    const [args, names] =
      method === 'resources/read' ? [] : [call.param('arguments'), only.get(target)];
    const context = requestContext(method, target, args, { only: names });
    return () => context;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
