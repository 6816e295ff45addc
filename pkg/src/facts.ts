/** What the module tells, as plain objects: it calls these functions to make them. */

import type { Answer } from './answer.js';
import type * as raw from './raw.js';
import type { Kind } from './sealer.js';
import type { SessionMetadata } from './sessions.js';

export interface OpenedFacts {
  readonly payload: Uint8Array;
  readonly issuedAt: number;
  readonly expiresAt: number | undefined;
  readonly startedAt: number;
  readonly generation: number;
  /** 32 hex digits, or what to spell so: words of 32 bits. */
  readonly tokenId: string | readonly number[];
  readonly needsReseal: boolean;
  readonly needsRenewal: boolean;
}

/** What a verified session id or handle tells. */
export interface IdentifierFacts {
  /** When it was made, in Unix milliseconds. */
  readonly createdAtMs: number;
  /** When it ends under the `maxAge` it was verified with, in Unix milliseconds. */
  readonly endsAtMs: number | undefined;
  /** 32 hex digits that make it unique: what logs and a store may know it by. */
  readonly ulid: string;
  /** Whether an older key made it, so that the key is still needed. */
  readonly needsReseal: boolean;
}

export function identifierFacts(
  createdAtMs: number,
  endsAtMs: number | undefined,
  ulid: string,
  needsReseal: boolean,
): IdentifierFacts {
  return { createdAtMs, endsAtMs, ulid, needsReseal };
}

/** `state` is missing where the server holds it. */
export function sessionMetadata(
  sessionId: string,
  expiresAt: string | undefined,
  state: string | undefined,
): SessionMetadata {
  return {
    sessionId,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(state !== undefined && { state }),
  } as SessionMetadata;
}

/** Where the messages of a method carry a token. */
export interface Carried {
  /** What is carried; of a cursor, the method is the label. */
  readonly kind: 'request-state' | 'cursor';
  /** The member of `params` by which it comes back. */
  readonly param: string;
  /** The member of the result by which it leaves. */
  readonly result: string;
  /** Of a `requestState`: the member of `params` that names the request's target. */
  readonly target: string | undefined;
}

export function carriedMembers(
  kind: Carried['kind'],
  param: string,
  result: string,
  target: string | undefined,
): Carried {
  return { kind, param, result, target };
}

/** A principal that came of claims. */
export interface PrincipalParts {
  readonly issuer: string;
  readonly client: string | undefined;
  readonly subject: string;
}

export function principalParts(
  issuer: string,
  client: string | undefined,
  subject: string,
): PrincipalParts {
  return { issuer, client, subject };
}

export function errorAnswer(
  code: number,
  message: string,
  sessionId: string | undefined,
  reason: string | undefined,
): Answer {
  if (sessionId !== undefined) return { error: { code, message, data: { sessionId } } };
  if (reason !== undefined) return { error: { code, message, data: { reason } } };
  return { error: { code, message } };
}

export function statusAnswer(httpStatus: number): Answer {
  return { httpStatus };
}

export function toolAnswer(text: string): Answer {
  return { toolResult: { content: [{ type: 'text', text }], isError: true } };
}

/** What a text claims to be. Nothing of it is verified. */
export type Inspected =
  | {
      readonly what: 'token';
      readonly kind: Kind;
      readonly keyId: string;
      /** 32 hex digits, the same as of the token when it opens. */
      readonly tokenId: string;
    }
  | { readonly what: 'session-id'; readonly keyId: string; readonly createdAtMs: number }
  | { readonly what: 'handle'; readonly type: string; readonly createdAtMs: number }
  | { readonly what: 'key'; readonly keyId: string };

export function inspectedToken(kind: Kind, keyId: string, tokenId: string): Inspected {
  return { what: 'token', kind, keyId, tokenId };
}

export function inspectedSessionId(keyId: string, createdAtMs: number): Inspected {
  return { what: 'session-id', keyId, createdAtMs };
}

export function inspectedHandle(type: string, createdAtMs: number): Inspected {
  return { what: 'handle', type, createdAtMs };
}

export function inspectedKey(keyId: string): Inspected {
  return { what: 'key', keyId };
}

/**
 * An exchange of the guard's engine, and its first step as a JSON document.
 *
 * @internal
 */
export interface Begun {
  readonly exchange: raw.Exchange;
  readonly step: string;
}

/** @internal */
export function begun(exchange: raw.Exchange, step: string): Begun {
  return { exchange, step };
}
