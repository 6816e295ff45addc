import type { JSONRPCRequest, JSONRPCResponse } from '@modelcontextprotocol/server';
import type { Answer } from '../answer.js';
import { carried } from '../context.js';
import type { Carried } from '../facts.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
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

  /** A member of the request's parameters. */
  param(name: string): unknown {
    const params: Readonly<Record<string, unknown>> = this.request.params ?? {};
    return Object.hasOwn(params, name) ? params[name] : undefined;
  }

  /** What answers it in the handler's stead, or in place of what it gave. */
  refuse(answer: Answer): JSONRPCResponse {
    if (!('error' in answer)) throw new TypeError('answer: expected a JSON-RPC error');
    return { jsonrpc: '2.0', id: this.request.id, error: answer.error };
  }
}
