import { invalidArgument } from '../../error.js';
import type { Act, Done } from '../engine.js';
import { TimeLimit } from '../later.js';
import type { Call } from './call.js';
import { HandleRefused } from './handle-refused.js';
import type { HandlerContext } from './sdk.js';

/** Returns the protected request that a handler's context belongs to. */
export type CallOf = (context: HandlerContext) => Call;

/**
 * Performs an action on a handle for the caller. A model may pass a value of any type, despite a schema.
 *
 * @throws {@link HandleRefused} unless it is accepted
 */
export async function acted(call: Call, act: Act, value?: string): Promise<Done> {
  const exchange = call.act(act, value);
  try {
    const limit = new TimeLimit(call.policy.acceptTimeout);
    const step = await call.caller.drive(exchange, exchange.first, limit);
    if (step.step === 'done') return step;
    if (step.step === 'reply') throw new HandleRefused(step);
    throw invalidArgument('context: expected a request in progress, found it is over');
  } finally {
    exchange.free();
  }
}
