import type { JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/server';
import type { Answer } from '../answer.js';
import { carried } from '../context.js';
import { invalidArgument } from '../error.js';
import type { Carried } from '../facts.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
import { quoted } from './quoted.js';
import type { RequestContext } from './transport.js';

/** One request of a protected server, from the message that comes to the one that leaves. */
export class Call extends Caller {
  readonly request: JSONRPCRequest;
  /** Where it carries a token, if it does. */
  readonly carried: Carried | undefined;

  constructor(checks: Checks, request: JSONRPCRequest, context: RequestContext) {
    super(checks, context);
    this.request = request;
    this.carried = carried(request.method);
  }

  /** A member of the request's parameters; `null` is none. */
  param(name: string): unknown {
    const params: Readonly<Record<string, unknown>> = this.request.params ?? {};
    return Object.hasOwn(params, name) ? (params[name] ?? undefined) : undefined;
  }

  /** The request with another text as a member of its parameters, or without that member. */
  requestWith(name: string, given: string | undefined): JSONRPCRequest {
    const { params } = this.request;
    if (given === undefined && !(params && Object.hasOwn(params, name))) return this.request;
    const { [name]: _, ...rest } = params ?? {};
    return { ...this.request, params: given === undefined ? rest : { ...rest, [name]: given } };
  }

  /** @throws {@link SealwaxError} `invalid_argument` for a request that can have no state */
  assertState(): void {
    if (this.carried?.kind === 'request-state') return;
    const { method } = this.request;
    throw invalidArgument(
      `requestState: expected a request that carries one, found ${quoted(method)}`,
    );
  }

  /** What answers it in the handler's stead, or in place of what it gave. */
  refuse(answer: Answer): JSONRPCResponse {
    if (!('error' in answer)) throw new TypeError('answer: expected a JSON-RPC error');
    return { jsonrpc: '2.0', id: this.request.id, error: answer.error };
  }
}
