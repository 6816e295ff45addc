/** Messages as the SDK has them, and as the engine reads them. */

import type { TokenFields } from '../../facts.js';
import { cut } from '../../memory.js';
import type { RequestContext } from '../principal.js';
import type { ClientMessage } from '../sdk-types.js';

/** The members of `_meta` that the engine reads: a session's is of the draft, the others are of revision 2026-07-28. */
const SESSION = 'io.modelcontextprotocol/session';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export type Message = Readonly<Record<string, unknown>>;

/** A value from a client that should be a text: `true` stands for any other type. */
export type ClientValue = string | true | undefined;

/** A message to the SDK's handlers, as the engine reads it. */
export type Arrival = ReturnType<typeof arrivalOf>;

/** Reads a message, before anything can change it. */
export function arrivalOf(
  message: ClientMessage,
  context: RequestContext,
  { param, target }: Partial<TokenFields> = {},
) {
  const named = target && memberOf(message, target);
  const args = target && memberOf(message, 'arguments');
  const meta = Object(memberOf(message, '_meta'));
  const session = sessionOf(meta[SESSION] ?? undefined);
  return {
    method: message.method,
    target: isText(named) ? named : undefined,
    args: args === undefined ? args : clientJson(args),
    token: param && clientValue(memberOf(message, param)),
    header: session && (context.http?.req?.headers.get('mcp-session-id') ?? undefined),
    session,
    notification: !('id' in message),
    modern: meta[PROTOCOL_VERSION] !== undefined,
  };
}

/** Returns a member of a message's parameters; `undefined` for `null` too. */
export function memberOf({ params }: ClientMessage, name: string): unknown {
  const given = params ?? {};
  return Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined;
}

/** Returns the members of a session's metadata, of any type. */
function sessionOf(metadata: unknown) {
  if (metadata === undefined) return undefined;
  const { sessionId, state } = Object(metadata);
  return { id: clientValue(sessionId), state: clientValue(state) };
}

/**
 * Converts a value from a client or a handler. `null` counts as absent. A text is cut where the engine refuses it as too
 * large, because the module's memory never shrinks.
 */
export function clientValue(value: unknown): ClientValue {
  if (value === undefined || value === null) return undefined;
  if (!isText(value)) return true;
  const text = cut(value);
  return text === value ? text : text.toWellFormed();
}

/**
 * Returns a value of a client as JSON. `JSON.parse` reads a number out of range, such as 1e400, as infinite, which
 * `JSON.stringify` writes as `null`, so that two requests would be one. It becomes a number that the engine refuses too.
 */
function clientJson(value: unknown): string {
  const written = JSON.stringify(value);
  // A function for each member takes four times as long as the writing.
  return written.includes('null') ? JSON.stringify(value, inRange) : written;
}

function inRange(_: string, member: unknown): unknown {
  return member === Infinity || member === -Infinity ? Number.MAX_VALUE : member;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

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
export function cancelled({ method, params }: ClientMessage): unknown {
  if (method !== 'notifications/cancelled') return undefined;
  const { requestId, reason } = Object(params);
  return reason === undefined || typeof reason === 'string' ? requestId : undefined;
}

/** What to set in parameters or a result: the names on the way to a member, and its value. */
type Changes = readonly [readonly string[], unknown][];

/** Returns changed parameters, or a changed result. */
export function changed(result: Message, set: Changes = []): Message {
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
