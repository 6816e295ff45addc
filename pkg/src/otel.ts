/**
 * Metrics of a guard by OpenTelemetry. They need the optional peer dependency `@opentelemetry/api`, and an SDK that the
 * application registers.
 */

import { type Attributes, type Meter, metrics } from '@opentelemetry/api';
import type { Hooks, Refusal, TokenEvent } from './mcp/hooks.js';

/**
 * Returns the hooks of a {@link Guard} that record its metrics:
 *
 * - `sealwax.tokens`, a counter: `sealwax.event` (`opened`, `sealed`, `ended`, `revoked`, `refused`), `sealwax.kind`,
 *   `sealwax.key.id`, `mcp.method.name`, and for refusals `error.type`, the code;
 * - `sealwax.token.age`, a histogram in seconds: how long ago the opened ones were sealed, by `sealwax.kind`;
 * - `sealwax.guard.duration`, a histogram in seconds: the `micros` of an event, by `sealwax.event` and `sealwax.kind`.
 *
 * No id, target or principal is an attribute.
 *
 * @param given `meter`: by default the global one of the name `sealwax`, as it is when the first token comes; `onEvent`,
 * `onRefused`: hooks of your own, which are called too
 *
 * @example
 * ```js
 * import { Codec, Key } from 'sealwax';
 * import { Guard } from 'sealwax/mcp';
 * import { instruments } from 'sealwax/otel';
 *
 * const codec = new Codec({ keys: Key.generate().toText(), audience: 'https://mcp.example.com' });
 * const guard = new Guard({ codec, principal: 'anonymous', ...instruments() });
 * console.log(guard instanceof Guard); // true
 * ```
 */
export function instruments(
  given: Partial<Hooks> & { readonly meter?: Meter | undefined } = {},
): Hooks {
  let made: ReturnType<typeof instrumentsOf> | undefined;
  // Not before it is needed: an SDK that is registered later gives no instruments to an earlier meter.
  const of = () => {
    made ??= instrumentsOf(given.meter ?? metrics.getMeter('sealwax'));
    return made;
  };
  return {
    onEvent(event) {
      const { tokens, age, duration } = of();
      const kind = { 'sealwax.kind': event.kind };
      const what = { 'sealwax.event': event.event, ...kind };
      tokens.add(1, { ...what, ...keyOf(event), ...methodOf(event) });
      if (event.age !== undefined) age.record(event.age, kind);
      duration.record(event.micros / 1e6, what);
      given.onEvent?.(event);
    },
    onRefused(refused) {
      const { kind, code } = refused;
      const what = { 'sealwax.event': 'refused', 'sealwax.kind': kind, 'error.type': code };
      of().tokens.add(1, { ...what, ...methodOf(refused) });
      given.onRefused?.(refused);
    },
  };
}

function instrumentsOf(meter: Meter) {
  return {
    tokens: meter.createCounter('sealwax.tokens', {
      description: 'Tokens that were opened, sealed, ended, revoked or refused',
      unit: '{token}',
    }),
    age: meter.createHistogram('sealwax.token.age', {
      description: 'How long ago the tokens were sealed that were opened',
      unit: 's',
      advice: { explicitBucketBoundaries: AGES },
    }),
    duration: meter.createHistogram('sealwax.guard.duration', {
      description: 'How long a message or a result was at the guard',
      unit: 's',
      advice: { explicitBucketBoundaries: DURATIONS },
    }),
  };
}

/** From a second to 30 days. Every language has the same, or no quantile could be computed of a fleet. */
const AGES = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800, 2_592_000];
/** From 10 microseconds to a second. */
const DURATIONS = [
  ...[0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005],
  ...[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
];

function keyOf({ keyId }: TokenEvent): Attributes {
  return keyId === undefined ? {} : { 'sealwax.key.id': keyId };
}

/** A client may have made up a method that is none of the protocol's: those count as one. */
function methodOf({ method, customMethod }: TokenEvent | Refusal): Attributes {
  if (method === undefined) return {};
  return { 'mcp.method.name': customMethod ? '_OTHER' : method };
}
