// Placeholder: written by hand until the generated types are here.
import type { Principal } from './principal.js';

type Maybe<T> = T | null | undefined;
export type ClientValue = string | true;
export interface Settings {
  readonly hasAccept?: Maybe<boolean>;
  readonly requestStateTtl?: Maybe<number>;
  readonly only?: Maybe<Readonly<Record<string, readonly string[]>>>;
  readonly sessions?: Maybe<SessionSettings>;
  readonly transport?: Maybe<TransportSettings>;
  readonly ledger?: Maybe<{
    readonly local?: Maybe<boolean>;
    readonly label?: Maybe<string>;
    readonly clockTolerance?: Maybe<number>;
    readonly acceptIssuedSince?: Maybe<number>;
    readonly reusableRequestState?: Maybe<boolean>;
  }>;
  readonly timeLimitMs?: Maybe<number>;
}
export interface SessionSettings {
  readonly ttl?: Maybe<number>;
  readonly noExpiry?: Maybe<boolean>;
  readonly heldByServer?: Maybe<boolean>;
  readonly required?: Maybe<
    | boolean
    | { readonly methods?: Maybe<readonly string[]>; readonly tools?: Maybe<readonly string[]> }
  >;
}
export interface TransportSettings {
  readonly required?: Maybe<boolean>;
  readonly ttl?: Maybe<number>;
  readonly idle?: Maybe<number>;
  readonly sep1359?: Maybe<boolean>;
}
export interface Message {
  readonly method?: Maybe<string>;
  readonly target?: Maybe<string>;
  readonly notification?: Maybe<boolean>;
  readonly modern?: Maybe<boolean>;
  readonly header?: Maybe<string>;
  readonly token?: Maybe<ClientValue>;
  readonly session?: Maybe<{
    readonly id?: Maybe<ClientValue>;
    readonly state?: Maybe<ClientValue>;
  }>;
  readonly principal?: Maybe<Principal>;
  readonly withinMs?: Maybe<number>;
}
export interface TransportMessage {
  readonly http?: Maybe<string>;
  readonly method?: Maybe<string>;
  readonly notification?: Maybe<boolean>;
  readonly modern?: Maybe<boolean>;
  readonly version?: Maybe<string>;
  readonly header?: Maybe<ClientValue>;
  readonly messageSessionId?: Maybe<ClientValue>;
  readonly principal?: Maybe<Principal>;
}
export interface Failure {
  readonly failed: string;
}
export interface ResultFacts {
  readonly members?: Maybe<Readonly<Record<string, Maybe<ClientValue>>>>;
  readonly noMeta?: Maybe<boolean>;
  readonly error?: Maybe<boolean>;
}
export type Event =
  | { readonly principal: Principal | Failure | { readonly nobody: true } }
  | { readonly answer: 'yes' | { readonly no: number } | Failure }
  | { readonly ledger: readonly string[] | Failure }
  | { readonly updated: { readonly result?: Maybe<ResultFacts> } | Failure }
  | { readonly begun: Record<string, never> | Failure }
  | { readonly notResumed: string }
  | { readonly result: ResultFacts };
export interface Presented {
  readonly kind: 'request-state' | 'cursor' | 'handle-state' | 'handle' | 'session';
  readonly id: string;
  readonly until?: Maybe<number>;
  readonly public?: Maybe<boolean>;
}
export interface Refusal {
  readonly code: string;
  readonly kind: Presented['kind'];
  readonly tokenId?: Maybe<string>;
  readonly target?: Maybe<string>;
  readonly message: string;
}
export interface OpenedSession {
  readonly id: string;
  readonly ulid: string;
  readonly generation: number;
  readonly value?: Maybe<string>;
}
export interface Ask {
  readonly step: 'ask';
  readonly accept?: readonly Presented[];
  readonly end?: Presented;
  readonly withinMs: number;
}
export interface Command {
  readonly step: 'ledger';
  readonly script: 'open' | 'admit' | 'commit' | 'revoke';
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly withinMs: number;
}
export interface Deliver {
  readonly step: 'deliver';
  readonly opened?: Maybe<string>;
  readonly builtinResult?: Maybe<string>;
  readonly session?: Maybe<OpenedSession>;
  readonly negotiated?: Maybe<string>;
  readonly version?: Maybe<string>;
  readonly addSessionId?: Maybe<string>;
  readonly report?: Maybe<true | string>;
  readonly members?: Maybe<readonly string[]>;
  readonly withinMs: number;
}
export interface Respond {
  readonly step: 'respond';
  readonly result?: Maybe<Readonly<Record<string, unknown>>>;
  readonly headers?: Maybe<Readonly<Record<string, string>>>;
}
export interface Reply {
  readonly step: 'reply';
  readonly status?: Maybe<number>;
  readonly allow?: Maybe<string>;
  readonly error?: Maybe<{
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  }>;
  readonly done?: Maybe<boolean>;
  readonly tool?: Maybe<{
    readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
    readonly isError: true;
  }>;
}
export interface Predecessor {
  readonly startedAt: number;
  readonly generation: number;
  readonly id: string;
  readonly issuedAt: number;
  readonly until?: Maybe<number>;
}
export interface Done {
  readonly step: 'done';
  readonly handle?: Maybe<string>;
  readonly id: string;
  readonly expiresAt?: Maybe<string>;
  readonly value?: Maybe<string>;
  readonly predecessor?: Maybe<Predecessor>;
  readonly times?: Maybe<{
    readonly issuedAt: number;
    readonly expiresAt?: Maybe<number>;
    readonly needsReseal?: Maybe<boolean>;
    readonly needsRenewal?: Maybe<boolean>;
  }>;
}
export type Step = { readonly refused?: readonly Refusal[] } & (
  | { readonly step: 'identify' }
  | Ask
  | Command
  | { readonly step: 'update'; readonly value: string }
  | { readonly step: 'begin' }
  | Deliver
  | Respond
  | Reply
  | Done
  | { readonly step: 'drop' }
);
export interface HandleOp {
  readonly op: 'mint' | 'check' | 'seal' | 'open' | 'end';
  readonly type: string;
  readonly handle?: Maybe<ClientValue>;
  readonly maxAge?: Maybe<number>;
  readonly ttl?: Maybe<number>;
  readonly predecessor?: Maybe<Predecessor>;
  readonly once?: Maybe<boolean>;
  readonly selfContained?: Maybe<boolean>;
}
