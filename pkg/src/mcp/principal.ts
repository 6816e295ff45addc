import { invalidArgument } from '../error.js';
import { type Principal, principalFromClaims } from '../principal.js';
import type { AuthInfo } from './sdk-types.js';

/**
 * The context of a request before its handler runs: two members of the SDK's `ServerContext`, so that a
 * function for a handler's context can be used here too.
 */
export interface RequestContext {
  /** The session of the transport, if it has one. */
  readonly sessionId?: string | undefined;
  /** The authentication and the HTTP request with its headers. */
  readonly http?: {
    readonly authInfo?: AuthInfo | undefined;
    readonly req?: Request | undefined;
  };
}

/** Resolves the caller of a request. */
export type PrincipalOf = (
  context: RequestContext,
) => Principal | undefined | PromiseLike<Principal | undefined>;

/**
 * Returns the principal of a request's access token, from the SDK's `AuthInfo`: for the option `principal`
 * of a {@link Guard}. Without `AuthInfo` it returns nothing: the request is refused as unauthenticated.
 *
 * The client is `authInfo.clientId`. Issuer and subject are the claims `iss` and `sub` of the token; your
 * token verifier puts them, or all claims as `claims`, into `authInfo.extra`.
 *
 * @throws {@link SealwaxError} `invalid_argument` if a claim is missing
 */
export function principalFromAuthInfo(context: RequestContext): Principal | undefined {
  const authInfo = context.http?.authInfo;
  if (authInfo === undefined) return undefined;
  const extra = authInfo.extra ?? {};
  const { iss, sub } = Object(extra.claims ?? extra);
  if (iss === undefined || sub === undefined) throw invalidArgument(NO_CLAIMS);
  // The type requires a client, so an empty string stands for a token without one.
  const client = authInfo.clientId === '' ? {} : { client_id: authInfo.clientId };
  return principalFromClaims({ iss, sub, ...client });
}

const NO_CLAIMS =
  'authInfo.extra: expected iss and sub, which your token verifier puts there; for tokens without them, such as API ' +
  'keys, write a principal function of your own';
