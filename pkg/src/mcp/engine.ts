/**
 * The guard's engine and its JSON documents, which `docs/engine.md` defines. The code that begins an
 * exchange must free it.
 */

import { type Codec, rawCodec } from '../codec.js';
import { invalidArgument } from '../error.js';
import type { Begun } from '../facts.js';
import { core, entered, inside, WIDE } from '../module.js';
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

/** The ledger settings of the engine. */
export interface LedgerSettings extends LedgerOptions {
  /** Whether it is on this machine, and so shares its clock. */
  readonly local?: boolean | undefined;
}

/** Settings of a guard's ledger. */
export interface LedgerOptions {
  /** Separates two ledgers of one audience in one store. */
  readonly label?: string | undefined;
  /**
   * How far the clocks of the replicas and of the store may differ, in seconds: 5 by default, and 0 if the
   * ledger is on this machine.
   */
  readonly clockTolerance?: number | undefined;
  /**
   * Accepts tokens that are older than the ledger if they were made at this time or later, in Unix seconds:
   * for the introduction of a ledger. This includes tokens that were used or ended before it.
   */
  readonly acceptIssuedSince?: number | undefined;
  /** Whether a `requestState` may be used more than once. */
  readonly reusableRequestState?: boolean | undefined;
}

export interface SessionSettings {
  readonly ttl?: number | undefined;
  readonly noExpiry?: boolean | undefined;
  readonly heldByServer?: boolean | undefined;
  readonly required?: Required | undefined;
}

/** The requests that need a session. */
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

/** A value from a client that should be a text: `true` stands for any other type. */
export type ClientValue = string | true | undefined;

export interface Message {
  readonly method: string;
  readonly target?: string | undefined;
  readonly notification?: boolean;
  readonly modern: boolean;
  readonly header?: string | undefined;
  readonly carried?: ClientValue;
  readonly session?: { readonly id?: ClientValue; readonly state?: ClientValue } | undefined;
  readonly principal?: Principal | undefined;
}

export interface Transport {
  readonly http?: string;
  readonly method?: string | undefined;
  readonly notification: boolean;
  readonly modern: boolean;
  readonly version?: string | undefined;
  readonly header?: ClientValue;
  readonly messageSessionId?: ClientValue;
}

/** The failure of one of the application's functions, in our own words. */
export interface Failed {
  readonly failed: string;
}

export type Event =
  | { readonly principal: Principal | Failed | { readonly nobody: true } }
  | { readonly answer: 'yes' | { readonly no: number } | Failed }
  | { readonly ledger: readonly string[] | Failed }
  | { readonly updated: { readonly left?: Head } | Failed }
  | { readonly begun: Record<string, never> | Failed }
  | { readonly left: Head };

/** The parts of a handler's result that the engine needs. */
export interface Head {
  readonly outcome?: 'input_required' | undefined;
  readonly token?: ClientValue;
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

/** A command to a ledger: one atomic step. LEDGER.md defines its reply. */
export interface Command {
  readonly script: 'open' | 'admit' | 'commit' | 'revoke';
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** A question to {@link Accept}: exactly one of the two members. */
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

/** An opened data-layer session; `value` is `null` if the server stores the state. */
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

/** The result of a tool call that was refused for its handle or its outdated session. */
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

/** The facts of an opened handle that its successor continues. */
export interface Before {
  readonly startedAt: number;
  readonly generation: number;
  readonly id: string;
  readonly issuedAt: number;
  readonly until: number | null;
}

/** The lifetime of a handle that holds its state, in Unix seconds. */
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
  /** The tool, prompt or resource of the request. */
  readonly target?: string;
  readonly message: string;
}

export interface Act {
  readonly do: 'mint' | 'check' | 'seal' | 'open' | 'end';
  readonly type: string;
  readonly handle?: ClientValue;
  readonly held?: boolean;
  readonly ttl?: number | undefined;
  readonly maxAge?: number | undefined;
  readonly before?: Before | undefined;
  readonly once?: boolean;
}

/** The rules of a guard, for its settings. */
export class Engine {
  readonly #raw: raw.Guard;

  /** @throws {@link SealwaxError} `invalid_argument` for invalid settings */
  constructor(codec: Codec, settings: Settings) {
    const { Guard } = core(WIDE);
    const { ledger } = settings;
    const old = ledger && {
      ...{ ...ledger, allowance: ledger.clockTolerance, adopt: ledger.acceptIssuedSince },
    };
    this.#raw = new Guard(rawCodec(codec), JSON.stringify({ ...settings, ledger: old }));
  }

  /** Begins the exchange of a message to the SDK's handlers; `args` are its arguments as JSON. */
  message(message: Message, args?: string): Exchange {
    return new Exchange(this.#entered().message(JSON.stringify(message), args));
  }

  /** Begins the exchange of a message that this side cannot read, to refuse it. */
  unreadable(): Exchange {
    return new Exchange(this.#entered().message('null'));
  }

  /** Begins the exchange that revokes every token a principal has until now. */
  revoke(principal: Principal, retainFor?: number): Exchange {
    return new Exchange(this.#entered().revoke(JSON.stringify(principal), retainFor));
  }

  /** Begins the exchange of a message on HTTP or stdio; `initialize` are its parameters as JSON. */
  transport(transport: Transport, initialize?: string): Exchange {
    const document = { ...transport, inside: transport.messageSessionId };
    return new Exchange(this.#entered().transport(JSON.stringify(document), initialize));
  }

  #entered(): raw.Guard {
    return entered(this.#raw, WIDE);
  }
}

/** The exchange of one message: steps and events, until its response. */
export class Exchange {
  /** The first step. */
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

  /** Reports the result of a step and returns the next step. `value` is JSON. */
  on(event: Event, value?: string): Step {
    return JSON.parse(this.#live().on(JSON.stringify(event), value));
  }

  /** Begins a separate exchange for an action on a handle. `value` is its state as JSON. */
  act(act: Act, value?: string): Exchange {
    return new Exchange(this.#live().act(JSON.stringify(act), value));
  }

  /** Seals the next `requestState`, a value as JSON, and returns the token. */
  sealState(value: string): string {
    return this.#live().sealState(value);
  }

  /** Writes the value that update functions returned, as JSON. */
  update(value: string): void {
    this.#live().update(value);
  }

  /** Writes the session's value, as JSON. */
  write(value: string): void {
    this.#live().write(value);
  }

  /** Returns the metadata of a new session with this session's value. */
  fork(): SessionMetadata {
    return JSON.parse(this.#live().fork());
  }

  free(): void {
    if (this.#raw === undefined) return;
    const raw = entered(this.#raw);
    this.#raw = undefined;
    raw.free();
  }

  #live(): raw.Exchange {
    if (this.#raw !== undefined) return entered(this.#raw, WIDE);
    throw invalidArgument('exchange: expected a call before the result, not after');
  }
}

/**
 * Converts a value from a client or a handler. `null` counts as absent. A text is cut where the engine refuses it as too
 * large, because the module's memory never shrinks.
 */
export function clientValue(value: unknown): ClientValue {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !value.isWellFormed()) return true;
  const most = inside().most();
  return value.length > most ? value.slice(0, most).toWellFormed() : value;
}
