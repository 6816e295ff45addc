import { invalidArgument } from '../error.js';
import type { Call } from './call.js';
import type { Act, Done } from './engine.js';
import { HandleRefused } from './handle-refused.js';
import { TimeLimit } from './later.js';
import type { HandlerContext } from './sdk.js';

/** Knows the protected request that a handler's context belongs to. */
export type CallOf = (context: HandlerContext) => Call;

/**
 * Does something with a handle, for whoever asks. What a model passes may be anything, whatever a schema
 * says.
 *
 * @throws {@link HandleRefused} unless it is good
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
