/**
 * Guards for servers on the official SDK, `@modelcontextprotocol/server` or `@modelcontextprotocol/sdk`: see {@link Guard}.
 *
 * It does not load the WebAssembly module: the guard's codec comes from `sealwax` or `sealwax/slim`.
 */

export type { Logger } from '../log.js';
export { anonymous } from '../principal.js';
export { Guard, type GuardOptions, type PageOptions } from './guard.js';
export { LinkRefused, type Links, type OpenedLink } from './handler/links.js';
export type { ReferenceHandle, ReferenceHandles } from './handler/reference-handles.js';
export type {
  SelfContainedHandle,
  SelfContainedHandles,
} from './handler/self-contained-handles.js';
export type { Session } from './handler/session.js';
export type {
  DataLayerSessions,
  Required,
  SessionsOptions,
} from './handler/sessions.js';
export type { Hooks, Refusal, TokenEvent } from './hooks.js';
export {
  type Command,
  type Ledger,
  type LedgerOptions,
  LedgerUnfit,
  MemoryLedger,
} from './ledger/ledger.js';
export { type RedisClient, RedisLedger } from './ledger/redis.js';
export { type SqliteDatabase, SqliteLedger, type SqliteStatement } from './ledger/sqlite.js';
export type { Beginning, PrincipalOf, QuestionOf } from './policy.js';
export { principalFromAuthInfo } from './principal.js';
export { HandleRefused } from './refusal.js';
export type { RequestContext } from './request-context.js';
export type { AnyServer, AuthInfo, HandlerContext } from './sdk-types.js';
export type { FetchHandler, HttpSessionsOptions } from './transport/http.js';
export type { WrittenResponse } from './transport/listener.js';
export type { Negotiated } from './transport/negotiated.js';
export type { NodeListener, NodeRequest, NodeResponse } from './transport/node.js';
