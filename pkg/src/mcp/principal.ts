import { invalidArgument } from '../error.js';
import { type Principal, principalFromClaims } from '../principal.js';
import type { RequestContext } from './request-context.js';

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
