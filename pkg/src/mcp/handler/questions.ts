/** What users are asked on a connection while their calls wait, and the server. */

import type { Parts } from '../../principal.js';
import { Caller } from '../caller.js';
import { after, attempt } from '../later.js';
import type { Policy } from '../options.js';
import type { RequestContext } from '../principal.js';
import type { ClientRequest, RequestId, ServerResponse, Transport } from '../sdk-types.js';
import { newReference } from './reference.js';

interface Asked {
  /** The call that waits. */
  readonly call: RequestId;
  /** Whose answer counts; absent if the SDK is asked. */
  readonly caller: Parts | undefined;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Questions {
  readonly #policy: Policy;
  readonly #send: Transport['send'];
  /** By their ids, which no client can guess before it is asked; the SDK's own are numbers. */
  readonly #asked = new Map<unknown, Asked>();

  constructor(policy: Policy, send: Transport['send']) {
    this.#policy = policy;
    this.#send = send;
  }

  /** Asks the user of a call that waits, and returns the result. */
  ask({ id: call }: ClientRequest, params: unknown, caller: Parts): Promise<unknown> {
    const method = 'elicitation/create';
    return this.#answer(call, caller, (id) =>
      this.#send(
        { jsonrpc: '2.0', id, method, params: Object(params) },
        { relatedRequestId: call },
      ),
    );
  }

  /** Asks the SDK for its own list of tools, as the client of a call that waits. */
  list(
    { id: call, params }: ClientRequest,
    page: unknown,
    deliver: (request: ClientRequest) => void,
  ): Promise<unknown> {
    const { _meta } = Object(params);
    const given = { ...Object(page), ...(_meta !== undefined && { _meta }) };
    return this.#answer(call, undefined, (id) =>
      deliver({ jsonrpc: '2.0', id, method: 'tools/list', params: given }),
    );
  }

  async #answer(
    call: RequestId,
    caller: Parts | undefined,
    ask: (id: string) => unknown,
  ): Promise<unknown> {
    const id = `sealwax:${newReference()}`;
    const answer = new Promise((resolve, reject) => {
      this.#asked.set(id, { call, caller, resolve, reject });
    });
    try {
      // Both at once: the call may end before the question has left.
      const [result] = await Promise.all([answer, ask(id)]);
      return result;
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Whether a response of the SDK's is that list. */
  isList(message: ServerResponse): boolean {
    const asked = this.#asked.get(message.id);
    if (asked === undefined || asked.caller !== undefined) return false;
    take(asked, message);
    return true;
  }

  /** Whether a response is one to a question. */
  isAnswered(message: ServerResponse, context: RequestContext): boolean {
    const asked = this.#asked.get(message.id);
    if (asked?.caller === undefined) return false;
    if (context.http === undefined) {
      take(asked, message);
      return true;
    }
    // Over HTTP another user may know the session, and answers for nobody else.
    const caller = new Caller(this.#policy, context);
    after(caller.identify(), () => {
      if (JSON.stringify(caller.parts) === JSON.stringify(asked.caller)) take(asked, message);
    });
    return true;
  }

  /** Ends what was asked for a call that is over. */
  end(call: RequestId): void {
    for (const [id, asked] of this.#asked) {
      if (asked.call !== call) continue;
      asked.reject(failureOf(asked));
      if (asked.caller === undefined) continue;
      const params = { requestId: id };
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params } as const;
      // A transport that is closed may throw, and its other calls have to end too.
      const nothing = () => {};
      attempt(() => this.#send(cancelled, { relatedRequestId: call }), nothing, nothing);
    }
  }
}

function take(asked: Asked, message: ServerResponse): void {
  if ('result' in message) asked.resolve(message.result);
  else asked.reject(failureOf(asked));
}

function failureOf({ caller }: Asked): Error {
  return caller === undefined ? new ServerError() : new ClientError();
}

/** The client did not answer. */
class ClientError extends Error {}

/** The server has no list. */
class ServerError extends Error {}
