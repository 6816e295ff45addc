/**
 * The guard's engine: `docs/engine.md` defines its frames and documents. The code that begins an
 * exchange must free it.
 */

import { type Codec, rawCodec } from '../codec.js';
import type { BrokeEvent, Fault, HandleOp, Refused, Settings, Step } from '../documents.js';
import { json } from '../input.js';
import * as machine from '../machine.js';
import * as memory from '../memory.js';
import { WIDE } from '../module.js';
import type { Parts, Principal } from '../principal.js';
import type { SessionMetadata } from '../sessions.js';
import { type Arrival, type ClientValue, clientValue } from './transport/message.js';

/** How the user of a call can be asked, and what was answered, as JSON. */
export interface UserFacts {
  readonly capabilities: string | undefined;
  readonly responses: string | undefined;
  /** Whether the server can send it a request while this one waits. */
  readonly canBeAsked: boolean;
}

type Head = Pick<Request, 'method' | 'headers'>;

/** A body, as it came or as a text. */
export type Content = string | Uint8Array;

/** The answer to what the engine asks, as JSON, or why there is none. With neither, it did not come in time. */
export interface Told {
  readonly value?: string | undefined;
  /** The code and the class of an error. */
  readonly threw?: string;
  /** What is wrong. */
  readonly wrong?: string;
  /** The value that the application's function threw. */
  readonly cause?: unknown;
}

/** Returns the flag of an anonymous caller, or the parts of any other. */
function named(principal: Parts): Pick<machine.Frame, 'texts'> & { readonly flags: number } {
  if ('anonymous' in principal) return { flags: machine.ANONYMOUS, texts: [] };
  return { flags: 0, texts: principal };
}

/** The rules of a guard, for its settings. */
export class Engine {
  /** Whether the exchange of a message that brings nothing, and needs no caller, may begin late. */
  readonly defers: boolean;
  readonly #guard: machine.Machine;

  /** @throws {@link SealwaxError} `invalid_argument` for invalid settings */
  constructor(codec: Codec, settings: Settings) {
    const frame = { kind: machine.GUARD, texts: [json('settings', settings)] };
    this.#guard = new machine.Machine(rawCodec(codec), frame, WIDE).kept();
    this.defers = this.#guard.first.flags === machine.DEFERS;
  }

  /**
   * Begins the exchange of a message to the SDK's handlers. `member` of its result may hold a token; `principal` is the caller, if
   * known; `user` is there if the guard confirms some.
   */
  request(
    { method, target, args, token, header, session, notification, modern }: Arrival,
    member: string | undefined,
    principal: Parts | undefined,
    withinMs?: number,
    user?: UserFacts,
  ): Exchange {
    let flags = (notification ? machine.NOTIFICATION : 0) | (modern ? machine.MODERN : 0);
    if (session !== undefined) flags |= machine.SESSION;
    const caller = principal && named(principal);
    if (caller !== undefined) flags |= machine.CALLER | caller.flags;
    const [issuer, client, subject] = caller?.texts ?? [];
    const texts = [method, target, args, token, issuer, client, subject];
    if ((session ?? header ?? withinMs ?? user) !== undefined) {
      texts.push(header, session?.id, session?.state, withinMs?.toString());
    }
    if (user !== undefined) {
      if (user.canBeAsked) flags |= machine.CAN_BE_ASKED;
      texts.push(user.capabilities, user.responses);
    }
    return new Exchange(this.#guard, { kind: machine.MESSAGE, flags, texts }, member);
  }

  /** Begins the exchange of a message at the SDK's handlers that is none: it cannot be read, or has an id in use. */
  invalid(idInUse: boolean): Exchange {
    const flags = idInUse ? machine.ID_IN_USE : 0;
    return this.#begin({ kind: machine.INVALID, flags, texts: [] });
  }

  /**
   * Begins the exchange of a request of HTTP: with its body if that is there, else the exchange asks for one that it needs; and
   * perhaps with its content encoding `undone`.
   */
  http({ method, headers }: Head, body?: Content, undone = false): Exchange {
    const given = ['mcp-protocol-version', 'mcp-session-id'].map((name) => single(headers, name));
    const encoding = undone ? undefined : (headers.get('content-encoding') ?? undefined);
    return this.#begin({ kind: machine.HTTP, texts: [method, ...given, encoding, body] });
  }

  /**
   * Begins the connection of one client on stdio.
   *
   * @internal
   */
  connection(): machine.Machine {
    return new machine.Machine(this.#guard, { kind: machine.CONNECTION, texts: [] }, WIDE);
  }

  /**
   * Begins the exchange of a line of the client's.
   *
   * @internal
   */
  line(connection: machine.Machine, line: Uint8Array): Exchange {
    return this.#begin({ kind: machine.LINE, texts: [line] }, connection);
  }

  /**
   * Begins the exchange of a message of the SDK's.
   *
   * @internal
   */
  leaves(connection: machine.Machine, line: string): Exchange {
    return this.#begin({ kind: machine.LEAVES, texts: [line] }, connection);
  }

  /** Begins the exchange that opens a link. */
  link(op: Operation): Exchange {
    return this.#begin({ kind: machine.HANDLE, texts: [documentOf(op)] });
  }

  /** Begins the exchange that revokes every token a principal has until now. */
  revoke(principal: Principal, retainFor?: number): Exchange {
    const document = memory.cut(JSON.stringify(principal));
    return this.#begin({ kind: machine.REVOCATION, texts: [document, retainFor?.toString()] });
  }

  #begin(frame: machine.Frame, of = this.#guard): Exchange {
    return new Exchange(of, frame, undefined, WIDE);
  }

  /** Returns the entry of the log for a mistake that this side found. */
  report(fault: Fault): Refused {
    const frame = { kind: machine.REPORT, texts: [memory.cut(JSON.stringify(fault))] };
    const report = new machine.Machine(this.#guard, frame, WIDE);
    report.free();
    return JSON.parse(report.first.text as string);
  }
}

/** Returns a header, of which there should be one. */
function single(headers: Headers, name: string): ClientValue {
  const value = headers.get(name) ?? undefined;
  return value?.includes(',') ? true : value;
}

/** The exchange of one message: steps and events, until its response. */
export class Exchange {
  /** The first step. */
  readonly first: Step;
  readonly #machine: machine.Machine;
  readonly #member: string | undefined;
  /** When the handler's result or operation came; the message came before. */
  began: number | undefined;
  /** What writing the author's value threw: why the exchange is refused. */
  cause: unknown;
  /** The bytes that belong to the last step, of HTTP and stdio. */
  text: string | undefined;

  /** @internal */
  constructor(of: machine.Machine, frame: machine.Frame, member?: string, room?: number) {
    this.#member = member;
    this.#machine = new machine.Machine(of, frame, room);
    this.first = this.#step(this.#machine.first);
  }

  get isOver(): boolean {
    return this.#machine.isOver;
  }

  /** Gives the answer to what was asked, and returns the next step. */
  told({ value, threw, wrong }: Told): Step {
    return this.#tell({ kind: machine.TOLD, texts: [value, threw, wrong] }, WIDE);
  }

  /** Reports that a delivered message broke, and returns the next step. */
  on(event: BrokeEvent): Step {
    return this.#tell({ kind: machine.EVENT, texts: [JSON.stringify(event)] }, WIDE);
  }

  /** Reports the caller, for which a step asks, and returns the next step. */
  principal(principal: Parts): Step {
    return this.#tell({ kind: machine.PRINCIPAL, ...named(principal) });
  }

  /** Reports the result of a handler, the `whole` of it if asked, and returns the next step. */
  result(result: Readonly<Record<string, unknown>>, whole = false): Step {
    this.began = performance.now();
    const { resultType, cacheScope, ttlMs } = result;
    const token = this.#member === undefined ? undefined : result[this.#member];
    const texts = [clientValue(resultType), clientValue(cacheScope), clientValue(token)];
    if (whole) texts.push(json('result', result));
    const flags = ttlMs !== undefined && ttlMs !== null ? machine.TTL : 0;
    return this.#tell({ kind: machine.RESULT, flags, texts }, whole ? WIDE : undefined);
  }

  /** Gives the body of the request, `undefined` for one that is too large, and returns the next step. */
  body(body: Content | undefined): Step {
    const flags = body === undefined ? machine.TOO_LARGE : 0;
    return this.#tell({ kind: machine.BODY, flags, texts: [body] }, WIDE);
  }

  /** Takes the head of the answer, and returns whether its body is to be told in pieces. */
  answer({ status, headers }: Response): boolean {
    const texts = ['content-type', 'mcp-session-id'].map((name) => headers.get(name) ?? undefined);
    const frame = { kind: machine.ANSWER, texts: [`${status}`, ...texts] };
    return this.#machine.tell(frame).flags === machine.CHANGES;
  }

  /** Takes a piece of the answer's body, and returns what can be sent. */
  piece(bytes: Uint8Array): string | undefined {
    return this.#machine.tell({ kind: machine.PIECE, texts: [bytes] }, WIDE).text;
  }

  /** Ends the answer, and returns the next step. */
  answered(): Step {
    this.began = performance.now();
    return this.#tell({ kind: machine.ANSWERED, texts: [] }, WIDE);
  }

  /** Begins a separate exchange for an operation on a handle, and its state. */
  handle(op: Operation, state?: Written): Exchange {
    const began = performance.now();
    const texts = [documentOf(op), state && memory.cut(state.text)];
    const frame = { kind: machine.HANDLE, texts };
    const handling = new Exchange(this.#machine, frame, undefined, WIDE);
    handling.began = began;
    handling.cause = state?.cause;
    return handling;
  }

  /** Seals a state, as JSON, and returns the token. */
  sealState(value: string): string {
    return this.#call(machine.SEAL_STATE, value) as string;
  }

  /** Returns the request's key for another service. */
  idempotencyKey(): string {
    return this.#call(machine.IDEMPOTENCY_KEY) as string;
  }

  /** Writes the session's value, as JSON. */
  write(value: string): void {
    this.#call(machine.WRITE, value);
  }

  /** Returns the metadata of a new session with this session's value. */
  fork(): SessionMetadata {
    return JSON.parse(this.#call(machine.FORK) as string);
  }

  free(): void {
    this.#machine.free();
  }

  #call(kind: number, value?: string): string | undefined {
    return this.#machine.tell({ kind, texts: [value && memory.cut(value)] }).text;
  }

  #tell(frame: machine.Frame, room?: number): Step {
    return this.#step(this.#machine.tell(frame, room));
  }

  #step({ kind, text, beside }: machine.Answer): Step {
    if (kind === machine.STEP) {
      this.text = beside;
      return JSON.parse(text as string);
    }
    const events = beside && JSON.parse(beside);
    // What is left of the time limit is for wrappers.
    if (kind === machine.DELIVER)
      return { step: 'deliver', opened: text, report: this.#member, withinMs: 0, events };
    if (text === undefined) return { step: 'respond' };
    return { step: 'respond', set: [[[this.#member as string], text]], events };
  }
}

/** An operation on a handle, which may be of any type. */
export interface Operation extends Omit<HandleOp, 'handle'> {
  readonly handle?: unknown;
}

function documentOf({ handle, ...op }: Operation): string {
  return JSON.stringify({ ...op, handle: clientValue(handle) });
}

/** An author's value as JSON. */
export interface Written {
  /** Empty for a value that JSON cannot hold, which the engine refuses. */
  readonly text: string;
  /** What writing it threw. */
  readonly cause?: unknown;
}

export function written(value: unknown): Written {
  try {
    return { text: json('value', value) };
  } catch (cause) {
    return { text: '', cause };
  }
}
