/** The guard around a transport of the SDK, where every message of a server comes in and leaves. */

import { invalidArgument } from '../../error.js';
import { quietly } from '../../log.js';
import type { Peer } from '../caller.js';
import { reportError } from '../hooks.js';
import { attempt, isPromiseLike } from '../later.js';
import type { RequestContext } from '../principal.js';
import type * as sdk from '../sdk-types.js';
import { cancelled } from '../transport/message.js';
import { headersOf } from '../transport/request.js';
import { Call, type Entered, type Handled, internalError } from './exchange.js';
import { Questions } from './questions.js';

/** The guards of low-level servers. */
const protectors = new WeakMap<object, Handled>();

/** Guards the transports that a server connects to, from their start on. */
export function protect(server: sdk.AnyServer, policy: Handled): void {
  const { server: low = server } = Object(server) as { server?: sdk.AnyServer };
  if (protectors.get(low) === policy) return;
  const expected = expectedOf(low);
  if (expected !== undefined) {
    const error = invalidArgument(`server: expected ${expected}`);
    const message = `protect: ${error.message}`;
    reportError(policy, { kind: 'request-state', message }, error);
    throw error;
  }
  const { connect } = low;
  low.connect = (transport: sdk.Transport) => {
    // If the server is already connected, the SDK throws.
    if (!isConnected(low)) new GuardedTransport(transport, policy).attach();
    return connect.call(low, transport as never);
  };
  protectors.set(low, policy);
}

/** Returns what was expected of a server, if it cannot be protected. */
function expectedOf(server: sdk.AnyServer): string | undefined {
  if (typeof server?.connect !== 'function') {
    return 'an McpServer or a Server of @modelcontextprotocol/server or @modelcontextprotocol/sdk';
  }
  if (protectors.has(server)) return 'one that no other guard protects';
  return isConnected(server) ? 'one not connected yet; protect it before connect' : undefined;
}

function isConnected(server: object): boolean {
  return (server as { transport?: unknown }).transport !== undefined;
}

class GuardedTransport {
  readonly #transport: sdk.Transport;
  readonly #policy: Handled;
  readonly #send: sdk.Transport['send'];
  #deliver: sdk.Transport['onmessage'];
  /** The requests that are not answered or dropped yet. No two of them have one id: the SDK pairs by it too. */
  readonly #pending = new Map<sdk.RequestId, Call>();

  readonly #questions: Questions;
  /** What the client said at `initialize`, as JSON. */
  #capabilities: string | undefined;

  constructor(transport: sdk.Transport, policy: Handled) {
    this.#transport = transport;
    this.#policy = policy;
    this.#send = transport.send.bind(transport);
    this.#questions = new Questions(policy, this.#send);
  }

  /** Stands between the transport and the server that is connected to it next. */
  attach(): void {
    const transport = this.#transport;
    const { start } = transport;
    transport.start = () => {
      this.#listen();
      return start.call(transport);
    };
    transport.send = (message, options) => this.#sent(message, options);
  }

  #listen(): void {
    const transport = this.#transport;
    const { onclose, onmessage } = transport;
    this.#deliver = onmessage;
    // Nothing that a client sends throws into the host.
    transport.onmessage = (message, extra) => {
      try {
        this.#arrived(message, extra);
      } catch (error) {
        this.#failed(error);
        if ('method' in message && 'id' in message) this.#respond(message.id, internalError());
      }
    };
    transport.onclose = () => {
      try {
        onclose?.();
      } finally {
        for (const [id, call] of this.#pending) this.#end(id, call);
      }
    };
  }

  #arrived(message: sdk.ProtocolMessage, extra?: sdk.MessageExtra) {
    const context = contextOf(this.#transport, extra);
    if (!('method' in message)) {
      if (!this.#questions.isAnswered(message, context)) this.#deliver?.(message, extra);
      return;
    }
    const { method, params } = message;
    if (method === 'initialize') this.#capabilities = JSON.stringify(params?.capabilities);
    const call = new Call(this.#policy, message, context, this.#peerOf(message, extra));
    if ('id' in message) this.#request(message, call, extra);
    else this.#notification(message, call, extra);
  }

  #peerOf(message: sdk.ClientMessage, extra: sdk.MessageExtra = {}): Peer {
    const isHttp = extra.request !== undefined || extra.requestInfo !== undefined;
    return {
      capabilities: this.#capabilities,
      // One that serves a single request over HTTP has no session, and no way back.
      canBeAsked: !isHttp || this.#transport.sessionId !== undefined,
      elicit: (params, caller) => this.#questions.ask(message as sdk.ClientRequest, params, caller),
      list: (page) =>
        this.#questions.list(message as sdk.ClientRequest, page, (asked) =>
          this.#deliver?.(asked, extra),
        ),
    };
  }

  #request({ id }: sdk.ClientRequest, call: Call, extra?: sdk.MessageExtra) {
    if (this.#pending.has(id)) return this.#respond(id, call.refuse(true));
    this.#pending.set(id, call);
    const pass = (entered: Entered) => {
      // The request was dropped while it waited.
      if (call.isEnded) return call.end();
      if (entered === undefined) this.#end(id, call);
      else if ('method' in entered) this.#deliver?.(entered, extra);
      else this.#answer(id, call, entered);
    };
    attempt(
      () => call.enter(),
      pass,
      (error) => {
        this.#failed(error);
        if (!call.isEnded) this.#answer(id, call, internalError());
      },
    );
  }

  #notification(message: sdk.ClientNotification, call: Call, extra?: sdk.MessageExtra): void {
    const pass = (entered: Entered) => {
      call.end();
      if (entered === undefined || !('method' in entered)) return;
      // The SDK does not answer what it cancels.
      const id = cancelled(message) as sdk.RequestId;
      const dropped = this.#pending.get(id);
      if (dropped) this.#end(id, dropped);
      this.#deliver?.(entered, extra);
    };
    const failed = (error: unknown) => {
      call.end();
      this.#failed(error);
    };
    attempt(() => call.enter(), pass, failed);
  }

  /** Sends a message of the SDK. */
  async #sent(message: sdk.ProtocolMessage, options?: unknown): Promise<void> {
    const isResponse = 'result' in message || ('error' in message && message.id !== undefined);
    if (!isResponse) return this.#send(message, options);
    if (this.#questions.isList(message as sdk.ServerResponse)) return;
    const id = message.id as sdk.RequestId;
    const call = this.#pending.get(id);
    // The response to a dropped request, which could not be sealed any more.
    if (call === undefined) return;
    let isSent = false;
    try {
      const leaving = call.leave(message);
      const left = isPromiseLike(leaving) ? await leaving : leaving;
      if (left === undefined || call.isEnded) return;
      isSent = true;
      this.#end(id, call);
      await this.#send({ ...left, id }, options);
    } catch (error) {
      this.#failed(error);
      // Its result has a getter that throws, or more levels than JSON can be written of; or nothing can be sent.
      if (isSent || !call.isEnded) this.#answer(id, call, internalError());
    }
  }

  #answer(id: sdk.RequestId, call: Call, response: sdk.ServerResponse): void {
    this.#end(id, call);
    this.#respond(id, response);
  }

  #respond(id: sdk.RequestId, response: sdk.ServerResponse): void {
    attempt(
      () => this.#send({ ...response, id }),
      () => {},
      (error) => this.#failed(error),
    );
  }

  #end(id: sdk.RequestId, call: Call): void {
    if (call.isEnded) return;
    this.#pending.delete(id);
    this.#questions.end(id);
    call.end();
  }

  #failed(error: unknown): void {
    quietly(() => this.#transport.onerror?.(error as Error));
  }
}

/** Returns what the principal's function gets. The request of 1.x is made of its headers, if somebody asks for it. */
function contextOf({ sessionId }: sdk.Transport, extra: sdk.MessageExtra = {}): RequestContext {
  const { authInfo, request, requestInfo } = extra;
  if (!authInfo && !request && !requestInfo) return { sessionId };
  let made = request;
  const http = {
    authInfo,
    get req(): Request | undefined {
      const { url = 'http://localhost', headers = {} } = requestInfo ?? {};
      made ??= requestInfo && new Request(url, { headers: headersOf(headers) });
      return made;
    },
  };
  return { sessionId, http };
}
