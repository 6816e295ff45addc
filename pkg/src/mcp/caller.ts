import type { AskStep, Step } from '../documents.js';
import { invalidArgument } from '../error.js';
import { json } from '../input.js';
import { anonymous, type Parts, type Principal, partsOf } from '../principal.js';
import { failed } from './cause.js';
import type { Exchange, Told } from './engine.js';
import { observe, report } from './hooks.js';
import { after, attempt, within } from './later.js';
import type { Command } from './ledger/ledger.js';
import { ANONYMOUS_BESIDE_USERS, type Policy } from './options.js';
import type { RequestContext } from './principal.js';

/** The answer to what the engine asks: the caller or another value, or why there is none. */
type Outcome = { readonly caller: Parts } | Told;

/** The client at the other end of a message's connection. */
export interface Peer {
  /** Its capabilities of `initialize`, as JSON. */
  readonly capabilities: string | undefined;
  /** Whether it can be sent a request while this one waits. */
  readonly canBeAsked: boolean;
  /** Asks its user, by `elicitation/create`; only an answer of this caller counts. */
  elicit(params: unknown, caller: Parts): Promise<unknown>;
  /** Asks the server for a page of its own list of tools. */
  list(page: unknown): Promise<unknown>;
}

interface CallerFacts {
  /** Who it is, if that is known already. */
  readonly principal?: Principal | undefined;
  readonly peer?: Peer;
  /** The parameters of the message, which the application's functions receive. */
  readonly params?: unknown;
}

/** The caller of one message, and the application's functions that are called for it. */
export class Caller {
  readonly #policy: Policy;
  readonly #context: RequestContext;
  readonly #facts: CallerFacts;
  /** When the message came. */
  readonly #arrived = performance.now();
  /** The principal, once it is resolved. */
  principal: Principal | undefined;
  #parts: Parts | undefined;
  #identified: Outcome | Promise<Outcome> | undefined;

  constructor(policy: Policy, context: RequestContext = {}, facts: CallerFacts = {}) {
    this.#policy = policy;
    this.#context = context;
    this.#facts = facts;
    this.principal = facts.principal;
  }

  /** The checked parts of the principal, once it is resolved. */
  get parts(): Parts | undefined {
    if (this.principal !== undefined) this.#parts ??= partsOf(this.principal);
    return this.#parts;
  }

  /** Resolves the principal, before an exchange asks for it. */
  identify(): Outcome | Promise<Outcome> {
    this.#identified ??= this.#resolved();
    return this.#identified;
  }

  #resolved(): Outcome | Promise<Outcome> {
    const { parts } = this;
    if (parts !== undefined) return { caller: parts };
    return attempt(
      () => this.#policy.principalOf(this.#context),
      (principal) => this.#checked(principal),
      failed,
    );
  }

  /** Checks the principal that the function returned. Any error is the application's. */
  #checked(principal: Principal | undefined): Outcome {
    if (principal === undefined || principal === null) return { value: 'null' };
    try {
      this.#parts = partsOf(principal);
      const isAnonymous = this.#parts === anonymous;
      if (isAnonymous && this.#context.http?.authInfo !== undefined)
        this.#policy.warn(ANONYMOUS_BESIDE_USERS);
    } catch (error) {
      // What is of the wrong type is told too; a member of the principal may throw anything.
      const told = error instanceof TypeError ? invalidArgument(error.message) : error;
      return { ...failed(told), cause: error };
    }
    this.principal = principal;
    return { caller: this.#parts };
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
    for (const one of step.refused ?? []) report(this.#policy, one, this.principal, cause);
    if (step.events) {
      const micros = Math.round(1000 * (performance.now() - (exchange.began ?? this.#arrived)));
      for (const one of step.events) observe(this.#policy, one, micros);
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
    const { name, params } = step;
    const policy = this.#policy;
    switch (name) {
      case 'principal':
        return this.identify();
      case 'ledger':
        return this.#recorded(step as Command);
      case 'initial':
        return told(name, () =>
          policy.initial?.({ ...this.#context, params: Object(this.#facts.params) }),
        );
      case 'confirm':
        return told(name, () => {
          const { name: tool, arguments: args } = Object(params);
          return policy.questions.get(tool)?.(args, this.#context);
        });
      case 'elicit':
        return this.#asked(step, (peer) => peer.elicit(params, this.parts as Parts));
      case 'list_tools':
        return this.#asked(step, (peer) => peer.list(params));
      default:
        return undefined;
    }
  }

  /** Asks on the connection that the message came by. */
  #asked(
    { name, withinMs = 0 }: AskStep,
    ask: (peer: Peer) => Promise<unknown>,
  ): Outcome | Promise<Outcome> {
    const { peer } = this.#facts;
    return told(name, () => (peer === undefined ? null : within(withinMs, () => ask(peer))));
  }

  /** Runs a command on the guard's ledger. A failure or a late reply never accepts a token. */
  #recorded({ script, keys, args, withinMs = 0 }: Command): Told | Promise<Told> {
    const { ledger } = this.#policy;
    return attempt<unknown, Told>(
      () => within(withinMs, () => ledger?.run({ script, keys, args, withinMs })),
      (reply) => {
        this.#policy.warnOfLedger();
        // It may be of any type.
        return { value: JSON.stringify(Array.isArray(reply) ? reply.map(String) : []) };
      },
      (error) => ({ ...failed(error), cause: undefined }),
    );
  }
}

/** Returns what a function gives, as JSON, or why there is none. */
function told(name: string, work: () => unknown): Told | Promise<Told> {
  return attempt<unknown, Told>(work, (value) => ({ value: json(name, value) }), failed);
}
