import { answer as fixed } from '../../answer.js';
import { tokenFields } from '../../context.js';
import type { DeliverStep, Fault, HandleResult, Step } from '../../documents.js';
import { invalidArgument, SealwaxError, type SealwaxErrorCode } from '../../error.js';
import type { TokenFields } from '../../facts.js';
import { json } from '../../input.js';
import { anonymous } from '../../principal.js';
import { Caller, type Peer } from '../caller.js';
import type { Exchange, Operation, UserFacts, Written } from '../engine.js';
import { reportError } from '../hooks.js';
import { after } from '../later.js';
import { Policy } from '../options.js';
import type { RequestContext } from '../principal.js';
import { HandleRefused } from '../refusal.js';
import type { ClientMessage, HandlerContext, Params, ServerResponse } from '../sdk-types.js';
import * as wire from '../transport/message.js';
import type { Negotiated } from '../transport/negotiated.js';
import { type Known, newReference, referenceIn, referenceOf, withReference } from './reference.js';
import { Session } from './session.js';

/** The message to deliver, or a response in its place; `undefined` if it was dropped. */
export type Entered = ClientMessage | ServerResponse | undefined;

type Delivered = Pick<DeliverStep, 'opened' | 'report' | 'session' | 'set' | 'whole'>;

/** A guard's options, and its requests. */
export class Handled extends Policy {
  /** Those whose handlers run, by their references. */
  readonly calls = new Map<unknown, Call>();

  /** Returns the protected request that a handler's context belongs to. */
  readonly callOf = (context: HandlerContext): Call => {
    const call = this.calls.get(referenceOf(context));
    if (call) return call;
    throw invalidArgument(
      'context: expected that of a request in progress at a server that this guard protects; ' +
        'call guard.protect(server) before it connects',
    );
  };
}

/** Performs an operation on a handle for the caller of a request; those of one type have members in common. */
export type Handling = (
  context: HandlerContext,
  op: Partial<Operation>,
  state?: Written,
) => Promise<HandleResult>;

/** One message to a protected server's handlers, until its response is sent. */
export class Call {
  readonly #policy: Handled;
  readonly #caller: Caller;
  readonly #message: ClientMessage;
  readonly #context: RequestContext;
  readonly #peer: Peer;
  /** The members that carry a token, if its method has any. */
  readonly #fields: TokenFields | undefined;
  /** What a wrapper knows of it. */
  readonly #known: Known | undefined;
  /** What names it in its handler's context. */
  readonly #reference: string;
  #exchange: Exchange | undefined;
  #delivered: Delivered | undefined;
  /** Whether it was answered or dropped. */
  isEnded = false;
  #session: Session | undefined;
  /** The states that were sealed, as JSON, by their tokens. */
  #states: Map<string, string> | undefined;
  /** The message of a fault of the server's own, which is none of the client's. */
  #fault: string | undefined;
  /** The state that {@link Call.verified} gave the SDK, as JSON. */
  #verified: string | undefined;

  constructor(policy: Handled, message: ClientMessage, context: RequestContext, peer: Peer) {
    const given = referenceIn(message.params);
    const known = policy.known.get(given);
    policy.known.delete(given);
    this.#policy = policy;
    this.#known = known;
    this.#reference = known ? (given as string) : newReference();
    const facts = { principal: known?.principal, peer, params: message.params };
    this.#caller = new Caller(policy, context, facts);
    this.#peer = peer;
    this.#message = message;
    this.#context = context;
    this.#fields = 'id' in message ? tokenFields(message.method) : undefined;
  }

  /** Runs before the handler. Without a promise the message is delivered synchronously, as the SDK's transports do. */
  enter(): Entered | Promise<Entered> {
    const { needsCaller, result: report } = this.#fields ?? {};
    if (wire.isTooDeep(this.#message) || !wire.isText(this.#message.method)) return this.refuse();
    const read = this.#read();
    // With sessions the engine checks the session first.
    if (!this.#policy.engine.defers) return this.#entered(read);
    const isPlain = read.token === undefined && read.session === undefined;
    if (isPlain && !needsCaller) return this.#deliver({ report });
    return after(needsCaller ? this.#caller.identify() : undefined, () => this.#entered(read));
  }

  /** Returns the answer to what is no message, or has the id of a request in progress. */
  refuse(idInUse = false): ServerResponse {
    const exchange = this.#policy.engine.invalid(idInUse);
    const step = this.#caller.drive(exchange) as Step;
    exchange.free();
    return replied(step);
  }

  #entered(read: wire.Arrival): Entered | Promise<Entered> {
    const exchange = this.#begun(read);
    this.#exchange = exchange;
    return after(this.#caller.drive(exchange), (step): Entered | Promise<Entered> => {
      if (step.step === 'reply') return replied(step);
      if (step.step !== 'deliver') return undefined;
      const passed = this.#deliver(step);
      if (!step.builtinResult) return passed;
      // Of a method that the engine implements.
      const complete = read.modern && { resultType: 'complete' };
      return this.leave(resultOf({ ...complete, ...JSON.parse(step.builtinResult) }));
    });
  }

  #read(): wire.Arrival {
    return wire.arrivalOf(this.#message, this.#context, this.#fields);
  }

  #begun(read: wire.Arrival): Exchange {
    const { confirms, engine } = this.#policy;
    const user = confirms && read.method.startsWith('tools/') ? this.#user() : undefined;
    const { parts } = this.#caller;
    return engine.request(read, this.#fields?.result, parts, this.#known?.withinMs, user);
  }

  #user(): UserFacts {
    const responses = wire.memberOf(this.#message, 'inputResponses');
    const { [wire.CLIENT_CAPABILITIES]: own } = Object(wire.memberOf(this.#message, '_meta'));
    const { capabilities, canBeAsked } = this.#peer;
    const said = own ?? (capabilities === undefined && this.negotiated?.clientCapabilities);
    return {
      capabilities: said ? JSON.stringify(said) : capabilities,
      responses: responses === undefined ? undefined : JSON.stringify(responses),
      canBeAsked,
    };
  }

  /**
   * Returns the message for the SDK. A state stays sealed there, so that a handler that does not ask the guard has nothing; a
   * method that carries none gets none.
   */
  #deliver(step: Delivered): ClientMessage {
    this.#delivered = step;
    const message = this.#message;
    if (!('id' in message)) return message;
    this.#policy.calls.set(this.#reference, this);
    const { params = {} } = message;
    // The SDK refuses it.
    if (!wire.isMessage(params)) return message;
    const { param = 'requestState', kind } = this.#fields ?? {};
    const { [param]: token, requestState: _, ...rest } = params;
    // An empty text is a cursor too.
    const given = wire.isText(step.opened) && { [param]: kind === 'cursor' ? step.opened : token };
    const opened = wire.changed({ ...rest, ...given }, step.set);
    return { ...message, params: withReference(opened, this.#reference) };
  }

  /**
   * Runs after the handler. Returns the response for the client; `undefined` if it was dropped. The SDK sets the HTTP
   * status of an error only during delivery, so an error is returned without a promise, and any other response if
   * possible.
   */
  leave(
    response: ServerResponse,
  ): ServerResponse | undefined | Promise<ServerResponse | undefined> {
    const { report, opened, whole } = this.#delivered ?? {};
    if ('error' in response && wire.isText(opened) && isInvalidState(response.error)) {
      this.#report('invalid_argument', NOT_VERIFIED);
    }
    if (this.#fault !== undefined && tells(response, this.#fault)) return internalError();
    if (!('result' in response) || !report) return response;
    const { result } = response;
    if (report !== true && (result[report] ?? undefined) === undefined) return response;
    const exchange = this.#live;
    return after(this.#caller.drive(exchange, exchange.result(result, whole)), (step) => {
      if (step.step === 'drop') return undefined;
      if (step.step !== 'respond') return replied(step);
      return step.set ? { ...response, result: wire.changed(result, step.set) } : response;
    });
  }

  end(): void {
    this.isEnded = true;
    this.#policy.calls.delete(this.#reference);
    this.#exchange?.free();
  }

  /** The exchange of a delivered message, which may begin only now: it brought nothing. */
  get #live(): Exchange {
    if (this.isEnded || this.#delivered === undefined) throw isOver();
    this.#exchange ??= this.#begun({ ...this.#read(), token: undefined });
    return this.#exchange;
  }

  /** What was negotiated at `initialize`, behind a wrapper. */
  get negotiated(): Negotiated | undefined {
    return this.#known?.negotiated;
  }

  /** The id of its session: of its own, or of a wrapper's. */
  get sessionId(): string | undefined {
    return this.session?.ulid ?? this.#known?.sessionId;
  }

  /** Returns its key for another service. */
  idempotencyKey(): string {
    this.#assertState();
    return this.#live.idempotencyKey();
  }

  /**
   * Seals the next state and returns the token.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a method that carries no state, or a value that JSON cannot hold
   */
  sealed(value: unknown): string {
    this.#assertState();
    const exchange = this.#live;
    let written: string | undefined;
    try {
      written = json('state', value);
      const token = exchange.sealState(written);
      this.#states ??= new Map();
      this.#states.set(token, written);
      return token;
    } catch (error) {
      if (error instanceof SealwaxError) {
        this.#report(error.code, error.message, error);
        // An argument that a state cannot be bound to is the model's to mend.
        const isOurs = written === undefined || error.code !== 'invalid_argument';
        if (isOurs) this.#fault = error.message;
      }
      throw error;
    }
  }

  /** Reports that a state could not be sealed, or not be used. */
  #report(code: SealwaxErrorCode, message: string, cause?: unknown): void {
    const { principal, parts } = this.#caller;
    const { method, target } = this.#read();
    const known = (parts === anonymous ? undefined : principal) as Fault['principal'];
    const found = { code, kind: 'request-state', message, method, target } as const;
    reportError(this.#policy, { ...found, principal: known }, cause, principal);
  }

  /** Returns the value of a state with which the SDK calls the handler: the one that came, or one that was sealed here. */
  verified(state: string): unknown {
    this.#verified = this.#unsealed(state);
    return parsed(this.#verified);
  }

  /**
   * Returns the state that the handler reads: the one that came, or, where the SDK asks for the input by itself, what the
   * handler has just returned.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a method that carries no state
   */
  opened({ mcpReq }: HandlerContext): unknown {
    this.#assertState();
    // 1.x has none.
    const came = this.#delivered?.opened === undefined ? undefined : this.#token;
    const given = mcpReq?.requestState ? mcpReq.requestState() : came;
    if (given === undefined) return undefined;
    const opened = wire.isText(given) ? this.#unsealed(given) : this.#delivered?.opened;
    const state = this.#verified ?? opened ?? undefined;
    return state === undefined ? undefined : parsed(state);
  }

  /** Returns a state as it was before it was sealed; a text of the handler's own as it is. */
  #unsealed(state: string): string {
    const came = state === this.#token ? this.#delivered?.opened : undefined;
    return came ?? this.#states?.get(state) ?? state;
  }

  get #token(): unknown {
    return this.#fields && wire.memberOf(this.#message, this.#fields.param);
  }

  #assertState(): void {
    if (this.#fields?.kind === 'request-state') return;
    const found = JSON.stringify(this.#message.method.slice(0, 64));
    throw invalidArgument(`requestState: expected a request that carries one, found ${found}`);
  }

  /** The data-layer session, if there is one and the handler may see it. */
  get session(): Session | undefined {
    const facts = this.#delivered?.session;
    if (facts) this.#session ??= new Session(this.#live, facts);
    return this.#session;
  }

  /**
   * Performs an operation on a handle for the caller. A model may pass a handle of any type, despite a schema.
   *
   * @throws {@link HandleRefused} unless it is accepted
   */
  async handle(op: Operation, state?: Written): Promise<HandleResult> {
    const step = await this.#caller.finish(this.#live.handle(op, state));
    if (step.step === 'done') return step;
    if (step.step === 'reply') throw new HandleRefused(step);
    throw isOver();
  }
}

/** Returns the value of a state; a text of the handler's own as it is. */
function parsed(state: string): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}

/** Whether the SDK made a response of an error with this message. */
function tells(response: ServerResponse, message: string): boolean {
  if ('error' in response) return response.error.message === message;
  const { isError, content } = response.result;
  return isError === true && Array.isArray(content) && Object(content[0]).text === message;
}

export function internalError(): ServerResponse {
  return { jsonrpc: '2.0', ...fixed('data-layer', { error: null }) } as ServerResponse;
}

/** Whether the SDK refused a state. */
function isInvalidState({ data }: { readonly data?: unknown }): boolean {
  return Object(data).reason === 'invalid_request_state';
}

const NOT_VERIFIED =
  'requestState: expected the SDK to pass what the guard has opened, found that its option requestState.verify refused ' +
  'it; leave the option out, and read by guard.opened(ctx)';

function isOver(): SealwaxError {
  return invalidArgument('context: expected a request in progress, found it is over');
}

/** Returns the response that replaces the handler's. */
function replied(step: Step): ServerResponse {
  if (step.step === 'reply' && step.error) return { jsonrpc: '2.0', error: step.error };
  const result = step.step === 'reply' && (step.tool ?? step.result);
  if (result) return resultOf({ ...result });
  throw new TypeError(`engine: expected an answer to reply with, found ${step.step}`);
}

/** Returns a response with a result. The transport sets the client's id. */
function resultOf(result: Params): ServerResponse {
  return { jsonrpc: '2.0', id: 0, result };
}
