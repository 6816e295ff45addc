/** Messages as the SDK read them. */

import type { ClientNotification } from '../sdk-types.js';

export type Message = Readonly<Record<string, unknown>>;

/** The most levels of a message, which are those that the engine reads. */
const LEVELS = 128;

/** Whether a message has more levels than any that is meant well: writing it as JSON could fill the stack. */
export function isTooDeep(value: unknown, levels = LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isTooDeep(item, levels - 1));
  for (const name in value) {
    if (isTooDeep((value as Message)[name], levels - 1)) return true;
  }
  return false;
}

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the id of the request that a message cancels. The SDK never answers it then. */
export function cancelled({ method, params }: ClientNotification): unknown {
  if (method !== 'notifications/cancelled') return undefined;
  const { requestId, reason } = Object(params);
  return reason === undefined || typeof reason === 'string' ? requestId : undefined;
}

/** What to set in a result: the names on the way to a member, and its value. */
type Changes = readonly [readonly string[], unknown][];

/** Returns a changed result. */
export function changed(result: Message, set: Changes): Message {
  return set.reduce((before, [path, value]) => withMember(before, path, value), result);
}

function withMember(
  target: unknown,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Message {
  const members = isMessage(target) ? target : {};
  return { ...members, [name]: rest.length > 0 ? withMember(members[name], rest, value) : value };
}
