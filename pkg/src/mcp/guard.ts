import type { Settings } from '../documents.js';
import { invalidArgument } from '../error.js';
import { checked, count, flag, optional, text, wrongClass } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { type Principal, partsOf } from '../principal.js';
import { Caller } from './caller.js';
import { type Operation, written } from './engine.js';
import { Handled, type Handling } from './handler/exchange.js';
import { ReferenceHandles, SelfContainedHandles } from './handler/handles.js';
import { Links } from './handler/links.js';
import { protect } from './handler/sdk.js';
import { DataLayerSessions } from './handler/sessions.js';
import {
  CONFIRM,
  type GuardOptions,
  HTTP,
  type HttpSessionsOptions,
  handleType,
  maxAgeOf,
  method,
  PAGE,
  type PageOptions,
  type Policy,
  type QuestionOf,
  type SessionsOptions,
  sessionsOf,
} from './options.js';
import type { AnyServer, HandlerContext } from './sdk-types.js';
import { type FetchHandler, failure, withSessions } from './transport/http.js';
import { type WrittenResponse, wrapListener } from './transport/listener.js';
import type { Negotiated } from './transport/negotiated.js';
import { listenerOf, type NodeListener, type NodeRequest } from './transport/node.js';

/** @internal */
export let policyOf: (guard: unknown) => Policy;

/**
 * Protects a server: it seals each `requestState` and `nextCursor` that the handlers return, and opens and
 * checks those that clients send back, before a handler runs.
 *
 * A `requestState` is bound to its request: the method, the target, the arguments and the caller. A cursor
 * is bound to its list and the caller, or to its list only if `cacheScope` makes the page public, because
 * caches serve such a page to every user. A refused token gets the fixed answer of its kind, and the handler
 * does not run.
 *
 * Without a `ledger` a token can be used any number of times until it expires. {@link MemoryLedger} is for
 * one process, {@link SqliteLedger} for one machine, {@link RedisLedger} for several.
 *
 * @example
 * ```js
 * import { inputRequired, McpServer } from '@modelcontextprotocol/server';
 * import { Codec, Key, KeyRing } from 'sealwax';
 * import { Guard, principalFromAuthInfo } from 'sealwax/mcp';
 *
 * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
 * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
 * const guard = new Guard({ codec, principal: principalFromAuthInfo });
 *
 * const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
 * server.registerTool('clear', {}, async (ctx) => {
 *   if (guard.opened(ctx)?.asked) return { content: [{ type: 'text', text: 'cleared' }] };
 *   return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
 * });
 * console.log(server instanceof McpServer); // true
 * ```
 */
export class Guard {
  readonly #policy: Handled;
  readonly #failed = (cause: unknown) => failure(this.#policy, cause);
  #isProtecting = false;

  static {
    policyOf = (guard) => {
      if (!(guard instanceof Guard)) throw wrongClass('guard', 'Guard', guard);
      return guard.#policy;
    };
  }

  /** @throws `TypeError` for a missing option or one of the wrong type; {@link SealwaxError} */
  constructor(given: GuardOptions) {
    this.#policy = new Handled(given);
  }

  /**
   * Protects a server of either major of the SDK and returns it. Call it before the server connects; a factory that creates a
   * server for each request protects each of them. What it throws is logged too, because `createMcpHandler` answers 500 to
   * what its factory throws, and says nothing.
   *
   * The handlers get the sealed `requestState`, which says nothing to them: {@link Guard.opened} reads it.
   *
   * @throws {@link SealwaxError} `invalid_argument` for one that is connected, that another guard protects, or that is none
   */
  protect<S extends AnyServer>(server: S): S {
    protect(server, this.#policy);
    this.#isProtecting = true;
    return server;
  }

  /**
   * Revokes every token that a principal has until now. A user who signs in within the ledger's clock tolerance
   * after it (5 seconds by default) has to sign in again. `ledger_unconfirmed` is logged if no replica of the
   * store confirmed it.
   *
   * @param retainFor how many seconds the ledger keeps the record: at least the longest lifetime of the
   * service's tokens, now or later; 400 days by default, longer than anything lives
   * @throws {@link SealwaxError} `invalid_argument` without a ledger; an `Error` if the ledger did not record it
   */
  async revoke(principal: Principal, retainFor?: number): Promise<void> {
    partsOf(principal);
    const exchange = this.#policy.engine.revoke(principal, optional(count, 'retainFor', retainFor));
    const step = await new Caller(this.#policy, {}, { principal }).finish(exchange);
    if (step.step !== 'done') throw new Error(step.refused?.at(-1)?.message);
  }

  /**
   * Seals a value and returns the token: the `requestState` of `inputRequired`, in a handler of a protected server.
   * {@link Guard.opened} returns the value in the next request.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, in a method that carries
   * no `requestState`, and for a value that JSON cannot hold; `too_large`, `entropy_unavailable`
   */
  state(context: HandlerContext, value: unknown): string {
    return this.#policy.callOf(context).sealed(value);
  }

  /**
   * Returns the value of {@link Guard.state} from the round before, opened and checked; `undefined` in the first. A state that
   * is a text of your own comes back as it is. For clients of revisions before 2026-07-28 the SDK asks for the input by itself
   * and calls the handler again, within one request: then this is what the handler has just sealed.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, and in a method that carries no
   * `requestState`
   */
  opened<T = unknown>(context: HandlerContext): T | undefined {
    return this.#policy.callOf(context).opened(context) as T | undefined;
  }

  /**
   * Is the option `requestState.verify` of a server of 2.x, for handlers that read `ctx.mcpReq.requestState()`: so it gives
   * what {@link Guard.opened} does. Nobody else calls it.
   *
   * @throws {@link SealwaxError} as {@link Guard.opened}
   */
  readonly verify = (state: string, context: HandlerContext): unknown =>
    this.#policy.callOf(context).verified(state);

  /**
   * Returns a key for an API that does a thing once for each, such as in the header `Idempotency-Key`: 32 letters and digits, the
   * same at every retry of a request, different for every user, confirmation and state. A call without a confirmation or a
   * `requestState` has the same key whenever it is made again with the same arguments.
   *
   * @throws {@link SealwaxError} `invalid_argument` as {@link Guard.opened}
   */
  idempotencyKey(context: HandlerContext): string {
    return this.#policy.callOf(context).idempotencyKey();
  }

  /**
   * Returns the id of the session, to key rows of your own: verified, and the same for the session's whole life. It is that of a
   * data-layer session, or of `Mcp-Session-Id` behind {@link Guard.fetch} and its like; `undefined` for a request without.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  sessionId(context: HandlerContext): string | undefined {
    return this.#policy.callOf(context).sessionId;
  }

  /**
   * Runs a tool only for a call that its user confirmed: the handler needs no code for it. A client of 2026-07-28 that elicits
   * is asked by `input_required`, an earlier one by `elicitation/create` on its connection, one that shows the pages of servers
   * (MCP Apps) by a card; for others the tool does not run.
   * The confirmation is bound to user, tool, arguments and question, and counts for ten minutes; with a `ledger` it counts once.
   *
   * @param tool its name
   * @param question a text, with arguments of the call in braces, as JSON; `{{` is a brace. Or a function that makes it
   * @param options.fallback what becomes of a call whose user cannot be asked: `refuse`, the default; or `preview`, the model asks
   * and brings the answer, which proves no consent
   * @throws {@link SealwaxError} `invalid_argument` for a question with other braces, and after `protect`
   *
   * @example
   * ```js
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   * guard.confirm('delete_note', 'Delete note {id}?');
   * guard.confirm('empty', async ({ folder }) => `Delete all notes in ${JSON.stringify(folder)}?`);
   * console.log(guard instanceof Guard); // true
   * ```
   */
  confirm<Arguments = Readonly<Record<string, unknown>>>(
    tool: string,
    question: string | QuestionOf<Arguments>,
    options: { readonly fallback?: 'refuse' | 'preview' | undefined } = {},
  ): this {
    const isText = typeof question === 'string';
    if (!isText) method('question', question, 'a text or a function');
    const facts = { ...(isText && { message: question }), ...checked(options, CONFIRM) };
    this.#confirms({ confirm: { ...this.#policy.settings.confirm, [text('tool', tool)]: facts } });
    if (!isText) this.#policy.questions.set(tool, question as QuestionOf);
    return this;
  }

  /**
   * Runs each tool that the server's own `tools/list` marks as destructive as {@link Guard.confirm} does: each one unless its
   * annotations have a `readOnlyHint` of true or a `destructiveHint` of false. The user is asked `Run {tool} with {arguments}?`.
   *
   * @param options.fallback as that of {@link Guard.confirm}
   * @throws {@link SealwaxError} `invalid_argument` after `protect`
   */
  confirmDestructive(options: { readonly fallback?: 'refuse' | 'preview' | undefined } = {}): this {
    this.#confirms({ confirmDestructive: checked(options, CONFIRM) });
    return this;
  }

  #confirms(more: Settings): void {
    if (this.#isProtecting) throw invalidArgument('confirm: expected before guard.protect(server)');
    this.#policy.add(more);
    this.#policy.confirms = true;
  }

  /**
   * Adds data-layer sessions to every server that is protected afterwards: the capability, the method
   * `sessions/create`, and one value for each session. `sessions/delete` needs a `ledger`;
   * without one the method does not exist.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a second call, or one after `protect`
   */
  sessions<T = unknown>(given: SessionsOptions<T>): DataLayerSessions<T> {
    const { initial, ...sessions } = sessionsOf(given);
    if (this.#isProtecting || this.#policy.settings.sessions) {
      throw invalidArgument('sessions: expected once, and before guard.protect(server)');
    }
    this.#policy.add({ sessions });
    this.#policy.initial = initial;
    return new DataLayerSessions<T>(this.#policy.callOf);
  }

  /**
   * Adds sessions of the revisions up to 2025-11-25 to a stateless handler, such as `fetch` of
   * `createMcpHandler`. The response to `initialize` carries an `Mcp-Session-Id` that holds the negotiated
   * values, and each later request sends it, to any replica. Requests of revision 2026-07-28 pass unchanged.
   *
   * A request without it gets 400. A refused one gets 404, so that the client starts a new session. `DELETE`
   * ends the session if there is a `ledger`; otherwise it gets 405.
   *
   * No replica holds a connection to the client. In these revisions a tool therefore cannot call the client
   * while it runs (elicitation, sampling, roots); in 2026-07-28 it returns `inputRequired` instead. The server
   * can send notifications only within a response.
   */
  fetch(handler: FetchHandler, given: HttpSessionsOptions = {}): FetchHandler {
    const wrap = this.#sessionsOf(given);
    method('handler', handler);
    return wrap(handler);
  }

  /** Checks settings, and returns what wraps a handler. */
  #sessionsOf(given: HttpSessionsOptions): (handler: FetchHandler) => FetchHandler {
    const engine = this.#policy.transport(checked(given, HTTP));
    return (handler) => withSessions(handler, this.#policy, engine);
  }

  /**
   * Makes a listener of Node's HTTP, or a handler of Express, of a handler of web-standard requests. It reads a request once,
   * and hands the message over, where the SDK's `toNodeHandler` has it read again. `request.auth` is the `authInfo`, and
   * `request.body` the message, if others set them before.
   *
   * @example
   * ```js
   * import { createServer } from 'node:http';
   * import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   * const notes = () => guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
   *
   * const listener = guard.node(guard.fetch(createMcpHandler(notes).fetch));
   * console.log(createServer(listener).listening); // false
   * ```
   */
  node(handler: FetchHandler): NodeListener {
    method('handler', handler);
    return listenerOf(handler, this.#failed);
  }

  /**
   * Adds to a listener of Node's HTTP, or a handler of Express, what {@link Guard.fetch} adds to a handler of web-standard
   * requests: for the transports of `@modelcontextprotocol/sdk`. The listener finds the message in `request.body`.
   *
   * @example
   * ```js
   * import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
   * import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   *
   * const listener = guard.listener(async (request, response) => {
   *   const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
   *   const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
   *   await server.connect(transport);
   *   await transport.handleRequest(request, response, request.body);
   * });
   * console.log(typeof listener); // function
   * ```
   */
  // Those of the framework, where TypeScript finds them out.
  // biome-ignore lint/suspicious/noExplicitAny: Express tells a handler's types by overloads, which are no inference
  listener<From extends NodeRequest = any, To extends WrittenResponse = any>(
    listener: (request: From, response: To) => unknown,
    given: HttpSessionsOptions = {},
  ): (request: From, response: To) => Promise<void> {
    method('listener', listener);
    return wrapListener(listener, this.#sessionsOf(given), this.#failed);
  }

  /**
   * Returns the values negotiated at `initialize`, in a handler behind {@link Guard.fetch}; `undefined` for a
   * request without such a session.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  negotiated(context: HandlerContext): Negotiated | undefined {
    return this.#policy.callOf(context).negotiated;
  }

  /**
   * Returns the reference handles of a type, each the key of a row. The type is a lowercase letter, then up to 31
   * lowercase letters or digits.
   *
   * @param given `maxAge`: the lifetime of a handle in seconds; by default that of its key
   */
  referenceHandles(
    type: string,
    given: { readonly maxAge?: number | undefined } = {},
  ): ReferenceHandles {
    const times = checked(given, { maxAge: maxAgeOf });
    return new ReferenceHandles(this.#handling({ type: handleType(type), ...times }));
  }

  /**
   * Returns the self-contained handles of a type, which hold their state.
   *
   * @param given `ttl`: the lifetime of each handle in seconds, 24 hours by default; `maxAge`: the maximum age
   * of the first and all its successors; `singleUse`: a handle can be renewed once, which needs a `ledger`
   */
  selfContainedHandles<T = unknown>(
    type: string,
    given: {
      readonly ttl?: number | undefined;
      readonly maxAge?: number | undefined;
      readonly singleUse?: boolean | undefined;
    } = {},
  ): SelfContainedHandles<T> {
    const checks = { ttl: checkTtl, maxAge: maxAgeOf, singleUse: flag };
    const { singleUse: once, ...times } = checked(given, checks);
    const common = { type: handleType(type), once, ...times, selfContained: true };
    return new SelfContainedHandles<T>(this.#handling(common));
  }

  /**
   * Returns the links of a name: a lowercase letter, then up to 31 lowercase letters or digits. Any replica seals and opens them.
   *
   * @param given `ttl`: the lifetime of each in seconds, 24 hours by default; `once`: each is good once, which needs a `ledger`
   *
   * @example
   * ```js
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard, LinkRefused } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
   * const reports = guard.links('report', { ttl: 900 });
   * // In a tool: `https://mcp.example.com/reports/${await reports.seal(ctx, { id: 7 })}`. At its route:
   * await reports.open('no link').catch((error) => console.log(error instanceof LinkRefused, error.status)); // true 404
   * ```
   */
  links<T = unknown>(
    name: string,
    given: { readonly ttl?: number | undefined; readonly once?: boolean | undefined } = {},
  ): Links<T> {
    const link = { type: handleType(name), ...checked(given, { ttl: checkTtl, once: flag }) };
    return new Links<T>(this.#handling(link), this.#policy, link);
  }

  #handling(common: Partial<Operation>): Handling {
    return (context, op, state) =>
      this.#policy.callOf(context).handle({ ...common, ...op } as Operation, state);
  }

  /**
   * Returns a cursor for the result of a tool: the next call has it in the argument `cursor`, and {@link Guard.position} opens it
   * there, for the same user, tool and other arguments.
   *
   * @param position where the next page begins, as JSON
   * @param given as {@link Guard.position}; `ttl`: its lifetime in seconds, 24 hours by default
   * @throws {@link HandleRefused} for arguments that nothing can be bound to, and a position that is too large or no JSON
   */
  async cursor(
    context: HandlerContext,
    position: unknown,
    given: PageOptions & { readonly ttl?: number | undefined } = {},
  ): Promise<string> {
    const { argument: type = 'cursor', ...more } = checked(given, { ...PAGE, ttl: checkTtl });
    const op = { ...more, op: 'cursor', type } as const;
    const { handle } = await this.#policy.callOf(context).handle(op, written(position));
    return handle as string;
  }

  /**
   * Returns the position of the cursor that a call of a tool brought; `undefined` for the first page. What no guard could have made
   * is the first page too: models fill in every argument that they know of.
   *
   * @throws {@link HandleRefused} for a cursor that was altered, has expired, or is of another user, tool, call or list
   */
  async position<T = unknown>(
    context: HandlerContext,
    given: PageOptions = {},
  ): Promise<T | undefined> {
    const { argument: type = 'cursor', list } = checked(given, PAGE);
    const { value } = await this.#policy.callOf(context).handle({ op: 'position', type, list });
    return value && JSON.parse(value);
  }
}
