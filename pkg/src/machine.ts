/** The state machines of the module. `docs/engine.md` has the frames that they take and give. */

import { invalidArgument } from './error.js';
import type { Answer, Frame } from './memory.js';
import * as memory from './memory.js';
import { core, entered, inside } from './module.js';
import type * as raw from './raw.js';

/** The kinds of frames, as `mcp/src/machine.rs` numbers them. */
export const GUARD = 1;
export const MESSAGE = 2;
export const REVOCATION = 4;
export const REPORT = 5;
export const HANDLE = 6;
export const STORE = 7;
export const STORE_MACHINE = 8;
export const MEMORY = 9;
export const INVALID = 3;
export const HTTP = 11;
export const CONNECTION = 12;
export const LINE = 13;
export const LEAVES = 14;
export const SQLITE = 15;
export const EVENT = 16;
export const RESULT = 17;
export const PRINCIPAL = 18;
export const SEAL_STATE = 19;
export const WRITE = 20;
export const FORK = 21;
export const RUN = 22;
export const TOLD = 23;
export const IDEMPOTENCY_KEY = 24;
export const BODY = 25;
export const ANSWER = 26;
export const PIECE = 27;
export const ANSWERED = 28;
export const STEP = 32;
export const DELIVER = 33;

/** The flags of frames. */
export const NOTIFICATION = 1;
export const MODERN = 2;
export const SESSION = 4;
export const CALLER = 8;
export const ANONYMOUS = 16;
export const TTL = 32;
export const WAITS = 64;
export const DEFERS = 128;
export const ID_IN_USE = 512;
export const CAN_BE_ASKED = 1024;
export const TOO_LARGE = 2048;
export const CHANGES = 4096;

export type { Answer, Frame, Given } from './memory.js';

export class Machine {
  /** The first answer. */
  readonly first: Answer;
  /** Its number in the module; negative once it is freed. */
  #number: number;

  /** `of` is its parent. With `room` on the stack for what reads a document, see {@link entered}. */
  constructor(of: raw.Codec | Machine | undefined, frame: Frame, room?: number) {
    const parent = of instanceof Machine ? of.#live(room) : of && entered(of, room);
    if (parent === undefined) core(room);
    const given = memory.give(frame);
    const begun =
      typeof parent === 'object' ? parent.guard(given) : inside().machineNew(parent ?? -1, given);
    memory.left(begun);
    this.#number = memory.readNumber();
    this.first = memory.readAnswer(4);
  }

  get isOver(): boolean {
    return this.#number < 0;
  }

  /** Tells it something, and returns its answer. */
  tell(frame: Frame, room?: number): Answer {
    const number = this.#live(room);
    memory.left(inside().machineOn(number, memory.give(frame)));
    return memory.readAnswer(0);
  }

  free(): void {
    if (this.#number < 0) return;
    core().machineFree(this.#number);
    this.#number = -1;
  }

  /** Has it freed once nobody has it any longer: of one that lives as long as what its author holds. */
  kept(): this {
    forgotten.register(this, this.#number);
    return this;
  }

  /** Returns the number to call the module with now. */
  #live(room?: number): number {
    if (this.#number >= 0) return entered(this.#number, room);
    throw invalidArgument('exchange: expected a call before the result, not after');
  }
}

const forgotten = new FinalizationRegistry<number>((number) => inside().machineFree(number));
