/** Plain objects for the module's results. The module calls these functions to create them. */

import type { Answer } from './answer.js';

/** The kinds of sealed tokens. */
export type Kind = 'state' | 'request-state' | 'session' | 'cursor' | 'handle-state' | 'custom';

export interface OpenedFacts {
  readonly payload: Uint8Array;
  readonly issuedAt: number;
  readonly expiresAt: number | undefined;
  readonly startedAt: number;
  readonly generation: number;
  /** 32 hex digits, or the four 32-bit words to write so. */
  readonly tokenId: string | readonly number[];
  readonly needsReseal: boolean;
  readonly needsRenewal: boolean;
}

/** The contents of a verified session id or handle. */
export interface IdentifierFacts {
  /** The time of its creation, in Unix milliseconds. */
  readonly createdAtMs: number;
  /** The end of its life under the given `maxAge`, in Unix milliseconds. */
  readonly endsAtMs: number | undefined;
  /** 32 hex digits that are unique to it: its name in logs and in stores. */
  readonly ulid: string;
  /** Whether an older key made it, so that this key is still needed. */
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

/**
 * `SessionMetadata` of the draft: the value of `_meta["io.modelcontextprotocol/session"]`, and of
 * `session` in the result of `sessions/create`.
 */
export interface SessionMetadata {
  /** The session id. */
  readonly sessionId: string;
  /** The end of the session unless it is renewed, in RFC 3339. */
  readonly expiresAt?: string;
  /** The sealed state. */
  readonly state: string;
}

/** Without `state` if the server holds it. */
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

/** The members of a method's messages that carry a token. */
export interface TokenFields {
  /** The kind of the token; the label of a cursor is the method. */
  readonly kind: 'request-state' | 'cursor';
  /** The member of `params` that carries it. */
  readonly param: string;
  /** The member of the result that carries it. */
  readonly result: string;
  /** For a `requestState`: the member of `params` that names the request's target. */
  readonly target: string | undefined;
  /** Whether a request needs its caller even if it brings no token: its handler may make one. */
  readonly needsCaller: boolean;
}

export function tokenMembers(
  kind: TokenFields['kind'],
  param: string,
  result: string,
  target: string | undefined,
  needsCaller: boolean,
): TokenFields {
  return { kind, param, result, target, needsCaller };
}

/** A principal read from claims. */
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

/** The readable parts of a text. None of them is verified. */
export type Inspected =
  | {
      readonly what: 'token';
      readonly kind: Kind;
      readonly keyId: string;
      /** 32 hex digits, the same as {@link Opened.tokenId} of the token. */
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
