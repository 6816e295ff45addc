import { invalidArgument } from '../error.js';
import { type Principal, principalFromClaims } from '../principal.js';
import type { RequestContext } from './request-context.js';

/**
 * Who a request's access token was issued for, by the SDK's own `AuthInfo`: for the option
 * `principal` of a {@link Guard}.
 *
 * The client is `authInfo.clientId`; issuer and subject are the token's claims `iss` and `sub`,
 * for which the author's verifier puts them, or all claims as `claims`, into `authInfo.extra`.
 *
 * @throws {@link SealwaxError} `invalid_argument` where nobody is authenticated, or a claim is
 * missing
 */
export function principalFromAuthInfo(context: RequestContext): Principal {
  const authInfo = context.http?.authInfo;
  if (authInfo === undefined) {
    throw invalidArgument('principal: expected an authenticated request, found no authInfo');
  }
  const extra = authInfo.extra ?? {};
  const { iss, sub } = Object(extra.claims ?? extra);
  // The type does not let it be left out, so an empty text stands for a token without a client.
  const client = authInfo.clientId === '' ? {} : { client_id: authInfo.clientId };
  return principalFromClaims({ iss, sub, ...client });
}
