/** Messages around HTTP and stdio, before the SDK reads them. */

import { tokenFields } from '../../context.js';
import {
  type ClientValue,
  clientValue,
  type Engine,
  type Exchange,
  isText,
  type Wrapped,
} from '../engine.js';
import { PROTOCOL_VERSION } from '../metadata.js';
import type { ClientNotification, RequestId } from '../sdk.js';

export type Message = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';

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

/** Whether the SDK treats a message as a request, and answers it. */
export function isRequest(message: Message): message is Message & { readonly id: RequestId } {
  const { id, method } = message;
  return method !== undefined && (typeof id === 'string' || Number.isInteger(id));
}

/** Returns the id of the request that a message cancels. The SDK never answers it then. */
export function cancelled({ method, params }: Message | ClientNotification): unknown {
  if (method !== 'notifications/cancelled') return undefined;
  const { requestId, reason } = Object(params);
  return reason === undefined || typeof reason === 'string' ? requestId : undefined;
}

/**
 * Whether a message is of revision 2026-07-28 or later, by the SDK's rule: by its `_meta`, or by the header that says a
 * version.
 */
export function isModern(message: unknown, version: string | null = null): boolean {
  const { method, params } = Object(message);
  if (typeof method !== 'string' || method === 'initialize') return false;
  const { _meta } = Object(params);
  return (isMessage(_meta) && PROTOCOL_VERSION in _meta) || (version !== null && version >= MODERN);
}

/** Begins the exchange of a message around HTTP or stdio; `came` is the message as it came. */
export function begun(engine: Engine, came: unknown, message: unknown, more: Wrapped): Exchange {
  if (isTooDeep(came)) return engine.unreadable();
  const { method, params } = Object(message);
  const { target: member } = (isText(method) && tokenFields(method)) || {};
  return engine.transport({
    method: typeof method === 'string' ? clientValue(method) : undefined,
    // For the log.
    target: clientValue(member && Object(params)[member]),
    notification: isMessage(message) && method !== undefined && !isRequest(message),
    initialize: method === 'initialize' ? JSON.stringify(params ?? null) : undefined,
    ...more,
  });
}

/**
 * Removes SEP-1359's `sessionId` from a message, which the SDK's schemas do not allow: from its top level, or
 * from the result of a client's response.
 */
export function stripSessionId(came: Message): {
  readonly message: Message;
  readonly messageSessionId?: ClientValue;
} {
  const { sessionId, ...message } = came;
  if (sessionId !== undefined) return { message, messageSessionId: clientValue(sessionId) };
  const { result } = message;
  if (!isMessage(result) || result.sessionId === undefined) return { message: came };
  const { sessionId: inResult, ...rest } = result;
  return { message: { ...message, result: rest }, messageSessionId: clientValue(inResult) };
}

/** Adds the session to a message for a client that sent one. An error has no member for it. */
export function addSessionId(message: Message, sessionId: string): Message {
  if ('method' in message) return { ...message, sessionId };
  return withChanges(message, [[['sessionId'], sessionId]]);
}

/** What to set in a result: the names on the way to a member, and its value. */
type Changes = readonly [readonly string[], unknown][];

/** Returns a response with its result changed, if it has one. */
export function withChanges(message: Message, set: Changes = []): Message {
  const { result } = message;
  return isMessage(result) ? { ...message, result: changed(result, set) } : message;
}

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
