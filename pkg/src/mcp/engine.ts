/**
 * The guard's engine, by the JSON documents that `docs/engine.md` defines. The code that begins an exchange
 * must free it.
 */

import { type Codec, rawCodec } from '../codec.js';
import type { Event, HandleOp, Message, Settings, Step, TransportMessage } from '../documents.js';
import { invalidArgument } from '../error.js';
import type { Begun } from '../facts.js';
import { json } from '../input.js';
import { core, entered, inside, WIDE } from '../module.js';
import type { Principal } from '../principal.js';
import type * as raw from '../raw.js';

/** The rules of a guard, for its settings. */
export class Engine {
  readonly #raw: raw.Guard;

  /** @throws {@link SealwaxError} `invalid_argument` for invalid settings */
  constructor(codec: Codec, settings: Settings) {
    const { Guard } = core(WIDE);
    this.#raw = new Guard(rawCodec(codec), json('settings', settings));
  }

  /** Begins the exchange of a message to the SDK's handlers; `args` are its arguments as JSON. */
  message(message: Message, args?: string): Exchange {
    return new Exchange(entered(this.#raw, WIDE).message(JSON.stringify(message), args));
  }

  /** Begins the exchange of a message on HTTP or stdio; `initialize` are its parameters as JSON. */
  transport(message: TransportMessage, initialize?: string): Exchange {
    return new Exchange(entered(this.#raw, WIDE).transport(JSON.stringify(message), initialize));
  }

  /** Begins the exchange of a message that this side cannot read, to refuse it. */
  unreadable(): Exchange {
    return new Exchange(entered(this.#raw, WIDE).message('null'));
  }

  /** Begins the exchange that revokes every token a principal has until now. */
  revoke(principal: Principal, retainFor?: number): Exchange {
    return new Exchange(entered(this.#raw, WIDE).revoke(JSON.stringify(principal), retainFor));
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

  /**
   * The engine's exchange, for its other calls. Their values are JSON.
   *
   * @internal
   */
  get live(): raw.Exchange {
    if (this.#raw !== undefined) return entered(this.#raw, WIDE);
    throw invalidArgument('exchange: expected a call before the result, not after');
  }

  /** Reports the result of a step and returns the next step. `value` is JSON. */
  on(event: Event, value?: string): Step {
    return JSON.parse(this.live.on(JSON.stringify(event), value));
  }

  /** Begins a separate exchange for an operation on a handle. `value` is its state as JSON. */
  handle(op: HandleOp, value?: string): Exchange {
    return new Exchange(this.live.handle(JSON.stringify(op), value));
  }

  free(): void {
    if (this.#raw === undefined) return;
    const raw = entered(this.#raw);
    this.#raw = undefined;
    raw.free();
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
  if (typeof value !== 'string' || !value.isWellFormed()) return true;
  const most = inside().most();
  return value.length > most ? value.slice(0, most).toWellFormed() : value;
}
