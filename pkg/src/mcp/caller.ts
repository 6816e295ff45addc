import type { AskStep, Step } from '../documents.js';
import { invalidArgument } from '../error.js';
import { json } from '../input.js';
import { anonymous, type Parts, type Principal, partsOf } from '../principal.js';
import { failed } from './cause.js';
import type { Exchange, Told } from './engine.js';
import { observe, report } from './hooks.js';
import { after, attempt, within } from './later.js';
import { answered } from './ledger/answered.js';
import type { Known, Policy } from './policy.js';
import type { RequestContext } from './request-context.js';

/** The answer to what the engine asks: the caller or another value, or why there is none. */
export type Outcome = { readonly caller: Parts } | Told;

/** The parts of a message that the application's functions and the log receive. */
interface Sender {
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The client at the other end of a message's connection. */
export interface Peer {
  /** Asks its user, by `elicitation/create`; only an answer of this caller counts. */
  elicit(params: unknown, caller: Parts): Promise<unknown>;
  /** Asks the server for a page of its own list of tools. */
  list(page: unknown): Promise<unknown>;
}

interface CallerFacts {
  readonly known?: Known | undefined;
  readonly principal?: Principal;
  readonly peer?: Peer;
}

/** The caller of one message, and the application's functions that are called for it. */
export class Caller {
  readonly policy: Policy;
  /** What a wrapper already knows of the request. */
  readonly known: Known | undefined;
  readonly #context: RequestContext;
  readonly #message: Sender;
  readonly #peer: Peer | undefined;
  /** When the message came, if events are wanted. */
  readonly #arrived: number;
  #principal: Principal | undefined;
  #parts: Parts | undefined;
  #identified: Outcome | Promise<Outcome> | undefined;

  constructor(
    policy: Policy,
    context: RequestContext,
    message: Sender,
    { known, principal, peer }: CallerFacts = {},
  ) {
    this.policy = policy;
    this.#peer = peer;
    this.known = known;
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
   * Runs the application's functions as the engine asks, and returns the first step for the SDK, or the question to what
   * carries the message. It waits only for promises of these functions. An exchange that is freed meanwhile is dropped.
   */
  drive(exchange: Exchange, step = exchange.first, cause = exchange.cause): Step | Promise<Step> {
    for (const one of step.refused ?? []) report(this.policy, one, this.#principal, cause);
    if (step.events) {
      const micros = Math.round(1000 * (performance.now() - (exchange.began ?? this.#arrived)));
      for (const one of step.events) observe(this.policy, one, micros);
    }
    const answer = step.step === 'ask' ? this.#answer(step) : undefined;
    if (answer === undefined) return step;
    return after(answer, (outcome) => {
      if (exchange.isOver) return { step: 'drop' };
      if ('caller' in outcome) return this.drive(exchange, exchange.principal(outcome.caller));
      return this.drive(exchange, exchange.told(outcome), outcome.cause);
    });
  }

  /** Returns the application's answer to a question. */
  #answer(step: AskStep): Outcome | Promise<Outcome> | undefined {
    switch (step.name) {
      case 'principal':
        this.#identified ??= this.#identify();
        return this.#identified;
      case 'ledger':
        return answered(this.policy, step);
      case 'initial':
        return this.#initial();
      case 'confirm':
        return this.#question(step);
      case 'elicit':
        return this.#asked(step, (peer) => peer.elicit(step.params, this.parts as Parts));
      case 'list_tools':
        return this.#asked(step, (peer) => peer.list(step.params));
      default:
        return undefined;
    }
  }

  #identify(): Outcome | Promise<Outcome> {
    return attempt(
      () => this.policy.principalOf(this.#context),
      (principal) => this.#checked(principal),
      failed,
    );
  }

  /** Checks the principal that the function returned. Any error is the application's. */
  #checked(principal: Principal | undefined): Outcome {
    if (principal === undefined || principal === null) {
      return { value: 'null' };
    }
    try {
      this.#parts = partsOf(principal);
      const isAnonymous = this.#parts === anonymous;
      if (isAnonymous && this.#context.http?.authInfo !== undefined) this.policy.warnOfUser();
    } catch (error) {
      // What is of the wrong type is told too; a member of the principal may throw anything.
      const told = error instanceof TypeError ? invalidArgument(error.message) : error;
      return { ...failed(told), cause: error };
    }
    this.#principal = principal;
    return { caller: this.#parts };
  }

  /** Returns the question of a confirmation, as the application's function makes it. */
  #question({ params }: AskStep): Outcome | Promise<Outcome> {
    const { name, arguments: args } = Object(params);
    return attempt<unknown, Outcome>(
      () => this.policy.questions.get(name)?.(args, this.#context),
      (question) => ({ value: json('confirm', question) }),
      failed,
    );
  }

  /** Asks on the connection that the message came by. */
  #asked(
    { name, withinMs = 0 }: AskStep,
    ask: (peer: Peer) => Promise<unknown>,
  ): Outcome | Promise<Outcome> {
    const peer = this.#peer;
    return attempt<unknown, Outcome>(
      () => peer && within(withinMs, () => ask(peer)),
      (answer) => ({ value: json(name, answer ?? null) }),
      failed,
    );
  }

  #initial(): Outcome | Promise<Outcome> {
    const params = Object(this.#message.params);
    return attempt<unknown, Outcome>(
      () => this.policy.initial?.({ ...this.#context, params }),
      (first) => ({ value: json('initial', first) }),
      failed,
    );
  }
}
