/**
 * The guard's engine, by its documents: `docs/engine.md` says what each of them means. Whoever begins an
 * exchange frees it, whatever comes of it.
 */

import { type Codec, rawCodec } from '../codec.js';
import { invalidArgument } from '../error.js';
import type { Begun } from '../facts.js';
import { core } from '../module.js';
import type { Principal } from '../principal.js';
import type * as raw from '../raw.js';
import type { SessionMetadata } from '../sessions.js';

export interface Settings {
  readonly requestStateTtl?: number | undefined;
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly sessions?: SessionSettings | undefined;
  readonly transport?: TransportSettings | undefined;
  readonly ledger?: LedgerSettings | undefined;
  readonly asks: boolean;
}

/** How a ledger is used. */
export interface LedgerSettings extends LedgerOptions {
  /** Whether it is on this machine, so that there is one clock. */
  readonly local?: boolean | undefined;
}

/** How an author has a ledger used. */
export interface LedgerOptions {
  /** Tells apart two ledgers of one audience in one store. */
  readonly label?: string | undefined;
  /**
   * How far the clocks of the replicas and of the store may differ, in seconds: 5 unless set, and 0 where
   * the ledger is on this machine.
   */
  readonly allowance?: number | undefined;
  /**
   * Lets in what is older than the ledger, if it was made from this moment on, in Unix seconds: for
   * the day when a ledger is introduced. What ended or was used since is let in too.
   */
  readonly adopt?: number | undefined;
  /** Whether a `requestState` may come back any number of times. */
  readonly reusableRequestState?: boolean | undefined;
}

export interface SessionSettings {
  readonly ttl?: number | undefined;
  readonly noExpiry?: boolean | undefined;
  readonly heldByServer?: boolean | undefined;
  readonly required?: Required | undefined;
}

/** What needs a session. */
export type Required =
  | true
  | {
      /** Methods, such as `resources/read`. */
      readonly methods?: readonly string[] | undefined;
      /** Tools, by name. */
      readonly tools?: readonly string[] | undefined;
    };

export interface TransportSettings {
  readonly required?: boolean | undefined;
  readonly ttl?: number | undefined;
  readonly idle?: number | undefined;
  readonly sep1359?: boolean | undefined;
}

/** What a client sent where a text is expected: `true` is something else. */
export type Sent = string | true | undefined;

export interface Message {
  readonly method: string;
  readonly target?: string | undefined;
  readonly notification?: boolean;
  readonly modern: boolean;
  readonly header?: string | undefined;
  readonly carried?: Sent;
  readonly session?: { readonly id?: Sent; readonly state?: Sent } | undefined;
  readonly principal?: Principal | undefined;
}

export interface Transport {
  readonly http?: string;
  readonly method?: string | undefined;
  readonly notification: boolean;
  readonly modern: boolean;
  readonly version?: string | undefined;
  readonly header?: Sent;
  readonly inside?: Sent;
}

/** Why something of the author's gave nothing, in our own words. */
export interface Failed {
  readonly failed: string;
}

export type Event =
  | { readonly principal: Principal | Failed }
  | { readonly answer: 'yes' | { readonly no: number } | Failed }
  | { readonly ledger: readonly string[] | Failed }
  | { readonly updated: Record<string, never> | Failed }
  | { readonly begun: Record<string, never> | Failed }
  | { readonly left: Head };

/** Of a result that is about to leave, what the engine has to see. */
export interface Head {
  readonly outcome?: 'input_required' | undefined;
  readonly token?: Sent;
  /** `cacheScope`. */
  readonly scope?: string | undefined;
}

export type Step = { readonly refused?: readonly Refusal[] } & (
  | { readonly step: 'identify' }
  | ({ readonly step: 'ask' } & Question)
  | ({ readonly step: 'ledger' } & Command)
  | { readonly step: 'update'; readonly value: string }
  | { readonly step: 'begin' }
  | Deliver
  | Leave
  | Reply
  | Done
  | { readonly step: 'drop' }
);

/** What a ledger is asked: one atomic step, whose reply LEDGER.md has. */
export interface Command {
  readonly script: 'open' | 'admit' | 'commit' | 'revoke';
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** One of the two. */
export interface Question {
  readonly accept?: readonly Presented[];
  readonly end?: Presented;
}

export interface Presented {
  readonly kind: 'request-state' | 'cursor' | 'handle-state' | 'handle' | 'session';
  readonly id: string;
  readonly until: number | null;
  readonly public?: boolean;
}

export interface Deliver {
  readonly step: 'deliver';
  readonly carried?: string;
  readonly own?: string;
  readonly session?: SessionFacts;
  readonly negotiated?: string;
  readonly version?: string;
  readonly stamp?: string;
  readonly watch?: true | string;
}

/** A data-layer session as it came; where the server holds what belongs to it, there is no value. */
export interface SessionFacts {
  readonly id: string;
  readonly ulid: string;
  readonly generation: number;
  readonly value: string | null;
}

export interface Leave {
  readonly step: 'leave';
  readonly token?: string;
  readonly metadata?: object;
  readonly private?: boolean;
  readonly declare?: boolean;
  readonly header?: string;
  readonly timeout?: number;
}

export interface Reply {
  readonly step: 'reply';
  readonly status?: number;
  readonly allow?: string;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
  readonly done?: boolean;
  readonly tool?: ToolResult;
}

/** The result of a tool whose handle was refused, or whose session is not the latest. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly isError: true;
  readonly resultType?: 'complete';
  readonly _meta?: object;
}

export interface Done {
  readonly step: 'done';
  readonly handle?: string;
  readonly id: string;
  readonly expiresAt?: string;
  readonly value?: string;
  readonly before?: Before;
  readonly life?: Life;
}

/** What the next handle of a chain is made from. */
export interface Before {
  readonly startedAt: number;
  readonly generation: number;
  readonly id: string;
  readonly issuedAt: number;
  readonly until: number | null;
}

/** What a handle that holds its state tells of its time, in Unix seconds. */
export interface Life {
  readonly issuedAt: number;
  readonly expiresAt: number | null;
  readonly needsReseal?: boolean;
  readonly needsRenewal?: boolean;
}

export interface Refusal {
  readonly code: string;
  readonly kind: Presented['kind'];
  readonly tokenId?: string;
  readonly message: string;
}

export interface Act {
  readonly do: 'mint' | 'check' | 'seal' | 'open' | 'end';
  readonly type: string;
  readonly handle?: Sent;
  readonly held?: boolean;
  readonly ttl?: number | undefined;
  readonly maxAge?: number | undefined;
  readonly before?: Before | undefined;
  readonly once?: boolean;
}

/** The rules of a guard, by its settings. */
export class Engine {
  readonly #raw: raw.Guard;

  /** @throws {@link SealwaxError} `invalid_argument` for settings that cannot be */
  constructor(codec: Codec, settings: Settings) {
    const { Guard } = core();
    this.#raw = new Guard(rawCodec(codec), JSON.stringify(settings));
  }

  /** The exchange of a message at the SDK's handlers, with the request's arguments as JSON. */
  message(message: Message, args?: string): Exchange {
    return new Exchange(this.#raw.message(JSON.stringify(message), args));
  }

  /** The exchange that refuses whatever of a principal began until now. */
  revoke(principal: Principal, lives?: number): Exchange {
    return new Exchange(this.#raw.revoke(JSON.stringify(principal), lives));
  }

  /** The exchange of a message around HTTP or stdio, with the parameters of `initialize` as JSON. */
  transport(transport: Transport, initialize?: string): Exchange {
    return new Exchange(this.#raw.transport(JSON.stringify(transport), initialize));
  }
}

/** One message, and all that comes of it. */
export class Exchange {
  /** What is to be done first. */
  readonly first: Step;
  #raw: raw.Exchange | undefined;

  /** @internal */
  constructor({ exchange, step }: Begun) {
    this.first = JSON.parse(step);
    this.#raw = exchange;
  }

  get isOver(): boolean {
    return this.#raw === undefined;
  }

  /** Tells what came of a step, and gives the next. `value` goes with it, as JSON. */
  on(event: Event, value?: string): Step {
    return JSON.parse(this.#live().on(JSON.stringify(event), value));
  }

  /** An exchange of its own for what a handler does with a handle. `value` is what it shall hold, as JSON. */
  act(act: Act, value?: string): Exchange {
    return new Exchange(this.#live().act(JSON.stringify(act), value));
  }

  /** Writes what functions made of the session's value, as JSON. */
  update(value: string): void {
    this.#live().update(value);
  }

  /** Writes the session, as JSON. */
  write(value: string): void {
    this.#live().write(value);
  }

  /** The metadata of a session that begins with this one's value. */
  fork(): SessionMetadata {
    return JSON.parse(this.#live().fork());
  }

  free(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }

  #live(): raw.Exchange {
    if (this.#raw !== undefined) return this.#raw;
    throw invalidArgument('exchange: expected a call before the result, not after');
  }
}

/** What a client sent. JSON's `null` is nothing. */
export function sent(value: unknown): Sent {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' && value.isWellFormed() ? value : true;
}
