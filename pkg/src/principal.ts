import { invalidArgument } from './error.js';
import type { PrincipalParts } from './facts.js';
import { optional, options, text, wrongType } from './input.js';
import { core } from './module.js';

/**
 * Who is authenticated, or expressly nobody.
 *
 * Take the parts from a verified credential, by one rule in every replica: of a JWT, as
 * {@link principalFromClaims} does. A server without authentication says {@link anonymous}, and then
 * whoever holds a token can use it. A text is no principal, for a user may be called anything.
 */
export type Principal =
  | { readonly anonymous: true }
  | {
      readonly anonymous?: undefined;
      readonly subject: string;
      readonly client?: string | undefined;
      readonly issuer?: string | undefined;
    }
  | {
      readonly anonymous?: undefined;
      readonly subject?: string | undefined;
      readonly client: string;
      readonly issuer?: string | undefined;
    };

/** Expressly nobody: the {@link Principal} of a server without authentication. */
export const anonymous: { readonly anonymous: true } = Object.freeze({ anonymous: true });

/**
 * Issuer, client and subject, or `anonymous`. What the parts may be is the core's to judge.
 *
 * @throws `TypeError` for what is no principal; {@link SealwaxError} `invalid_argument`
 */
export function partsOf(principal: unknown): typeof anonymous | readonly (string | undefined)[] {
  if (typeof principal !== 'object' || principal === null) {
    const expected = "an object such as { subject: 'alice' }, or the constant anonymous";
    throw wrongType('principal', expected, principal);
  }
  const { anonymous: nobody, ...parts } = options(principal, 'anonymous', ...PARTS);
  const named = PARTS.map((name) => optional(text, name, parts[name]));
  if (nobody === undefined) return named;
  if (nobody === true && named.every((part) => part === undefined)) return anonymous;
  throw invalidArgument('principal: expected { anonymous: true } alone, or somebody');
}

const PARTS = ['issuer', 'client', 'subject'] as const;

/**
 * The principal of a verified JWT, or of what introspection tells: `iss` and `sub`, which must be
 * there, and `client_id`, or else `azp`, if it is (RFC 9068 §2.2, RFC 7662 §2.2, OpenID Connect
 * Core §2). One rule, for the same user must be the same at every replica.
 *
 * @throws {@link SealwaxError} `invalid_argument` where `iss` or `sub` is missing, and for a part
 * that is no text, empty or over 1,024 bytes
 *
 * @example
 * ```js
 * import { principalFromClaims } from 'sealwax';
 *
 * const claims = { iss: 'https://idp.example.com', sub: 'alice', azp: 'cli-7', exp: 1900000000 };
 * console.log(principalFromClaims(claims).client); // cli-7
 * ```
 */
export function principalFromClaims(claims: Readonly<Record<string, unknown>>): PrincipalParts {
  if (typeof claims !== 'object' || claims === null) throw wrongType('claims', 'an object', claims);
  const [iss, sub, clientId, azp] = ['iss', 'sub', 'client_id', 'azp'].map((name) =>
    claim(name, claims[name] ?? undefined),
  );
  return core().principalFromClaims(iss, sub, clientId, azp);
}

/** Whatever a credential may hold is for the core to refuse, and not a mistake of the caller's. */
function claim(name: string, value: unknown): string | undefined {
  if (value !== undefined && typeof value !== 'string') {
    throw invalidArgument(`claims: expected ${name} to be a text, found ${typeof value}`);
  }
  return optional(text, name, value);
}
