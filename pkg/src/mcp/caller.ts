import { SealwaxError } from '../error.js';
import { json } from '../input.js';
import { anonymous, type Principal, partsOf } from '../principal.js';
import type { Accept, Accepted } from './accept.js';
import type { Event, Exchange, Presented, Question, Step } from './engine.js';
import { attempt, isPromiseLike, TimeLimit } from './later.js';
import type { Known, Policy } from './policy.js';
import { report } from './refused.js';
import type { RequestContext } from './request-context.js';

/** The result of one of the application's functions, for the engine. */
export interface Outcome {
  readonly event: Event;
  readonly value?: string;
  /** The value that it threw. */
  readonly cause?: unknown;
}

type Verdict = 'yes' | { readonly no: number };

/** The parts of a message that the application's functions and the log receive. */
interface Sender {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The caller of one message, and the application's functions that decide on it. */
export class Caller {
  readonly policy: Policy;
  readonly limit: TimeLimit;
  readonly #context: RequestContext;
  readonly #message: Sender;
  #principal: Principal | undefined;
  #identified: Outcome | Promise<Outcome> | undefined;
  /** Applies the handler's update functions to a session that another request wrote. */
  #again: ((value: string) => Outcome) | undefined;

  constructor(policy: Policy, context: RequestContext, message: Sender) {
    const known = knownOf(policy, context, message);
    this.policy = policy;
    this.limit = known?.limit ?? new TimeLimit(policy.acceptTimeout);
    this.#context = context;
    this.#message = message;
    this.#principal = known?.principal;
  }

  /** Sets the function that is applied if another request writes the session meanwhile. */
  onUpdate(again: (value: string) => Outcome): void {
    this.#again = again;
  }

  /** The principal, once it is resolved. */
  get principal(): Principal | undefined {
    return this.#principal;
  }

  /** The principal, if the application's function returns it without a promise. The engine asks for any other. */
  get principalAtOnce(): Principal | undefined {
    if (this.#principal === undefined) this.#identify();
    return this.#principal;
  }

  /**
   * Runs the application's functions as the engine asks, and returns the first step for the SDK. It waits
   * only for promises of these functions. An exchange that is freed meanwhile is dropped.
   */
  drive(
    exchange: Exchange,
    first = exchange.first,
    limit = this.limit,
    thrown?: unknown,
  ): Step | Promise<Step> {
    let [step, cause] = [first, thrown];
    for (;;) {
      for (const refusal of step.refused ?? []) {
        const { method } = this.#message;
        report(this.policy, refusal, { method, principal: this.#principal, cause });
      }
      const told = this.#answer(step, limit);
      if (told === undefined) return step;
      if (told instanceof Promise) {
        return told.then(({ event, value, cause }) => {
          if (exchange.isOver) return { step: 'drop' };
          return this.drive(exchange, exchange.on(event, value), limit, cause);
        });
      }
      step = exchange.on(told.event, told.value);
      cause = told.cause;
    }
  }

  /** Returns the application's answer to a step; `undefined` for a step of the SDK. */
  #answer(step: Step, limit: TimeLimit): Outcome | Promise<Outcome> | undefined {
    switch (step.step) {
      case 'identify':
        return this.#identify();
      case 'ask':
        return this.#ask(step, limit);
      case 'ledger':
        return this.policy.ledgerClient?.record(step, limit);
      case 'update':
        return this.#again?.(step.value);
      case 'begin':
        return this.#begin();
      default:
        return undefined;
    }
  }

  /** Resolves the principal, once. */
  #identify(): Outcome | Promise<Outcome> {
    this.#identified ??= attempt(
      () => this.#principal ?? this.policy.principalOf(this.#context),
      (principal) => this.#checked(principal),
      (cause) => ({ event: { principal: failed('principal', cause) }, cause }),
    );
    return this.#identified;
  }

  /** Checks the principal that the function returned. Any error is the application's. */
  #checked(principal: Principal | undefined): Outcome {
    try {
      if (principal === undefined || principal === null) {
        return { event: { principal: { nobody: true } } };
      }
      const isAnonymous = partsOf(principal) === anonymous;
      if (isAnonymous && this.#context.http?.authInfo !== undefined) this.policy.warnOfUser();
      this.#principal = principal;
      return { event: { principal } };
    } catch (error) {
      const why = (error as Error).message.replace(/^(principal: )?/, 'principal: ');
      return { event: { principal: { failed: why } } };
    }
  }

  #begin(): Outcome | Promise<Outcome> {
    const params = Object(this.#message.params);
    return attempt<unknown, Outcome>(
      () => this.policy.initial?.({ ...this.#context, params }),
      (first) => ({ event: { begun: {} }, value: json('initial', first) }),
      (cause) => ({ event: { begun: failed('initial', cause) }, cause }),
    );
  }

  #ask({ accept: tokens, end }: Question, limit: TimeLimit): Outcome | Promise<Outcome> {
    const { accept } = this.policy;
    if (accept === undefined) throw new TypeError('accept: expected one');
    return attempt<Verdict, Outcome>(
      () =>
        end === undefined
          ? this.#accepted(accept, tokens ?? [], limit)
          : this.#ended(accept, end, limit),
      (answer) => ({ event: { answer } }),
      (cause) => ({ event: { answer: { failed: 'accept: failed or was too late' } }, cause }),
    );
  }

  /** Asks about one token after another, until one is not accepted. */
  #accepted(
    accept: Accept,
    tokens: readonly Presented[],
    limit: TimeLimit,
    from = 0,
  ): Verdict | Promise<Verdict> {
    for (const [at, token] of tokens.entries()) {
      if (at < from) continue;
      const said = accept.accept(this.#told(token));
      if (isPromiseLike(said)) {
        return limit
          .wait(said)
          .then((said) => (yes(said) ? this.#accepted(accept, tokens, limit, at + 1) : { no: at }));
      }
      if (!yes(said)) return { no: at };
    }
    return 'yes';
  }

  #ended(accept: Accept, token: Presented, limit: TimeLimit): Verdict | Promise<Verdict> {
    const done = accept.ended(this.#told(token));
    return isPromiseLike(done) ? limit.wait(done).then(() => 'yes') : 'yes';
  }

  /** Returns the token for `accept`; the principal of a public one is anonymous. */
  #told({ kind, id, until, public: isPublic }: Presented): Accepted {
    const principal = isPublic || this.#principal === undefined ? anonymous : this.#principal;
    return { kind, id, principal, expiresAt: until };
  }
}

/** Returns what a wrapper already knows of the request. */
function knownOf(policy: Policy, context: RequestContext, { id }: Sender): Known | undefined {
  const { req } = context.http ?? {};
  if (req !== undefined) return policy.known.get(req);
  const known = policy.knownById.get(id);
  policy.knownById.delete(id);
  return known;
}

function yes(said: unknown): boolean {
  if (typeof said !== 'boolean') throw new TypeError('accept: expected true or false');
  return said;
}

/** Uses the message of our own errors only: that of another error may contain a secret. */
function failed(name: string, cause: unknown): { readonly failed: string } {
  return { failed: cause instanceof SealwaxError ? cause.message : `${name}: the function threw` };
}
