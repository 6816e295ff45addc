/**
 * The guard's engine: `docs/engine.md` defines its documents, and what goes without them. The code that begins an
 * exchange must free it.
 */

import { type Codec, rawCodec } from '../codec.js';
import type {
  Event,
  Fault,
  HandleOp,
  Refused,
  Settings,
  Step,
  TokenEvent,
  TransportMessage,
} from '../documents.js';
import { invalidArgument } from '../error.js';
import { json } from '../input.js';
import { core, entered, inside, WIDE } from '../module.js';
import type { anonymous, Parts, Principal } from '../principal.js';
import type * as raw from '../raw.js';
import type { SessionMetadata } from '../sessions.js';
import * as shared from '../shared.js';

/** A message to the SDK's handlers. Absent members are `undefined`. */
export interface Arrival {
  readonly method: string;
  readonly target: string | undefined;
  /** The arguments as JSON. */
  readonly args: string | undefined;
  readonly token: ClientValue;
  readonly header: string | undefined;
  readonly session: { readonly id: ClientValue; readonly state: ClientValue } | undefined;
  readonly notification: boolean;
  readonly modern: boolean;
}

function isAnonymous(principal: Parts): principal is typeof anonymous {
  return 'anonymous' in principal;
}

function named(principal: Parts = []): readonly (string | undefined)[] {
  return isAnonymous(principal) ? [] : principal;
}

/** The rules of a guard, for its settings. */
export class Engine {
  /** Whether the exchange of a message that brings nothing, and needs no caller, may begin late. */
  readonly defers: boolean;
  readonly #raw: raw.Guard;
  /** Whether somebody counts what happens to tokens. */
  readonly #events: boolean;

  /** @throws {@link SealwaxError} `invalid_argument` for invalid settings */
  constructor(codec: Codec, settings: Settings) {
    const { Guard } = core(WIDE);
    this.#raw = new Guard(rawCodec(codec), json('settings', settings));
    this.defers = this.#raw.defers();
    this.#events = settings.events === true;
  }

  /**
   * Begins the exchange of a message to the SDK's handlers. `member` of its result may hold a token; `principal` is the
   * caller, if known.
   */
  request(
    { method, target, args, token, header, session, notification, modern }: Arrival,
    member: string | undefined,
    principal: Parts | undefined,
    withinMs = Number.NaN,
  ): Exchange {
    const [issuer, client, subject] = named(principal);
    const caller = principal === undefined ? 0 : isAnonymous(principal) ? 16 + 4 : 16;
    const flags = caller | (notification ? 1 : 0) | (modern ? 2 : 0) | (session ? 8 : 0);
    const guard = entered(this.#raw);
    const given = shared.give(
      ...[method, target, args, token, header, session?.id, session?.state],
      ...[issuer, client, subject],
    );
    return new Exchange(guard.request(given, flags, withinMs), member, this.#events);
  }

  /** Begins the exchange of a message that this side cannot read, to refuse it. */
  unreadable(): Exchange {
    return this.#transport('null');
  }

  /** Begins the exchange of a message on HTTP or stdio; `initialize` are its parameters as JSON. */
  transport(message: TransportMessage, initialize?: string): Exchange {
    return this.#transport(JSON.stringify(message), initialize);
  }

  #transport(message: string, initialize?: string): Exchange {
    const guard = entered(this.#raw, WIDE);
    const begun = guard.transport(shared.give(message, initialize));
    return new Exchange(begun, undefined, this.#events);
  }

  /** Returns the entry of the log for a mistake that this side found. */
  report(fault: Fault): Refused {
    const document = shared.cut(JSON.stringify(fault));
    const guard = entered(this.#raw, WIDE);
    return JSON.parse(shared.readUtf8(0, shared.left(guard.report(shared.give(document)))));
  }

  /** Begins the exchange that revokes every token a principal has until now. */
  revoke(principal: Principal, retainFor?: number): Exchange {
    const document = shared.cut(JSON.stringify(principal));
    const guard = entered(this.#raw, WIDE);
    return new Exchange(guard.revoke(shared.give(document), retainFor));
  }
}

/** The exchange of one message: steps and events, until its response. */
export class Exchange {
  /** The first step. */
  readonly first: Step;
  /** Its number in the module; negative once it is freed. */
  #number: number;
  readonly #member: string | undefined;
  readonly #events: boolean;
  /** When the handler's result or operation came, if events are wanted; the message came before. */
  began: number | undefined;

  /** @internal */
  constructor(begun: number, member?: string, events = false, began?: number) {
    const length = shared.left(begun);
    this.#number = shared.readNumber();
    this.#member = member;
    this.#events = events;
    this.began = began;
    this.first = this.#step(length, 4);
  }

  get isOver(): boolean {
    return this.#number < 0;
  }

  /** Reports the outcome of a step and returns the next step. `value` is JSON. */
  on(event: Event, value?: string): Step {
    if ('result' in event) this.began = this.#now();
    const document = JSON.stringify(event);
    const number = this.#live(WIDE);
    return this.#step(inside().exchangeOn(number, shared.give(document, value)));
  }

  /** Reports the caller, for which a step asks, and returns the next step. */
  principal(principal: Parts): Step {
    const [issuer, client, subject] = named(principal);
    const number = this.#live();
    const given = shared.give(issuer, client, subject);
    return this.#step(inside().exchangePrincipal(number, given, isAnonymous(principal)));
  }

  /** Reports the result of a handler and returns the next step. */
  result(result: Readonly<Record<string, unknown>>): Step {
    this.began = this.#now();
    const { resultType, cacheScope, ttlMs } = result;
    const token = this.#member === undefined ? undefined : result[this.#member];
    const members = [resultType, cacheScope, token].map(clientValue);
    const number = this.#live();
    const hasTtl = ttlMs !== undefined && ttlMs !== null;
    return this.#step(inside().exchangeResult(number, shared.give(...members), hasTtl));
  }

  /** Begins a separate exchange for an operation on a handle. `value` is its state as JSON. */
  handle(op: HandleOp, value?: string): Exchange {
    const began = this.#now();
    const document = JSON.stringify(op);
    const number = this.#live(WIDE);
    const given = shared.give(document, value && shared.cut(value));
    return new Exchange(inside().exchangeHandle(number, given), undefined, this.#events, began);
  }

  /** Seals a state, as JSON, and returns the token. */
  sealState(value: string): string {
    return this.#call(value, 0);
  }

  /** Writes the session's value, as JSON. */
  write(value: string): void {
    this.#call(value, 1);
  }

  /** Writes the value that update functions returned, as JSON. */
  update(value: string): void {
    this.#call(value, 2);
  }

  /** Returns the metadata of a new session with this session's value. */
  fork(): SessionMetadata {
    return JSON.parse(this.#call('', 3));
  }

  free(): void {
    if (this.#number < 0) return;
    core().exchangeFree(this.#number);
    this.#number = -1;
  }

  #call(value: string, what: number): string {
    const number = this.#live();
    const given = shared.give(shared.cut(value));
    return shared.readUtf8(0, shared.left(inside().exchangeCall(number, given, what)));
  }

  /** Returns what happened to tokens, which a step without a document does not hold. */
  #happened(): readonly TokenEvent[] {
    return JSON.parse(this.#call('', 4));
  }

  #now(): number | undefined {
    return this.#events ? performance.now() : undefined;
  }

  /** Returns the number to call the module with now. */
  #live(room?: number): number {
    if (this.#number >= 0) return entered(this.#number, room);
    throw invalidArgument('exchange: expected a call before the result, not after');
  }

  /** Reads what is next, as `bindings/wasm/src/exchanges.rs` writes it. */
  #step(next: number, from = 0): Step {
    const kind = shared.left(next) & 7;
    const text = kind === 1 || kind === 3 ? undefined : shared.readUtf8(from, next >>> 3);
    if (kind === 0) return JSON.parse(text as string);
    const events = this.#events && text !== undefined ? this.#happened() : undefined;
    // What is left of the time limit is for wrappers.
    if (kind < 3)
      return { step: 'deliver', opened: text, report: this.#member, withinMs: 0, events };
    const result = text === undefined ? text : { [this.#member as string]: text };
    return { step: 'respond', result, events };
  }
}

/** A value from a client that should be a text: `true` stands for any other type. */
export type ClientValue = string | true | undefined;

/**
 * Converts a value from a client or a handler. `null` counts as absent. A text is cut where the engine refuses it as too
 * large, because the module's memory never shrinks.
 */
export function clientValue(value: unknown): ClientValue {
  if (value === undefined || value === null) return undefined;
  if (!isText(value)) return true;
  const text = shared.cut(value);
  return text === value ? text : text.toWellFormed();
}

/**
 * Returns a value of a client as JSON. `JSON.parse` reads a number out of range, such as 1e400, as infinite, which
 * `JSON.stringify` writes as `null`, so that two requests would be one. It becomes a number that the engine refuses too.
 */
export function clientJson(value: unknown): string {
  const written = JSON.stringify(value);
  // A function for each member takes four times as long as the writing.
  return written.includes('null') ? JSON.stringify(value, inRange) : written;
}

function inRange(_: string, member: unknown): unknown {
  return member === Infinity || member === -Infinity ? Number.MAX_VALUE : member;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}
