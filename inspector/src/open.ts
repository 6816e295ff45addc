/** Opens a pasted text with the package's public API. */

import {
  Codec,
  type Inspected,
  KeyRing,
  type Kind,
  type Opened,
  type Principal,
  requestContext,
  requestContextFromJson,
  type Sealer,
  type View,
} from 'sealwax';

import { ago, moment } from './time.js';

/** The values of the form's fields; an empty field is absent. */
export type Fields = Readonly<Record<string, string>>;

export interface Result {
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Of a token. */
  readonly payload?: Uint8Array;
}

/** The bindings of each kind of token. */
export const NEEDS: Readonly<Record<Kind, readonly ('label' | 'session' | 'request')[]>> = {
  state: ['session'],
  'request-state': ['request'],
  session: [],
  cursor: ['label'],
  'handle-state': ['label'],
  custom: ['label', 'session', 'request'],
};

/**
 * @throws {@link SealwaxError}, and `TypeError` for a missing value
 */
export function open(text: string, seen: Inspected, fields: Fields): Result {
  const { audience = '', maxAge: age } = fields;
  const maxAge = { maxAge: whole(age) };
  // Wiped directly after use.
  using ring = KeyRing.parse(fields.keys ?? '');
  using codec = new Codec({
    keys: ring,
    audience,
    payloadLimit: whole(fields.payloadLimit),
    clockTolerance: whole(fields.clockTolerance),
  });
  using view = codec.view(principal(fields));
  switch (seen.what) {
    case 'token':
      return opened(sealer(view, seen.kind, fields).open(text, maxAge));
    case 'session-id':
      return verified(view.verifySessionId(text, maxAge));
    case 'handle':
      return verified(view.verifyHandle(seen.type, text, maxAge));
    case 'key':
      return { facts: [] };
  }
}

/** Describes the principal in the form. */
export function principalTold(fields: Fields): string {
  if (fields.anonymous) return 'the anonymous principal';
  const { subject, client, issuer } = fields;
  const named = Object.entries({ subject, client, issuer }).filter(([, value]) => value);
  return named.map(([part, value]) => `${part} ${value}`).join(', ');
}

/** Returns the principal in the form; the package refuses a contradictory or empty one. */
function principal({ subject, client, issuer, anonymous }: Fields): Principal {
  const parts = { subject, client, issuer };
  return (anonymous ? { ...parts, anonymous: true } : parts) as Principal;
}

function sealer(view: View, kind: Kind, fields: Fields): Sealer {
  const { label = '', sessionId } = fields;
  switch (kind) {
    case 'state':
      return view.state(sessionId ?? '');
    case 'request-state':
      return view.requestState(context(fields) ?? new Uint8Array());
    case 'session':
      return view.session();
    case 'cursor':
      return view.cursor(label);
    case 'handle-state':
      return view.handleState(label);
    case 'custom':
      return view.custom(label, { sessionId, context: context(fields) });
  }
}

function context({ method, target, arguments: args, only }: Fields): Uint8Array | undefined {
  if (method === undefined && target === undefined) return undefined;
  const binding = { only: only?.split(',').map((name) => name.trim()) };
  if (args === undefined) return requestContext(method ?? '', target ?? '', undefined, binding);
  return requestContextFromJson(method ?? '', target ?? '', args, binding);
}

const RENEWED = ['never', 'once'];

function opened(token: Opened): Result {
  const { issuedAt, expiresAt, startedAt, generation, tokenId, needsReseal, payload } = token;
  return {
    facts: [
      ['issued', at(issuedAt * 1000)],
      ['expires', expiresAt === undefined ? 'never' : at(expiresAt * 1000)],
      ['session began', at(startedAt * 1000)],
      ['renewed', RENEWED[generation] ?? `${generation} times`],
      ['token id', tokenId],
      ['sealed by', needsReseal ? 'an older key of the ring' : 'the first key of the ring'],
    ],
    payload,
  };
}

function verified(
  id: ReturnType<View['verifyHandle']> | ReturnType<View['verifySessionId']>,
): Result {
  const { createdAtMs, endsAtMs, ulid, needsReseal } = id;
  return {
    facts: [
      ['made', at(createdAtMs)],
      ['ends', endsAtMs === undefined ? 'by the server’s maximum age alone' : at(endsAtMs)],
      ['in logs', ulid],
      ['signed by', needsReseal ? 'an older key of the ring' : 'the first key of the ring'],
    ],
  };
}

function at(ms: number): string {
  return `${moment(ms)}, ${ago(ms)}`;
}

function whole(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
