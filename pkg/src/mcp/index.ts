/**
 * Guards for servers on the official SDK, `@modelcontextprotocol/server`: see {@link Guard}.
 *
 * It does not load the WebAssembly module: the guard's codec comes from `sealwax` or `sealwax/slim`.
 */

export { anonymous } from '../principal.js';
export type { Accept, Accepted } from './accept.js';
export type { DataLayerSessions, SessionsOptions } from './data-layer-sessions.js';
export type { Command, LedgerOptions, Required } from './engine.js';
export { Guard, type GuardOptions } from './guard.js';
export { HandleRefused } from './handle-refused.js';
export type { Handle, Handles } from './handles.js';
export type { Held, HeldHandles } from './held-handles.js';
export type { FetchHandler, HttpSessionsOptions } from './http-sessions.js';
export { type Ledger, LedgerUnfit, MemoryLedger } from './ledger.js';
export type { Negotiated } from './negotiated.js';
export type { Beginning, PrincipalOf } from './policy.js';
export { principalFromAuthInfo } from './principal.js';
export { type RedisClient, RedisLedger } from './redis-ledger.js';
export type { Refused } from './refused.js';
export type { RequestContext } from './request-context.js';
export type { AnyServer, HandlerContext } from './sdk.js';
export type { Session } from './session.js';
export { type SqliteDatabase, SqliteLedger, type SqliteStatement } from './sqlite-ledger.js';
