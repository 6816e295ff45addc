/** SEP-1359: a member `sessionId` beside what a message says, which the SDK's schemas refuse. */

import type { RequestId } from '@modelcontextprotocol/server';
import { SealwaxError } from '../error.js';
import { inspect } from '../inspect.js';
import { defaultTtl } from '../lifetime.js';
import type { Opened } from '../opened.js';
import type { Caller } from './caller.js';
import type { Checks, Facts } from './checks.js';
import type { Begun } from './negotiated.js';

export const TERMINATE = 'session/terminate';

export type Message = Readonly<Record<string, unknown>>;

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the SDK takes for a request, and answers. */
export function isRequest(message: Message): message is Message & { readonly id: RequestId } {
  const { id, method } = message;
  return method !== undefined && (typeof id === 'string' || Number.isInteger(id));
}

/** Why a session is not ended: what nobody answers ends nothing. */
export function noRequest(): SealwaxError {
  const message = `${TERMINATE}: expected a request, found a notification`;
  return new SealwaxError('malformed', message, true);
}

/** A message as the SDK takes it, and the session that it came with. */
export function takenOff(message: Message): {
  readonly message: Message;
  readonly sessionId: unknown;
} {
  const { sessionId, ...rest } = message;
  return sessionId === undefined ? { message, sessionId } : { message: rest, sessionId };
}

/** A message for a peer that has sent the member itself. An error has no place for it. */
export function carrying(message: Message, sessionId: string): Message {
  if ('method' in message) return { ...message, sessionId };
  return isMessage(message.result) ? withResult(message, { sessionId }) : message;
}

/** The answer to `initialize`, with the session that it begins. */
export function greeting(message: Message, begun: Begun): Message {
  return withResult(message, { ...begun });
}

function withResult(message: Message, more: Message): Message {
  return { ...message, result: { ...Object(message.result), ...more } };
}

/** Opens a session's token, and asks whether it is accepted. */
export function admitted(
  checks: Checks,
  caller: Caller,
  token: unknown,
): Promise<Opened<'session'>> {
  return checks.admit(caller, 'session', token, (view, token) => view.session().open(token), facts);
}

/** What `accept` knows a session by. */
export function facts({ tokenId: id, expiresAt: endsAt }: Opened<'session'>): Facts {
  return { id, endsAt };
}

/**
 * The session of a principal ends when somebody else sends it: so the SEP has it. Nobody else's
 * session can be ended so without its token, which is authentic where its principal can be told.
 */
export async function endedByAnother(
  checks: Checks,
  caller: Caller,
  error: unknown,
  token: unknown,
  ttl: number | undefined,
): Promise<void> {
  if (!(error instanceof SealwaxError && error.code === 'principal_mismatch')) return;
  const inspected = inspect(token as string);
  if (inspected.what !== 'token') return;
  try {
    // When it expires is sealed for its own principal: no later than one that is made now.
    const endsAt = Date.now() / 1000 + Math.max(ttl ?? 0, defaultTtl('session'));
    await checks.ended(caller, 'session', { id: inspected.tokenId, endsAt });
  } catch (failure) {
    checks.unsealed('sep-1359', caller, 'session', failure);
  }
}

/** What a peer that puts the session into its messages is told. */
export function errorTo(
  checks: Checks,
  caller: Caller,
  error: unknown,
  sent: unknown,
): ReturnType<Checks['refused']> {
  const echoed = typeof sent === 'string' ? sent : undefined;
  return checks.refused('sep-1359', caller, 'session', error, sent, echoed);
}
