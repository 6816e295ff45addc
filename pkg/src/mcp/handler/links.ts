import { invalidArgument } from '../../error.js';
import { checked, flag } from '../../input.js';
import { type Principal, partsOf } from '../../principal.js';
import { Caller } from '../caller.js';
import { type Operation, written } from '../engine.js';
import type { Policy } from '../options.js';
import { LinkRefused } from '../refusal.js';
import type { HandlerContext } from '../sdk-types.js';
import type { Handling } from './exchange.js';

/** What a link opened to. */
export interface OpenedLink<T> {
  readonly value: T;
  /** Whose it is: the caller for whom it was sealed, whoever opened it. */
  readonly principal: Principal;
  /** The id of its token, the same at every opening: 32 hex digits. */
  readonly id: string;
}

/**
 * Links of one name: texts that are safe in a URL, sealed in a handler and opened elsewhere, by whoever has them.
 *
 * Created by {@link Guard.links}.
 */
export class Links<T = unknown> {
  readonly #handle: Handling;
  readonly #policy: Policy;
  readonly #link: Omit<Operation, 'op'>;

  /** @internal */
  constructor(handle: Handling, policy: Policy, link: Omit<Operation, 'op'>) {
    this.#handle = handle;
    this.#policy = policy;
    this.#link = link;
  }

  /**
   * Seals a value for the caller, as JSON, and returns the text.
   *
   * @throws {@link HandleRefused} if the value is too large, or JSON cannot hold it
   */
  async seal(context: HandlerContext, value: T): Promise<string> {
    const { handle } = await this.#handle(context, { op: 'sealLink' }, written(value));
    return handle as string;
  }

  /**
   * Opens what came, at a route of any web framework. One that is good `once` is used up.
   *
   * @param given `consume`: false leaves it good, for a GET: mail programs and chats fetch links to preview them; `by`: the user
   * who is signed in, if nobody else may open it
   * @throws {@link LinkRefused} unless it is accepted; {@link SealwaxError} `invalid_argument` if `by` is there without a user
   */
  async open(
    link: unknown,
    given: { readonly consume?: boolean | undefined; readonly by?: Principal | undefined } = {},
  ): Promise<OpenedLink<T>> {
    if ('by' in given && (given.by ?? undefined) === undefined) {
      throw invalidArgument('by: expected the user who is signed in, found none');
    }
    const { consume = true, by } = checked(given, { consume: flag, by: principalOf });
    const op = { ...this.#link, op: 'openLink', handle: link, keep: !consume, by };
    const exchange = this.#policy.engine.link(op as Operation);
    const step = await new Caller(this.#policy).finish(exchange);
    if (step.step !== 'done') throw new LinkRefused(step.step === 'reply' ? step.status : 500);
    const { id, value = 'null', principal } = step;
    return { id, value: JSON.parse(value), principal: principal as Principal };
  }
}

function principalOf(_: string, given: unknown): Principal {
  partsOf(given);
  return given as Principal;
}
