/** The engine's documents, which docs/engine.md describes. A test of mcp/src/document writes this file. */

export type ClientValue = string | true;

export interface ConfirmFacts {
  readonly fallback?: string | undefined;
  readonly message?: string | undefined;
}

export interface Deliver {
  readonly addSessionId?: string | undefined;
  readonly builtinResult?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly id?: string | undefined;
  readonly negotiated?: string | undefined;
  readonly opened?: string | undefined;
  readonly report?: Report | undefined;
  readonly version?: string | undefined;
  readonly withinMs: number;
}

export type DestructiveFacts = boolean | DestructiveOptions;

export interface DestructiveOptions {
  readonly fallback?: string | undefined;
}

export interface BrokeEvent {
  readonly broke: string;
}

export interface ResultEvent {
  readonly result: ResultFacts;
}

export type Event = BrokeEvent | ResultEvent;

export interface Fault {
  readonly code: string;
  readonly id?: string | undefined;
  readonly kind: Item;
  readonly message: string;
  readonly method?: string | undefined;
  readonly principal?: PrincipalParts | undefined;
  readonly target?: string | undefined;
}

export interface HandleOp {
  readonly by?: PrincipalParts | undefined;
  readonly handle?: ClientValue | undefined;
  readonly keep?: boolean | undefined;
  readonly list?: string | undefined;
  readonly maxAge?: number | undefined;
  readonly number?: number | undefined;
  readonly once?: boolean | undefined;
  readonly op: 'mint' | 'check' | 'mintShort' | 'checkShort' | 'seal' | 'open' | 'end' | 'sealLink' | 'openLink' | 'cursor' | 'position';
  readonly predecessor?: Predecessor | undefined;
  readonly selfContained?: boolean | undefined;
  readonly ttl?: number | undefined;
  readonly type: string;
}

export interface HandleResult {
  readonly expiresAt?: string | undefined;
  readonly handle?: string | undefined;
  readonly id: string;
  readonly predecessor?: Predecessor | undefined;
  readonly principal?: Readonly<Record<string, unknown>> | undefined;
  readonly times?: HandleTimes | undefined;
  readonly value?: string | undefined;
}

export interface HandleTimes {
  readonly expiresAt: number | null;
  readonly issuedAt: number;
  readonly needsRenewal?: boolean | undefined;
  readonly needsReseal?: boolean | undefined;
}

export type Item = 'request-state' | 'cursor' | 'handle' | 'handle-state' | 'link' | 'session';

export interface LedgerSettings {
  readonly acceptIssuedSince?: number | undefined;
  readonly clockTolerance?: number | undefined;
  readonly label?: string | undefined;
  readonly local?: boolean | undefined;
  readonly reusableRequestState?: boolean | undefined;
}

export type OnLost = 'refuse' | 'serve';

export interface OpenedSession {
  readonly generation: number;
  readonly id: string;
  readonly ulid: string;
  readonly value: string | null;
}

export interface Plain {
  readonly passes: readonly string[];
  readonly send: readonly string[];
}

export interface Predecessor {
  readonly generation: number;
  readonly id: string;
  readonly issuedAt: number;
  readonly startedAt: number;
  readonly until: number | null;
}

export interface PrincipalParts {
  readonly anonymous?: boolean | undefined;
  readonly client?: string | undefined;
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
}

export type Question = 'principal' | 'ledger' | 'initial' | 'confirm' | 'elicit' | 'body' | 'replay' | 'list_tools';

export interface TextsRedisAnswer {
  readonly texts: readonly string[];
}

export interface TextRedisAnswer {
  readonly text: string;
}

export interface NumberRedisAnswer {
  readonly number: number;
}

export interface ErrorRedisAnswer {
  readonly error: string;
}

export type RedisAnswer = TextsRedisAnswer | TextRedisAnswer | NumberRedisAnswer | ErrorRedisAnswer;

export interface Refused {
  readonly client?: string | undefined;
  readonly code: string;
  readonly customMethod?: boolean | undefined;
  readonly id?: string | undefined;
  readonly issuer?: string | undefined;
  readonly kind: Item;
  readonly level: 'warn' | 'error';
  readonly line: string;
  readonly message: string;
  readonly method?: string | undefined;
  readonly subject?: string | undefined;
  readonly target?: string | undefined;
  readonly time: string;
}

export interface Reply {
  readonly allow?: string | undefined;
  readonly done?: boolean | undefined;
  readonly error?: RpcError | undefined;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: number | undefined;
  readonly tool?: ToolResult | undefined;
}

export type Report = boolean | string;

export type Required = boolean | RequiredNames;

export interface RequiredNames {
  readonly methods?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
}

export interface ResultFacts {
  readonly error?: boolean | undefined;
  readonly members?: ResultMembers | undefined;
  readonly noMeta?: boolean | undefined;
}

export interface ResultMembers {
  readonly cacheScope?: ClientValue | undefined;
  readonly nextCursor?: ClientValue | undefined;
  readonly requestState?: ClientValue | undefined;
  readonly resultType?: ClientValue | undefined;
  readonly ttlMs?: ClientValue | undefined;
}

export interface RpcError {
  readonly code: number;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly message: string;
}

export type Script = 'open' | 'admit' | 'commit' | 'revoke';

export interface SessionSettings {
  readonly heldByServer?: boolean | undefined;
  readonly noExpiry?: boolean | undefined;
  readonly required?: Required | undefined;
  readonly ttl?: number | undefined;
}

export interface Settings {
  readonly confirm?: Readonly<Record<string, ConfirmFacts>> | undefined;
  readonly confirmDestructive?: DestructiveFacts | undefined;
  readonly confirmTtl?: number | undefined;
  readonly events?: boolean | undefined;
  readonly ledger?: LedgerSettings | undefined;
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly requestStateTtl?: number | undefined;
  readonly sessions?: SessionSettings | undefined;
  readonly timeLimitMs?: number | undefined;
  readonly transport?: TransportSettings | undefined;
}

export interface RowsSqliteAnswer {
  readonly rows: readonly (string | null)[];
}

export interface ErrorSqliteAnswer {
  readonly error: string;
}

export type SqliteAnswer = RowsSqliteAnswer | ErrorSqliteAnswer;

export interface SqliteStep {
  readonly done?: readonly string[] | undefined;
  readonly failed?: string | undefined;
  readonly run?: readonly Statement[] | undefined;
  readonly wait?: number | undefined;
}

export interface Statement {
  readonly args?: readonly (string | null)[] | undefined;
  readonly reads?: boolean | undefined;
  readonly sql: string;
}

export interface AskStep {
  readonly args?: readonly string[] | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly name: Question;
  readonly params?: unknown | undefined;
  readonly script?: Script | undefined;
  readonly step: 'ask';
  readonly withinMs?: number | undefined;
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface DeliverStep extends Deliver {
  readonly step: 'deliver';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface RespondStep {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly step: 'respond';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface ReplyStep extends Reply {
  readonly step: 'reply';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface DoneStep extends HandleResult {
  readonly step: 'done';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface DropStep {
  readonly step: 'drop';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export interface ReplayedStep {
  readonly step: 'replayed';
  readonly events?: readonly TokenEvent[] | undefined;
  readonly members?: readonly string[] | undefined;
  readonly refused?: readonly Refused[] | undefined;
  readonly session?: OpenedSession | undefined;
  readonly set?: readonly [readonly string[], unknown][] | undefined;
  readonly whole?: boolean | undefined;
}

export type Step = AskStep | DeliverStep | RespondStep | ReplyStep | DoneStep | DropStep | ReplayedStep;

export interface StoreStep {
  readonly done?: readonly string[] | undefined;
  readonly failed?: string | undefined;
  readonly load?: readonly (readonly string[])[] | undefined;
  readonly own?: boolean | undefined;
  readonly plain?: Plain | undefined;
  readonly send?: readonly string[] | undefined;
  readonly unfit?: string | undefined;
  readonly warned?: readonly string[] | undefined;
}

export interface TextContent {
  readonly text: string;
  readonly type: string;
}

export interface TokenEvent {
  readonly age?: number | undefined;
  readonly client?: string | undefined;
  readonly customMethod?: boolean | undefined;
  readonly event: 'opened' | 'sealed' | 'ended' | 'revoked';
  readonly id?: string | undefined;
  readonly issuer?: string | undefined;
  readonly keyId?: string | undefined;
  readonly kind: Item;
  readonly method?: string | undefined;
  readonly subject?: string | undefined;
  readonly target?: string | undefined;
}

export interface ToolResult {
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  readonly content?: readonly TextContent[] | undefined;
  readonly inputRequests?: Readonly<Record<string, unknown>> | undefined;
  readonly isError?: boolean | undefined;
  readonly requestState?: string | undefined;
  readonly resultType?: string | undefined;
}

export interface TransportSettings {
  readonly declares?: boolean | undefined;
  readonly idle?: number | undefined;
  readonly modern?: boolean | undefined;
  readonly onLost?: OnLost | undefined;
  readonly required?: boolean | undefined;
  readonly sep1359?: boolean | undefined;
  readonly ttl?: number | undefined;
}
