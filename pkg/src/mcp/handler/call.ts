import type { JSONRPCResponse } from '@modelcontextprotocol/server';
import { tokenFields } from '../../context.js';
import { invalidArgument } from '../../error.js';
import type { TokenFields } from '../../facts.js';
import { json } from '../../input.js';
import { Caller, type Outcome } from '../caller.js';
import {
  type Act,
  clientValue,
  type Deliver,
  type Exchange,
  type Head,
  type Leave,
  type Step,
} from '../engine.js';
import { after } from '../later.js';
import { metadataOf, PROTOCOL_VERSION, withMetadata } from '../metadata.js';
import type { Policy } from '../policy.js';
import { quoted } from '../quoted.js';
import type { RequestContext } from '../request-context.js';
import type { Arrived, Entered, Leaving, Passing } from '../transport/intercept.js';
import { isTooDeep } from '../transport/messages.js';
import { type Remade, Session } from './session.js';

type Result = Readonly<Record<string, unknown>>;

/** One message to a protected server's handlers, until its response is sent. */
export class Call implements Passing {
  readonly policy: Policy;
  readonly caller: Caller;
  readonly #message: Arrived;
  readonly #context: RequestContext;
  /** The members that carry a token, if its method has any. */
  readonly #fields: TokenFields | undefined;
  #exchange: Exchange | undefined;
  #delivered: Deliver | undefined;
  #session: Session | undefined;
  /** The states that were sealed, as JSON, by their tokens. */
  readonly #states = new Map<string, string>();
  /** The handler's result, made again for the value that was written in the end. */
  #remade: Remade | undefined;
  #isOver = false;

  constructor(policy: Policy, message: Arrived, context: RequestContext) {
    this.policy = policy;
    this.caller = new Caller(policy, context, message);
    this.#message = message;
    this.#context = context;
    this.#fields = 'id' in message ? tokenFields(message.method) : undefined;
  }

  /** Whether it was answered or dropped. */
  get isOver(): boolean {
    return this.#isOver;
  }

  enter(): Entered | Promise<Entered> {
    const isReadable = !isTooDeep(this.#message);
    if (isReadable && this.#bringsNothing()) return { deliver: this.#opened(undefined) };
    this.#exchange = isReadable ? this.#begun() : this.policy.engine.unreadable();
    return after(this.caller.drive(this.#exchange), (step): Entered => {
      if (step.step === 'reply') return { answer: this.#replied(step) };
      if (step.step !== 'deliver') return undefined;
      this.#delivered = step;
      return { deliver: this.#opened(step.carried) };
    });
  }

  /** Whether the engine is not needed before the handler runs. */
  #bringsNothing(): boolean {
    const { param, target } = this.#fields ?? {};
    const came = param === undefined ? undefined : this.#param(param);
    return !this.policy.sessions && target === undefined && came === undefined;
  }

  /** Returns the exchange; begins it on first use. */
  #live(): Exchange {
    if (this.#exchange !== undefined) return this.#exchange;
    this.#exchange = this.#begun();
    const { first } = this.#exchange;
    if (first.step === 'deliver') return this.#exchange;
    throw new TypeError(`engine: expected to deliver what brings nothing, found ${first.step}`);
  }

  #begun(): Exchange {
    const { policy, caller } = this;
    const { method } = this.#message;
    const fields = this.#fields;
    const metadata = metadataOf(this.#message.params) ?? undefined;
    const target = fields?.target && this.#param(fields.target);
    const args = fields?.target && this.#param('arguments');
    const came = metadata !== undefined && this.#cameWith(metadata);
    // The engine will need the principal, and refuses nothing before: passing it now saves a step.
    const known =
      fields?.target !== undefined &&
      (came ? came.header === undefined : policy.sessions !== 'required');
    const document = {
      ...{ method, notification: !('id' in this.#message) },
      target: typeof target === 'string' && target.isWellFormed() ? target : undefined,
      modern: Object(this.#param('_meta'))[PROTOCOL_VERSION] !== undefined,
      carried: fields && clientValue(this.#param(fields.param)),
      ...came,
      principal: known ? caller.principalAtOnce : caller.principal,
    };
    return policy.engine.message(document, args === undefined ? undefined : JSON.stringify(args));
  }

  #cameWith(metadata: unknown) {
    const { sessionId, state } = Object(metadata);
    const header = this.#context.http?.req?.headers.get('mcp-session-id') ?? undefined;
    return { header, session: { id: clientValue(sessionId), state: clientValue(state) } };
  }

  /** Returns a member of the parameters; `undefined` for `null` too. */
  #param(name: string): unknown {
    const params: Result = this.#message.params ?? {};
    return Object.hasOwn(params, name) ? (params[name] ?? undefined) : undefined;
  }

  /** Returns the message for the handler, without its sealed state, which {@link Call.state} provides. */
  #opened(text: string | undefined): Arrived {
    const { params } = this.#message;
    const { param, kind } = this.#fields ?? {};
    if (param === undefined || params === undefined || !Object.hasOwn(params, param)) {
      return this.#message;
    }
    const { [param]: _, ...rest } = params as Result;
    const given = kind === 'cursor' && text !== undefined ? { ...rest, [param]: text } : rest;
    return { ...this.#message, params: given };
  }

  leave(response: JSONRPCResponse): Leaving | Promise<Leaving> {
    const watch = this.#delivered === undefined ? this.#fields?.result : this.#delivered.watch;
    if (!('result' in response) || watch === undefined) return response;
    const result: Result = response.result;
    const isAbsent = (member: string) => (result[member] ?? undefined) === undefined;
    if (watch !== true && isAbsent(watch)) return response;
    const left = this.#head(result);
    const exchange = this.#live();
    return after(this.caller.drive(exchange, exchange.on({ left })), (step): Leaving => {
      if (step.step === 'drop') return undefined;
      if (step.step !== 'leave') return this.#replied(step);
      const remade = this.#remade === undefined ? result : inPlaceOf(result, this.#remade);
      return { ...response, result: this.#changed(remade, step) };
    });
  }

  #head({ resultType, cacheScope, ...result }: Result): Head {
    return {
      outcome: resultType === 'input_required' ? 'input_required' : undefined,
      token: this.#fields && clientValue(result[this.#fields.result]),
      scope: typeof cacheScope === 'string' ? cacheScope : undefined,
    };
  }

  /** Applies the handler's functions to a session's value that another request wrote. */
  #again(session: Session, written: string): Outcome {
    let what = 'update';
    try {
      const value = session.again(written);
      what = 'result';
      this.#remade = session.remade();
      const updated = this.#remade === undefined ? {} : { left: this.#head(this.#remade.made) };
      return { event: { updated }, value };
    } catch (cause) {
      return { event: { updated: { failed: `${what}: the function threw` } }, cause };
    }
  }

  #changed(given: Result, leave: Leave): Result {
    let result = given;
    if (leave.token !== undefined && this.#fields !== undefined) {
      result = { ...result, [this.#fields.result]: leave.token };
    }
    if (leave.private) {
      const { cacheScope, ttlMs } = result;
      if (cacheScope !== undefined) result = { ...result, cacheScope: 'private' };
      if (ttlMs !== undefined) result = { ...result, ttlMs: 0 };
    }
    if (leave.declare) result = { ...result, ...declared(result) };
    return leave.metadata === undefined ? result : withMetadata(result, leave.metadata);
  }

  /** Returns the response that replaces the handler's. */
  #replied(step: Step): JSONRPCResponse {
    if (step.step === 'reply' && step.error !== undefined) {
      return { jsonrpc: '2.0', error: step.error };
    }
    if (step.step === 'reply' && step.tool !== undefined) {
      const { _meta, ...result } = step.tool;
      // The transport replaces the id by the client's.
      return {
        jsonrpc: '2.0',
        id: 0,
        result: { ...result, ...(_meta && { _meta: { ..._meta } }) },
      };
    }
    throw new TypeError(`engine: expected an answer to reply with, found ${step.step}`);
  }

  end(): void {
    this.#isOver = true;
    this.#exchange?.free();
  }

  /** The result of a method that the engine implements. */
  get own(): Record<string, unknown> {
    return JSON.parse(this.#delivered?.own ?? '{}');
  }

  /**
   * Returns the text of the opened state that came with this message.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a method that carries no state
   */
  state(): string | undefined {
    this.#assertState();
    return this.#delivered?.carried;
  }

  /**
   * Seals the next state and returns the token.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a method that carries no state, or a value that JSON cannot hold
   */
  sealed(value: unknown): string {
    this.#assertState();
    const written = json('state', value);
    const token = this.#live().sealState(written);
    this.#states.set(token, written);
    return token;
  }

  /** Returns the text of a state that this handler returned: as it was before it was sealed here. */
  meant(state: string): string {
    return this.#states.get(state) ?? state;
  }

  #assertState(): void {
    if (this.#fields?.kind === 'request-state') return;
    throw invalidArgument(
      `requestState: expected a request that carries one, found ${quoted(this.#message.method)}`,
    );
  }

  /** The data-layer session, if there is one and the handler may see it. */
  get session(): Session | undefined {
    const facts = this.#delivered?.session;
    if (facts === undefined || this.#exchange === undefined) return undefined;
    if (this.#session === undefined) {
      const session = new Session(this.#exchange, facts);
      this.caller.onUpdate((written) => this.#again(session, written));
      this.#session = session;
    }
    return this.#session;
  }

  /** Begins an action on a handle. `value` is JSON. */
  act(act: Act, value?: string): Exchange {
    return this.#live().act(act, value);
  }
}

/** Returns a result that was made again, with what the SDK has added to the first one. */
function inPlaceOf(sent: Result, { first, made }: Remade): Result {
  const added = Object.entries(sent).filter(([name]) => !Object.hasOwn(first, name));
  const _meta = { ...Object(sent._meta), ...Object(made._meta) };
  for (const name of Object.keys(Object(first._meta))) {
    if (!Object.hasOwn(Object(made._meta), name)) delete _meta[name];
  }
  const both = { ...Object.fromEntries(added), ...made };
  return Object.keys(_meta).length === 0 ? both : { ...both, _meta };
}

function declared({ capabilities }: Result): Result {
  const { experimental } = Object(capabilities);
  const both = { sessions: {}, experimental: { ...experimental, sessions: {} } };
  return { capabilities: { ...Object(capabilities), ...both } };
}
