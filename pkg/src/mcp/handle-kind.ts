import type { View } from '../view.js';
import type { Call } from './call.js';
import type { Checks, Facts } from './checks.js';
import { HandleRefused } from './handle-refused.js';
import type { HandlerContext } from './sdk.js';

/** Knows the protected request that a handler's context belongs to. */
export type CallOf = (context: HandlerContext) => Call;

/** What the two kinds of handles have in common: `T` is what a good one opens to. */
export abstract class HandleKind<T> {
  readonly #checks: Checks;
  readonly #callOf: CallOf;
  readonly #kind: 'handle' | 'handle-state';

  constructor(checks: Checks, callOf: CallOf, kind: 'handle' | 'handle-state') {
    this.#checks = checks;
    this.#callOf = callOf;
    this.#kind = kind;
  }

  protected abstract opened(view: View, handle: string): T;
  protected abstract facts(opened: T): Facts;

  /** Makes one for whoever asks. */
  protected async made(context: HandlerContext, make: (view: View) => T): Promise<T> {
    const call = this.#callOf(context);
    try {
      const { view } = await call.who();
      return make(view);
    } catch (error) {
      throw new HandleRefused(this.#checks.unsealed('handle', call, this.#kind, error));
    }
  }

  /** Opens one that came. What a model passes may be anything, whatever a schema says. */
  protected admitted(context: HandlerContext, handle: unknown): Promise<T> {
    const call = this.#callOf(context);
    return this.#refusing(call, handle, () =>
      this.#checks.admit(
        call,
        this.#kind,
        handle,
        (view, handle) => this.opened(view, handle),
        (opened) => this.facts(opened),
      ),
    );
  }

  /**
   * Ends a handle before its time: tells the guard's `accept`, which refuses it from then on.
   * Without an `accept` nothing would remember it, so then it is an error.
   *
   * @throws {@link HandleRefused} unless it is good, and where `accept` failed
   */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    const call = this.#callOf(context);
    await this.#refusing(call, handle, () =>
      this.#checks.end(
        call,
        this.#kind,
        handle,
        (view, handle) => this.opened(view, handle),
        (opened) => this.facts(opened),
      ),
    );
  }

  async #refusing<R>(call: Call, handle: unknown, work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      throw new HandleRefused(this.#checks.refused('handle', call, this.#kind, error, handle));
    }
  }
}

/** Unix seconds as a model may read them: `2026-07-28T12:00:00Z`. */
export function readable(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
