import type { JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/server';
import type { Codec } from '../codec.js';
import { carried } from '../context.js';
import { invalidArgument, SealwaxError } from '../error.js';
import type { Carried } from '../facts.js';
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

/** One request of a protected server, from the message that comes to the one that leaves. */
export class Call {
  readonly request: JSONRPCRequest;
  /** Where it carries a token, if it does. */
  readonly carried: Carried | undefined;
  /** Those of the guard that it passes. */
  readonly checks: Checks;
  readonly #context: RequestContext;
  #asked: Promise<Who> | undefined;
  #known: Who | undefined;

  constructor(checks: Checks, request: JSONRPCRequest, context: RequestContext) {
    this.checks = checks;
    this.request = request;
    this.carried = carried(request.method);
    this.#context = context;
  }

  /** The principal, if it was asked for and is there. */
  get principal(): Principal | undefined {
    return this.#known?.principal;
  }

  /** A member of the request's parameters. */
  param(name: string): unknown {
    const params: Readonly<Record<string, unknown>> = this.request.params ?? {};
    return Object.hasOwn(params, name) ? params[name] : undefined;
  }

  /**
   * Asks who it is, once. A function that tells at once is known at once, without a turn of the
   * event loop: see {@link Call.principal}.
   *
   * @throws {@link SealwaxError} `invalid_argument` where it tells nobody, or somebody impossible
   */
  who(): Promise<Who> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  async #ask(): Promise<Who> {
    const { codec, principalOf } = this.checks.policy;
    let principal: Principal | undefined;
    try {
      const told = principalOf(this.#context);
      principal = isPromiseLike(told) ? await told : told;
    } catch (cause) {
      // Ours says what was expected, and holds no secret; of another's nothing is known.
      const why = cause instanceof SealwaxError ? cause.message : 'principal: the function threw';
      throw Object.assign(invalidArgument(why), { cause });
    }
    if (principal === undefined || principal === null) {
      throw invalidArgument("principal: expected one, or 'anonymous' by name, found nobody");
    }
    this.#known = { principal, view: viewOf(codec, principal) };
    return this.#known;
  }

  /** What answers it in the handler's stead, or in place of what it gave. */
  error(error: { readonly code: number; readonly message: string }): JSONRPCResponse {
    return { jsonrpc: '2.0', id: this.request.id, error };
  }

  /** It was answered, and the module's memory is free for others. */
  done(): void {
    this.#known?.view.free();
  }
}

/** What the function told may be anything, and it is all its author's mistake. */
function viewOf(codec: Codec, principal: Principal): View {
  try {
    return codec.view(principal);
  } catch (cause) {
    throw invalidArgument(`principal: ${cause instanceof Error ? cause.message : 'impossible'}`);
  }
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
