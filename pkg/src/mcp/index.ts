/**
 * Guards for servers on the official SDK, `@modelcontextprotocol/server` or `@modelcontextprotocol/sdk`: see {@link Guard}.
 *
 * It does not load the WebAssembly module: the guard's codec comes from `sealwax` or `sealwax/slim`.
 */

export type { Logger } from '../log.js';
export { anonymous } from '../principal.js';
export { Guard } from './guard.js';
export type {
  ReferenceHandle,
  ReferenceHandles,
  SelfContainedHandle,
  SelfContainedHandles,
} from './handler/handles.js';
export type { Links, OpenedLink } from './handler/links.js';
export type { Session } from './handler/session.js';
export type { DataLayerSessions } from './handler/sessions.js';
export type { Hooks, Refusal, TokenEvent } from './hooks.js';
export { type Command, type Ledger, LedgerUnfit } from './ledger/ledger.js';
export { MemoryLedger } from './ledger/memory.js';
export { type RedisClient, RedisLedger } from './ledger/redis.js';
export { type SqliteDatabase, SqliteLedger, type SqliteStatement } from './ledger/sqlite.js';
export type {
  Beginning,
  GuardOptions,
  HttpSessionsOptions,
  LedgerOptions,
  PageOptions,
  QuestionOf,
  Required,
  SessionsOptions,
} from './options.js';
export { type PrincipalOf, principalFromAuthInfo, type RequestContext } from './principal.js';
export { HandleRefused, LinkRefused } from './refusal.js';
export type { AnyServer, AuthInfo, HandlerContext } from './sdk-types.js';
export type { FetchHandler } from './transport/http.js';
export type { WrittenResponse } from './transport/listener.js';
export type { Negotiated } from './transport/negotiated.js';
export type { NodeListener, NodeRequest, NodeResponse } from './transport/node.js';
