/**
 * The reference by which a handler's context names its request: both majors of the SDK hand the `_meta` of a request to its
 * handler. It is random, so that a client cannot name a request of another.
 */

import type { Principal } from '../../principal.js';
import type { HandlerContext, Params } from '../sdk-types.js';
import { isMessage, type Message } from '../transport/message.js';
import type { Negotiated } from '../transport/negotiated.js';

const REFERENCE = 'io.github.sealwax/exchange';

/** The facts of a request that passed a wrapper. */
export interface Known {
  readonly principal: Principal | undefined;
  /** What is left of its time limit. */
  readonly withinMs: number;
  readonly negotiated?: Negotiated;
  /** The id of its session's token. */
  readonly sessionId?: string | undefined;
}

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
 * `all` is of the guard; `named` gets the reference, and the request's id.
 */
export function referenced(
  came: unknown,
  known: Known,
  all: Map<unknown, Known>,
  named: (reference: string, id: unknown) => void,
): unknown {
  if (Array.isArray(came)) return came.map((one) => referenced(one, known, all, named));
  const { id, method, params } = Object(came) as Message;
  if (id === undefined || method === undefined) return came;
  const reference = newReference();
  all.set(reference, known);
  named(reference, id);
  return { ...(came as Message), params: withReference(params as Params, reference) };
}

/** Returns 122 random bits, or more. A page that came over HTTP makes no UUID. */
export function newReference(): string {
  const id = crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  return id.replaceAll('-', '');
}
