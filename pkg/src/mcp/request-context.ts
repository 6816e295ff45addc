import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * What is known of a request before its handler runs: of the SDK's `ServerContext` these two
 * members, so that a function written for a handler's context serves here as well.
 */
export interface RequestContext {
  /** The transport's session, where it has one. */
  readonly sessionId?: string | undefined;
  /** What came by HTTP: who was authenticated, and the request with its headers. */
  readonly http?: {
    readonly authInfo?: AuthInfo | undefined;
    readonly req?: Request | undefined;
  };
}
