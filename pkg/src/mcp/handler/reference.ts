/**
 * The reference by which a handler's context names its request: both majors of the SDK hand the `_meta` of a request to its
 * handler. It is random, so that a client cannot name a request of another.
 */

import type { Known, Policy } from '../policy.js';
import type { HandlerContext, Params } from '../sdk-types.js';
import { isMessage, type Message } from '../transport/message.js';

const REFERENCE = 'io.github.sealwax/exchange';

/** Returns the reference in parameters, whoever put it there. */
export function referenceIn(params: unknown): unknown {
  return Object(Object(params)._meta)[REFERENCE];
}

/** Returns the reference in a handler's context. */
export function referenceOf(context: HandlerContext): unknown {
  return referenceIn(context?.mcpReq ?? context);
}

/** Returns parameters with a reference in place of the client's; as they are where the SDK refuses them. */
export function withReference(params: Params = {}, reference: string): Params {
  const { _meta = {} } = Object(params);
  const isPlaced = isMessage(params) && isMessage(_meta);
  return isPlaced ? { ...params, _meta: { ..._meta, [REFERENCE]: reference } } : params;
}

/**
 * Tells the guard at the SDK's messages what is known of a message, or of those of a batch, by a reference in each request.
 * `named` gets the reference, and the request's id.
 */
export function referenced(
  came: unknown,
  known: Known,
  policy: Policy,
  named: (reference: string, id: unknown) => void,
): unknown {
  if (Array.isArray(came)) return came.map((one) => referenced(one, known, policy, named));
  const { id, method, params } = Object(came) as Message;
  if (id === undefined || method === undefined) return came;
  const reference = newReference();
  policy.known.set(reference, known);
  named(reference, id);
  return { ...(came as Message), params: withReference(params as Params, reference) };
}

const POOL = 64;
let pool: string[] = [];

/** Returns 128 random bits. */
export function newReference(): string {
  // On first use: Workers have no randomness in their global scope.
  if (pool.length === 0) pool = drawn();
  return pool.pop() as string;
}

function drawn(): string[] {
  const words = crypto.getRandomValues(new Uint32Array(4 * POOL));
  const texts = Array.from(words, (word) => word.toString(16).padStart(8, '0'));
  return Array.from({ length: POOL }, (_, at) => texts.slice(4 * at, 4 * at + 4).join(''));
}
