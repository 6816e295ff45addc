import type { Codec } from '../codec.js';
import { invalidArgument, SealwaxError } from '../error.js';
import type { Principal } from '../principal.js';
import type { View } from '../view.js';
import type { Checks } from './checks.js';
import type { RequestContext } from './transport.js';

/** Who asks, and the codec for them. */
export interface Who {
  readonly principal: Principal;
  readonly view: View;
}

/** Tells who asks, by what is known of a request. */
export type PrincipalOf = (
  context: RequestContext,
) => Principal | undefined | PromiseLike<Principal | undefined>;

/** Whoever sent one message. */
export class Caller {
  /** Those of the guard that the message passes. */
  readonly checks: Checks;
  /** What is known of it. */
  readonly context: RequestContext;
  #asked: Promise<Who> | undefined;
  #known: Who | undefined;
  #isOver = false;

  constructor(checks: Checks, context: RequestContext) {
    this.checks = checks;
    this.context = context;
  }

  /** Who it is, if that was asked for and is there. */
  get known(): Who | undefined {
    return this.#known;
  }

  /** Whether nothing comes of it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Asks who it is, once. A function that tells at once is known at once, without a turn of the
   * event loop: see {@link Caller.known}.
   *
   * @throws {@link SealwaxError} `invalid_argument` where it tells nobody, or somebody impossible,
   * or too late
   */
  who(): Promise<Who> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  async #ask(): Promise<Who> {
    const { codec, principalOf, known } = this.checks.policy;
    let principal: Principal | undefined;
    try {
      const { req } = this.context.http ?? {};
      const told = (req && known.get(req)?.principal) ?? principalOf(this.context);
      principal = isPromiseLike(told) ? await told : told;
    } catch (cause) {
      // Ours says what was expected, and holds no secret; of another's nothing is known.
      const why = cause instanceof SealwaxError ? cause.message : 'principal: the function threw';
      throw Object.assign(invalidArgument(why), { cause });
    }
    if (principal === undefined || principal === null) {
      throw invalidArgument('principal: expected one, or the constant anonymous, found nobody');
    }
    if (this.#isOver) throw invalidArgument('request: expected one in progress, found it is over');
    this.#known = { principal, view: viewOf(codec, principal) };
    return this.#known;
  }

  /** It was answered or dropped, and the module's memory is free for others. */
  done(): void {
    this.#isOver = true;
    this.#known?.view.free();
  }
}

/** What the function told may be anything, and it is all its author's mistake. */
function viewOf(codec: Codec, principal: Principal): View {
  try {
    return codec.view(principal);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'impossible';
    throw invalidArgument(why.replace(/^(principal: )?/, 'principal: '));
  }
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
