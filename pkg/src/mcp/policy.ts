import type { TransportSettings } from '../documents.js';
import type { Principal } from '../principal.js';
import type { Engine } from './engine.js';
import type { Listener } from './hooks.js';
import type { Ledger } from './ledger/ledger.js';
import type { RequestContext } from './request-context.js';
import type { Negotiated } from './transport/negotiated.js';

/** Resolves the caller of a request. */
export type PrincipalOf = (
  context: RequestContext,
) => Principal | undefined | PromiseLike<Principal | undefined>;

/** Makes the question of a confirmation of a call's arguments. */
// biome-ignore lint/suspicious/noExplicitAny: an author says which arguments the tool has
export type QuestionOf<Arguments = any> = (
  args: Arguments,
  context: RequestContext,
) => string | PromiseLike<string>;

/** The context in which a session begins. */
export interface Beginning extends RequestContext {
  /** The parameters of `sessions/create`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The facts of a request that passed a wrapper. */
export interface Known {
  readonly principal: Principal | undefined;
  /** What is left of its time limit. */
  readonly withinMs: number;
  readonly negotiated?: Negotiated;
  /** The id of its session's token. */
  readonly sessionId?: string | undefined;
}

/** The checked settings of a guard. */
export interface Policy extends Listener {
  readonly principalOf: PrincipalOf;
  readonly ledger: Ledger | undefined;
  /** What wrappers know of requests, by the reference in each, until it reaches the handlers. */
  readonly known: Map<unknown, Known>;
  /** The engine for messages to the handlers. */
  engine: Engine;
  /** Returns the engine for messages to a wrapper around the handlers. */
  readonly transportOf: (settings: TransportSettings) => Engine;
  /** Warns, once, that a request has an authenticated user while the principal is anonymous. */
  readonly warnOfUser: () => void;
  /** Logs the ledger's warnings, once. */
  readonly warnOfLedger: () => void;
  /** Whether some tools run only for a confirmed call. */
  confirms: boolean;
  /** The functions that make the questions of confirmations, by the tools' names. */
  readonly questions: Map<unknown, QuestionOf>;
  /** Returns the first value of a data-layer session. */
  initial: ((beginning: Beginning) => unknown) | undefined;
}
