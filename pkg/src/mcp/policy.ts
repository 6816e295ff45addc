import type { Codec } from '../codec.js';
import type { Principal } from '../principal.js';
import type { Accept } from './accept.js';
import type { Engine, TransportSettings } from './engine.js';
import type { TimeLimit } from './later.js';
import type { LedgerClient } from './ledger-client.js';
import type { Negotiated } from './negotiated.js';
import type { Listener } from './refused.js';
import type { RequestContext } from './request-context.js';

/** Tells who asks, by what is known of a request. */
export type PrincipalOf = (
  context: RequestContext,
) => Principal | undefined | PromiseLike<Principal | undefined>;

/** What is known where a session begins. */
export interface Beginning extends RequestContext {
  /** The parameters of `sessions/create`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** What is known of a request that passed a wrapper. */
export interface Known {
  readonly principal: Principal | undefined;
  readonly limit: TimeLimit;
  readonly negotiated?: Negotiated;
}

/** What a guard was told, checked. */
export interface Policy extends Listener {
  readonly codec: Codec;
  readonly principalOf: PrincipalOf;
  readonly accept: Accept | undefined;
  readonly acceptTimeout: number;
  readonly ledgerClient: LedgerClient | undefined;
  readonly known: WeakMap<Request, Known>;
  /** By ids of ours, of requests on stdio, until they come to the handlers. */
  readonly knownById: Map<unknown, Known>;
  /** The rules for what comes to the handlers. */
  engine: Engine;
  /** The rules for what comes to a wrapper around them. */
  readonly transportOf: (settings: TransportSettings) => Engine;
  /** Gives the first value of a data-layer session. */
  initial: ((beginning: Beginning) => unknown) | undefined;
  /** Whether there are data-layer sessions; `required` where some request needs one. */
  sessions: boolean | 'required';
}
