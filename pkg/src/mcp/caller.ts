import type { Event, Step } from '../documents.js';
import { invalidArgument, SealwaxError } from '../error.js';
import { json } from '../input.js';
import { anonymous, type Parts, type Principal, partsOf } from '../principal.js';
import { failure } from './cause.js';
import type { Exchange } from './engine.js';
import { observe, report } from './hooks.js';
import { after, attempt } from './later.js';
import { answered } from './ledger/answered.js';
import type { Known, Policy } from './policy.js';
import type { RequestContext } from './request-context.js';

/** The event that answers a step, or the caller. */
export type Outcome = (
  | { readonly event: Event; readonly value?: string }
  | { readonly caller: Parts }
) & {
  /** The value that the application's function threw. */
  readonly cause?: unknown;
};

/** The parts of a message that the application's functions and the log receive. */
interface Sender {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The caller of one message, and the application's functions that are called for it. */
export class Caller {
  readonly policy: Policy;
  /** What a wrapper already knows of the request. */
  readonly known: Known | undefined;
  readonly #context: RequestContext;
  readonly #message: Sender;
  /** When the message came, if events are wanted. */
  readonly #arrived: number;
  #principal: Principal | undefined;
  #parts: Parts | undefined;
  #identified: Outcome | Promise<Outcome> | undefined;

  constructor(policy: Policy, context: RequestContext, message: Sender, principal?: Principal) {
    this.policy = policy;
    this.known = knownOf(policy, context, message);
    this.#context = context;
    this.#message = message;
    this.#arrived = policy.onEvent === undefined ? 0 : performance.now();
    this.#principal = principal ?? this.known?.principal;
  }

  /** The principal, once it is resolved. */
  get principal(): Principal | undefined {
    return this.#principal;
  }

  /** The checked parts of the principal, once it is resolved. */
  get parts(): Parts | undefined {
    if (this.#principal !== undefined) this.#parts ??= partsOf(this.#principal);
    return this.#parts;
  }

  /** Resolves the principal, before an exchange asks for it. */
  identify(): Outcome | Promise<Outcome> | undefined {
    if (this.#principal === undefined) this.#identified ??= this.#identify();
    return this.#identified;
  }

  /** Drives an exchange to its last step, and frees it. */
  async finish(exchange: Exchange): Promise<Step> {
    try {
      return await this.drive(exchange);
    } finally {
      exchange.free();
    }
  }

  /**
   * Runs the application's functions as the engine asks, and returns the first step for the SDK. It waits
   * only for promises of these functions. An exchange that is freed meanwhile is dropped.
   */
  drive(exchange: Exchange, step = exchange.first, cause?: unknown): Step | Promise<Step> {
    for (const one of step.refused ?? []) report(this.policy, one, this.#principal, cause);
    if (step.events) {
      const micros = Math.round(1000 * (performance.now() - (exchange.began ?? this.#arrived)));
      for (const one of step.events) observe(this.policy, one, micros);
    }
    const outcome = this.#outcome(step);
    if (outcome === undefined) return step;
    return after(outcome, (outcome) => {
      if (exchange.isOver) return { step: 'drop' };
      const next =
        'caller' in outcome
          ? exchange.principal(outcome.caller)
          : exchange.on(outcome.event, outcome.value);
      return this.drive(exchange, next, outcome.cause);
    });
  }

  /** Returns the application's answer to a step; `undefined` for a step of the SDK. */
  #outcome(step: Step): Outcome | Promise<Outcome> | undefined {
    switch (step.step) {
      case 'identify':
        this.#identified ??= this.#identify();
        return this.#identified;
      case 'ledger':
        return answered(this.policy, step);
      case 'begin':
        return this.#begin();
      default:
        return undefined;
    }
  }

  #identify(): Outcome | Promise<Outcome> {
    return attempt(
      () => this.policy.principalOf(this.#context),
      (principal) => this.#checked(principal),
      (cause) => ({ event: { principal: failed('principal', cause) }, cause }),
    );
  }

  /** Checks the principal that the function returned. Any error is the application's. */
  #checked(principal: Principal | undefined): Outcome {
    if (principal === undefined || principal === null) {
      return { event: { principal: { nobody: true } } };
    }
    try {
      this.#parts = partsOf(principal);
      const isAnonymous = this.#parts === anonymous;
      if (isAnonymous && this.#context.http?.authInfo !== undefined) this.policy.warnOfUser();
    } catch (error) {
      // What is of the wrong type is told too; a member of the principal may throw anything.
      const told = error instanceof TypeError ? invalidArgument(error.message) : error;
      return { event: { principal: failed('principal', told) }, cause: error };
    }
    this.#principal = principal;
    return { caller: this.#parts };
  }

  #begin(): Outcome | Promise<Outcome> {
    const params = Object(this.#message.params);
    return attempt<unknown, Outcome>(
      () => this.policy.initial?.({ ...this.#context, params }),
      (first) => ({ event: { begun: {} }, value: json('initial', first) }),
      (cause) => ({ event: { begun: failed('initial', cause) }, cause }),
    );
  }
}

/** Returns what a wrapper already knows of the request. */
function knownOf(policy: Policy, context: RequestContext, { id }: Sender): Known | undefined {
  const { req } = context.http ?? {};
  if (req !== undefined) return policy.known.get(req);
  if (policy.knownById.size === 0) return undefined;
  const known = policy.knownById.get(id);
  policy.knownById.delete(id);
  return known;
}

/** Uses the message of our own errors only: that of another error may contain a secret. */
function failed(name: string, cause: unknown): { readonly failed: string } {
  if (!(cause instanceof SealwaxError)) return { failed: `${name}: ${failure(cause)}` };
  return { failed: cause.message.replace(new RegExp(`^(${name}: )?`), `${name}: `) };
}
