/** What users are asked on a connection while their calls wait, and the server. */

import type { Parts } from '../../principal.js';
import { Caller } from '../caller.js';
import { after, attempt } from '../later.js';
import type { Policy } from '../policy.js';
import type { RequestContext } from '../request-context.js';
import type {
  ClientRequest,
  ProtocolMessage,
  RequestId,
  ServerResponse,
  Transport,
} from '../sdk-types.js';
import { newReference } from './reference.js';

interface Asked {
  /** The call that waits. */
  readonly call: RequestId;
  readonly caller: Parts;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Questions {
  readonly #policy: Policy;
  readonly #send: Transport['send'];
  /** By their ids, which no client can guess; the SDK's own are numbers. */
  readonly #asked = new Map<RequestId, Asked>();
  /** Those to the SDK, by ids that nobody else knows. */
  readonly #listing = new Map<unknown, Pick<Asked, 'call' | 'resolve' | 'reject'>>();

  constructor(policy: Policy, send: Transport['send']) {
    this.#policy = policy;
    this.#send = send;
  }

  /** Asks the user of a call that waits, and returns the result. */
  async ask(params: unknown, call: RequestId, caller: Parts): Promise<unknown> {
    const id = `sealwax:${newReference()}`;
    const answer = new Promise((resolve, reject) => {
      this.#asked.set(id, { call, caller, resolve, reject });
    });
    const request = { jsonrpc: '2.0', id, method: 'elicitation/create', params } as ProtocolMessage;
    try {
      // Both at once: the call may end before the question has left.
      const [, result] = await Promise.all([
        this.#send(request, { relatedRequestId: call }),
        answer,
      ]);
      return result;
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Asks the SDK for its own list of tools, as the client of a call that waits. */
  async list(
    { id: call, params }: ClientRequest,
    page: unknown,
    deliver: (request: ClientRequest) => void,
  ): Promise<unknown> {
    const id = `sealwax:${newReference()}`;
    const { _meta } = Object(params);
    const given = { ...Object(page), ...(_meta !== undefined && { _meta }) };
    const answer = new Promise((resolve, reject) => {
      this.#listing.set(id, { call, resolve, reject });
    });
    deliver({ jsonrpc: '2.0', id, method: 'tools/list', params: given });
    return answer;
  }

  /** Whether a response of the SDK's is that list. */
  isList(message: ServerResponse): boolean {
    const listing = this.#listing.get(message.id);
    if (listing === undefined) return false;
    this.#listing.delete(message.id);
    if ('result' in message) listing.resolve(message.result);
    else listing.reject(new ServerError());
    return true;
  }

  /** Whether a response is one to a question. */
  isAnswered(message: ServerResponse, context: RequestContext): boolean {
    const asked = message.id === undefined ? undefined : this.#asked.get(message.id);
    if (asked === undefined) return false;
    const take = () => {
      if ('result' in message) asked.resolve(message.result);
      else asked.reject(new ClientError());
    };
    if (context.http === undefined) {
      take();
      return true;
    }
    // Over HTTP another user may know the session, and answers for nobody else.
    const caller = new Caller(this.#policy, context, {});
    after(caller.identify(), () => {
      if (JSON.stringify(caller.parts) === JSON.stringify(asked.caller)) take();
    });
    return true;
  }

  /** Ends what was asked for a call that is over. */
  end(call: RequestId): void {
    for (const [id, listing] of this.#listing) {
      if (listing.call !== call) continue;
      this.#listing.delete(id);
      listing.reject(new ServerError());
    }
    for (const [id, asked] of this.#asked) {
      if (asked.call !== call) continue;
      asked.reject(new ClientError());
      const params = { requestId: id };
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params } as const;
      // A transport that is closed may throw, and its other calls have to end too.
      const nothing = () => {};
      attempt(() => this.#send(cancelled, { relatedRequestId: call }), nothing, nothing);
    }
  }
}

/** The client did not answer. */
class ClientError extends Error {}

/** The server has no list. */
class ServerError extends Error {}
