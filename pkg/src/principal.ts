import { invalidArgument } from './error.js';
import type { PrincipalParts } from './facts.js';
import { optional, options, text, wrongType } from './input.js';
import { core } from './module.js';

/**
 * The authenticated user, or {@link anonymous}.
 *
 * Take the parts from a verified credential, by the same rule in every replica; for a JWT use
 * {@link principalFromClaims}. A server without authentication uses {@link anonymous}: then anyone who
 * holds a token can use it. A string is not a principal, because a user may have any name.
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

/** The {@link Principal} of a server without authentication. */
export const anonymous: { readonly anonymous: true } = Object.freeze({ anonymous: true });

/** Issuer, client and subject, or `anonymous`. */
export type Parts = typeof anonymous | readonly (string | undefined)[];

/**
 * Returns the parts of a principal. The core checks their contents.
 *
 * @throws `TypeError` for a value that is not a principal; {@link SealwaxError} `invalid_argument`
 */
export function partsOf(principal: unknown): Parts {
  if (typeof principal !== 'object' || principal === null) {
    const expected = "an object such as { subject: 'alice' }, or the constant anonymous";
    throw wrongType('principal', expected, principal);
  }
  const given = options(principal, 'anonymous', 'issuer', 'client', 'subject');
  const issuer = optional(text, 'issuer', given.issuer);
  const client = optional(text, 'client', given.client);
  const subject = optional(text, 'subject', given.subject);
  const { anonymous: nobody } = given;
  if (nobody === undefined) return [issuer, client, subject];
  if (nobody === true && (issuer ?? client ?? subject) === undefined) return anonymous;
  throw invalidArgument('principal: expected { anonymous: true } without other members');
}

/**
 * Returns the principal of a verified JWT or introspection response: the required claims `iss` and
 * `sub`, and `client_id`, or else `azp`, if present (RFC 9068 §2.2, RFC 7662 §2.2, OpenID Connect
 * Core §2).
 *
 * @throws {@link SealwaxError} `invalid_argument` if `iss` or `sub` is missing, and for a claim that is
 * not a string, is empty or over 1,024 bytes
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

/** A claim may have any type, which is an error of the credential and not a `TypeError`. */
function claim(name: string, value: unknown): string | undefined {
  if (value !== undefined && typeof value !== 'string') {
    throw invalidArgument(`claims: expected ${name} to be a text, found ${typeof value}`);
  }
  return optional(text, name, value);
}
