import { invalidArgument } from './error.js';
import { count, flag, optional, options } from './input.js';
import { core } from './module.js';

/**
 * The lifetime of a token: by default that of its kind.
 *
 * `ttl` is in whole seconds, 1 or more. With `noExpiry: true` the token opens as long as its key is in
 * the ring.
 */
export type Lifetime =
  | { readonly ttl?: number | undefined; readonly noExpiry?: false | undefined }
  | { readonly ttl?: undefined; readonly noExpiry: true };

/**
 * Checks the seconds of a lifetime, as sealing does.
 *
 * @throws {@link SealwaxError} `invalid_argument`
 * @internal
 */
export function checkTtl(name: string, given: unknown): number {
  const ttl = count(name, given);
  core().checkTtl(ttl);
  return ttl;
}

export function lifetime(given: Lifetime | undefined): Lifetime {
  if (given === undefined) return {};
  const known = options(given, 'ttl', 'noExpiry');
  const ttl = optional(count, 'ttl', known.ttl);
  if (!optional(flag, 'noExpiry', known.noExpiry)) return { ttl };
  if (ttl !== undefined) throw invalidArgument('ttl: contradicts noExpiry, give one of the two');
  return { noExpiry: true };
}
