import { SealwaxError } from '../error.js';
import { json } from '../input.js';
import { anonymous, type Principal, partsOf } from '../principal.js';
import type { Accept, Accepted } from './accept.js';
import type { Event, Exchange, Presented, Question, Step } from './engine.js';
import { attempt, isPromiseLike, TimeLimit } from './later.js';
import type { Known, Policy } from './policy.js';
import { tell } from './refused.js';
import type { RequestContext } from './request-context.js';

/** What one of the author's functions gave, for the engine. */
export interface Told {
  readonly event: Event;
  readonly value?: string;
  /** What it threw. */
  readonly cause?: unknown;
}

type Verdict = 'yes' | { readonly no: number };

/** Of a message, what the author's functions and the log are told. */
interface Sender {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Whoever sent one message, and what the author says of it. */
export class Caller {
  readonly policy: Policy;
  readonly limit: TimeLimit;
  readonly #context: RequestContext;
  readonly #message: Sender;
  #principal: Principal | undefined;
  #identified: Told | Promise<Told> | undefined;
  /** Applies a handler's functions to a session that somebody else wrote. */
  #again: ((value: string) => Told) | undefined;

  constructor(policy: Policy, context: RequestContext, message: Sender) {
    const known = knownOf(policy, context, message);
    this.policy = policy;
    this.limit = known?.limit ?? new TimeLimit(policy.acceptTimeout);
    this.#context = context;
    this.#message = message;
    this.#principal = known?.principal;
  }

  /** Takes what is applied to a session that somebody else writes meanwhile. */
  onUpdate(again: (value: string) => Told): void {
    this.#again = again;
  }

  /** Who it is, if that was asked for and is there. */
  get principal(): Principal | undefined {
    return this.#principal;
  }

  /** Who it is, if the author's function tells at once. Whatever else it gives, the engine asks for. */
  get principalAtOnce(): Principal | undefined {
    if (this.#principal === undefined) this.#identify();
    return this.#principal;
  }

  /**
   * Does what the engine wants of the author, until a step is for the SDK. It waits only for what
   * the author's functions give later. What was freed meanwhile is dropped.
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
        tell(this.policy, refusal, { method, principal: this.#principal, cause });
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

  /** What the author says to a step; `undefined` where it is not for the author. */
  #answer(step: Step, limit: TimeLimit): Told | Promise<Told> | undefined {
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

  /** Asks who it is, once. */
  #identify(): Told | Promise<Told> {
    this.#identified ??= attempt(
      () => this.#principal ?? this.policy.principalOf(this.#context),
      (principal) => this.#checked(principal),
      (cause) => ({ event: { principal: failed('principal', cause) }, cause }),
    );
    return this.#identified;
  }

  /** What the function told may be anything, and it is all its author's mistake. */
  #checked(principal: Principal | undefined): Told {
    try {
      if (principal === undefined || principal === null) {
        throw new TypeError('expected one, or the constant anonymous, found nobody');
      }
      partsOf(principal);
      this.#principal = principal;
      return { event: { principal } };
    } catch (error) {
      const why = (error as Error).message.replace(/^(principal: )?/, 'principal: ');
      return { event: { principal: { failed: why } } };
    }
  }

  #begin(): Told | Promise<Told> {
    const params = Object(this.#message.params);
    return attempt<unknown, Told>(
      () => this.policy.initial?.({ ...this.#context, params }),
      (first) => ({ event: { begun: {} }, value: json('initial', first) }),
      (cause) => ({ event: { begun: failed('initial', cause) }, cause }),
    );
  }

  #ask({ accept: tokens, end }: Question, limit: TimeLimit): Told | Promise<Told> {
    const { accept } = this.policy;
    if (accept === undefined) throw new TypeError('accept: expected one');
    return attempt<Verdict, Told>(
      () =>
        end === undefined
          ? this.#accepted(accept, tokens ?? [], limit)
          : this.#ended(accept, end, limit),
      (answer) => ({ event: { answer } }),
      (cause) => ({ event: { answer: { failed: 'accept: failed or was too late' } }, cause }),
    );
  }

  /** Asks of one after another, until one is not accepted. */
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

  /** Whoever presents it; nobody in particular where it is anybody's. */
  #told({ kind, id, until, public: isPublic }: Presented): Accepted {
    const principal = isPublic || this.#principal === undefined ? anonymous : this.#principal;
    return { kind, id, principal, expiresAt: until };
  }
}

/** What a wrapper has found out of it already. */
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

/** Ours says what was expected, and holds no secret; of another's nothing is known. */
function failed(name: string, cause: unknown): { readonly failed: string } {
  return { failed: cause instanceof SealwaxError ? cause.message : `${name}: the function threw` };
}
