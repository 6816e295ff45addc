import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from '@modelcontextprotocol/server';
import { Call } from './call.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
import type { DataLayer } from './data-layer.js';
import { metadataOf } from './metadata.js';
import type { Requests } from './requests.js';
import type { Boundary, Passage, RequestContext } from './transport.js';

/** What one kind of token does at the boundary. */
export interface Gate {
  enter(call: Call): Passage | Promise<Passage>;
  leave(call: Call, response: JSONRPCResponse): JSONRPCResponse | Promise<JSONRPCResponse>;
}

/**
 * The boundary of a guard: the session of a request outside, what the request itself carries
 * inside. So a session is refused before anything of the request is looked at, and its write is
 * sealed after all else was, when it is known that the request succeeded.
 */
export class Gates implements Boundary<Call> {
  readonly #checks: Checks;
  readonly #requests: Requests;
  /** Data-layer sessions, if the author has them. */
  sessions: DataLayer | undefined;

  constructor(checks: Checks, requests: Requests) {
    this.#checks = checks;
    this.#requests = requests;
  }

  get methods(): Readonly<Record<string, (call: Call) => Record<string, unknown>>> {
    return this.sessions?.methods ?? {};
  }

  call(request: JSONRPCRequest, context: RequestContext): Call {
    return new Call(this.#checks, request, context);
  }

  enter(call: Call): Passage | Promise<Passage> {
    const passage = this.sessions?.enter(call) ?? { deliver: call.request };
    return passage instanceof Promise
      ? passage.then((passage) => this.#inside(call, passage))
      : this.#inside(call, passage);
  }

  #inside(call: Call, outside: Passage): Passage | Promise<Passage> {
    return 'answer' in outside ? outside : this.#requests.enter(call);
  }

  leave(call: Call, given: JSONRPCResponse): JSONRPCResponse | Promise<JSONRPCResponse> {
    const response = this.#scoped(call, given);
    const left = this.#requests.leave(call, response);
    return left instanceof Promise
      ? left.then((left) => this.#outside(call, left))
      : this.#outside(call, left);
  }

  /** What has a session in it is for no cache that others share. */
  #scoped(call: Call, response: JSONRPCResponse): JSONRPCResponse {
    if (!('result' in response)) return response;
    const result: Readonly<Record<string, unknown>> = response.result;
    if (result.cacheScope !== 'public') return response;
    if (!this.sessions?.has(call) && metadataOf(result) === undefined) return response;
    const ttl = result.ttlMs === undefined ? {} : { ttlMs: 0 };
    return { ...response, result: { ...result, cacheScope: 'private', ...ttl } };
  }

  #outside(call: Call, inside: JSONRPCResponse): JSONRPCResponse {
    return this.sessions?.leave(call, inside) ?? inside;
  }

  left(call: Call): void {
    this.sessions?.left(call);
    call.done();
  }

  notified(notification: JSONRPCNotification, context: RequestContext): boolean | Promise<boolean> {
    const { sessions } = this;
    return sessions?.notified(notification, () => new Caller(this.#checks, context)) ?? true;
  }

  state(call: Call): string | undefined {
    return this.#requests.state(call);
  }
}
