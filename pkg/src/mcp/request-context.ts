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
