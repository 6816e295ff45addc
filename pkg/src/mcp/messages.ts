/** Messages around HTTP and stdio, before the SDK reads them. */

import type { RequestId } from '@modelcontextprotocol/server';
import { type Sent, sent } from './engine.js';
import { PROTOCOL_VERSION } from './metadata.js';

export type Message = Readonly<Record<string, unknown>>;

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the SDK takes for a request, and answers. */
export function isRequest(message: Message): message is Message & { readonly id: RequestId } {
  const { id, method } = message;
  return method !== undefined && (typeof id === 'string' || Number.isInteger(id));
}

/** Whether a message claims to be of revision 2026-07-28 or later, as the SDK tells them apart. */
export function claimsModern({ method, params }: Message): boolean {
  if (typeof method !== 'string' || method === 'initialize') return false;
  const { _meta } = Object(params);
  return isMessage(_meta) && PROTOCOL_VERSION in _meta;
}

/** What the engine has to know of a message; of none, nothing. */
export function facts(message: unknown) {
  const { method, params } = Object(message);
  return {
    method: typeof method === 'string' ? method : undefined,
    notification: isMessage(message) && method !== undefined && !isRequest(message),
    initialize: method === 'initialize' ? JSON.stringify(params ?? null) : undefined,
  };
}

/**
 * A message as the SDK's schemas take it, and SEP-1359's `sessionId` that it came with: beside what it
 * says, or in the result of a client's answer.
 */
export function takenOff(came: Message): { readonly message: Message; readonly inside: Sent } {
  const { sessionId, ...message } = came;
  const { result } = message;
  if (sessionId !== undefined) return { message, inside: inMessage(sessionId) };
  if (!isMessage(result) || result.sessionId === undefined)
    return { message: came, inside: undefined };
  const { sessionId: inside, ...rest } = result;
  return { message: { ...message, result: rest }, inside: inMessage(inside) };
}

/** A member that is there is a session, whatever it is. */
function inMessage(sessionId: unknown): Sent {
  return sent(sessionId) ?? true;
}

/** A message for a peer that has sent the member itself. An error has no place for it. */
export function carrying(message: Message, sessionId: string): Message {
  return 'method' in message ? { ...message, sessionId } : withResult(message, { sessionId });
}

/** An answer whose result has more in it. */
export function withResult(message: Message, more: Message): Message {
  const { result } = message;
  return isMessage(result) ? { ...message, result: { ...result, ...more } } : message;
}
