// The server of the transcripts, on the official SDK behind a guard, and the ways to reach it.

import assert from 'node:assert/strict';

import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Guard, HandleRefused } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { once } from './once.mjs';
import { ScriptedLedger } from './transcript-ledger.mjs';
import { codecOf, file, pass } from './transcript-world.mjs';
import { envelope, messagesOf, modern, overStdio, requestOf } from './wire.mjs';

const ANYTHING = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };
const METHODS = [
  ...['tools/call', 'prompts/get', 'resources/read'],
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
];
const OWN = ['demo/play', 'demo/things/list'];
const VERSION = '2025-11-25';

/** A guard by a transcript's settings, and its server; what happens there is told of one event at a time. */
export class Stage {
  #world;
  #event;
  #guard;
  #transport;
  #sessions;
  #line;
  #ids = 0;
  #compare;
  #ledger;

  constructor(world, settings, compare) {
    this.#world = world;
    this.#compare = compare;
    const { accept, sessions, transport, ledger, ledgerOptions, ...rest } = settings;
    this.#transport = transport ?? {};
    if (ledger) this.#ledger = new ScriptedLedger(this, ledger, ledgerOptions);
    this.#guard = new Guard({
      codec: codecOf({ key: 'both' }),
      principal: () => this.#principal(),
      onRefused: ({ code, kind, message }) => {
        if (!message) throw new Error('a refusal says why');
        this.found.reported.push({ code, kind });
      },
      logger: { warn() {} },
      ...(accept && { accept: this.#accept(accept) }),
      ...(ledger && { ledger: this.#ledger, ledgerOptions: this.#ledger.options }),
      ...rest,
    });
    if (sessions) {
      const { initial, ...more } = sessions;
      const first = () => {
        this.found.asked.push('begin');
        return initial;
      };
      this.#sessions = this.#guard.sessions({
        ...more,
        ...(initial !== undefined && { initial: first }),
      });
    }
  }

  #principal() {
    const { as } = this.#event;
    this.found.asked.push('principal');
    if (as === 'thrower') throw new Error('the principal function throws');
    return file.people[as];
  }

  #accept(how) {
    const rule = once();
    return {
      accept: (token) => {
        this.found.asked.push(`accept ${token.kind}`);
        this.found.anybodys.push('anonymous' in token.principal);
        if (how === 'fails') throw new Error('accept fails');
        return how === 'once' ? rule.accept(token) : how === 'yes';
      },
      ended: (token) => {
        this.found.asked.push(`end ${token.kind}`);
        if (how === 'fails') throw new Error('accept fails');
        rule.ended(token);
      },
    };
  }

  /** Plays events, each held to what it says. */
  async play(events) {
    for (const event of events) {
      const outer = [this.#event, this.found];
      this.#compare(this.#world, event, await this.#found(event));
      [this.#event, this.found] = outer;
    }
  }

  /** What comes of an event. */
  async #found(event) {
    pass(event.after ?? 0);
    this.#ledger?.before(event);
    this.#event = event;
    const message = this.#world.resolved(event.message);
    const found = { asked: [], anybodys: [], commands: [], delivered: null, did: [], reported: [] };
    this.found = found;
    found.sent = message;
    if (event.via === 'operator') found.answered = await this.#revoked(event);
    else if (event.via === 'stdio') found.answered = await this.#onStdio(event, message);
    else found.answered = await this.#overHttp(event, message);
    return found;
  }

  async #revoked({ revoke }) {
    try {
      await this.#guard.revoke(file.people[revoke]);
      return { done: true };
    } catch (error) {
      assert.match(error.message, /^ledger/);
      return { done: false };
    }
  }

  async #overHttp(event, message) {
    const isRequest = event.via === 'request';
    const headers = this.#world.resolved(isRequest ? {} : (event.headers ?? {}));
    if (event.header) headers['mcp-session-id'] = this.#world.resolved(event.header);
    const handler = createMcpHandler(() => this.#server()).fetch;
    const fetch = isRequest ? handler : this.#guard.fetch(handler, this.#transport);
    const response = await fetch(this.#request(event, message, headers));
    const { status } = response;
    const [answer] = messagesOf(await response.text());
    await turns();
    if (isRequest) return answer ?? null;
    const session = response.headers.get('mcp-session-id');
    return {
      status,
      ...(session !== null && { headers: { 'mcp-session-id': session } }),
      ...(answer && { message: answer }),
    };
  }

  #request(event, message, headers) {
    const method = event.http ?? 'POST';
    if (method !== 'POST') return new Request('http://localhost/mcp', { method, headers });
    const body = { jsonrpc: '2.0', ...this.#identified(event, message) };
    if (event.era === 'legacy') {
      const version = event.via === 'request' && { 'mcp-protocol-version': VERSION };
      return requestOf(body, { ...version, ...headers });
    }
    const [of, theirs] = modern(body.id, body.method, body.params);
    if (body.id === undefined) delete of.id;
    return requestOf(of, { ...theirs, ...headers });
  }

  #identified(event, message) {
    if (event.notification || 'id' in message) return message;
    this.#ids += 1;
    return { id: this.#ids, ...message };
  }

  async #onStdio(event, message) {
    const { ttl, idle } = this.#transport;
    const streams = (stdin, stdout) => sessionStreams(this.#guard, { stdin, stdout, ttl, idle });
    this.#line ??= await overStdio(() => this.#server(), { streams });
    const { came, send } = this.#line;
    const sent = this.#identified(event, message);
    const params =
      event.era === 'modern'
        ? { ...sent.params, _meta: { ...envelope, ...sent.params._meta } }
        : sent.params;
    send({ ...sent, ...(params && { params }) });
    if (event.answered === null) {
      // Whatever was read before has been answered by then.
      send({ id: 'settled', method: 'ping' });
      await came.first(({ id }) => id === 'settled');
      await turns();
      return came.messages.find(({ id }) => id === sent.id && id !== undefined) ?? null;
    }
    const { id: _, ...answer } = await came.first(({ id }) => id === sent.id);
    return answer;
  }

  close() {
    return this.#line?.close();
  }

  #server() {
    const server = this.#guard.protect(
      new Server({ name: 's', version: '1' }, { capabilities: CAPABILITIES }),
    );
    // Whatever reaches a handler, also one of the SDK's own, has a context made for it.
    const { buildContext } = server;
    server.buildContext = (context, extra) => {
      if (context.mcpReq.method === this.#event.message.method) this.found.delivered ??= {};
      return buildContext.call(server, context, extra);
    };
    const run = (request, ctx) => this.#run(request, ctx);
    for (const method of METHODS) server.setRequestHandler(method, run);
    for (const method of OWN)
      server.setRequestHandler(method, { params: ANYTHING }, (params, ctx) => run({ params }, ctx));
    server.setNotificationHandler('notifications/demo', { params: ANYTHING }, () => run({}));
    return server;
  }

  /** The script of an event, and what its handler sees beside. */
  async #run({ params }, ctx) {
    const { found } = this;
    // What was negotiated is said by the header too, whether or not the client sent one.
    const { protocolVersion } = (ctx && this.#guard.negotiated(ctx)) ?? {};
    if (protocolVersion) {
      assert.equal(ctx.http.req.headers.get('mcp-protocol-version'), protocolVersion);
    }
    const state = this.#state(ctx);
    found.delivered = {
      state: typeof state === 'object' ? null : state,
      cursor: params?.cursor ?? null,
      session: this.#session(ctx),
    };
    let returned = {};
    for (const operation of this.#event.handler ?? []) {
      if (operation[0] === 'result') {
        returned = this.#sessions.of(ctx).result(resultOf);
      } else if (operation[0] === 'return') {
        returned = this.#withStates(this.#world.resolved(operation[1]), ctx);
      } else if (operation[0] === 'throw') {
        throw Object.assign(new Error("the handler's own"), { code: -32000 });
      } else found.did.push(await this.#did(operation, ctx));
    }
    await this.play(this.#event.during ?? []).catch((error) => {
      found.wrong = error;
    });
    return returned;
  }

  /** With what an author gets for a state in place of each `{"$state": value}`. */
  #withStates(value, ctx) {
    if (typeof value !== 'object' || value === null) return value;
    if ('$state' in value) return this.#guard.state(ctx, value.$state);
    if (Array.isArray(value)) return value.map((one) => this.#withStates(one, ctx));
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([name, of]) => [name, this.#withStates(of, ctx)]));
  }

  /** As the text that was sealed; `null` for none. */
  #state(ctx) {
    try {
      const state = ctx?.mcpReq.requestState();
      return typeof state === 'string' ? state : (JSON.stringify(state) ?? null);
    } catch ({ code }) {
      return { error: code };
    }
  }

  #session(ctx) {
    const session = ctx && this.#sessions?.of(ctx);
    return session ? { value: session.value ?? null, generation: session.generation } : null;
  }

  async #did([name, ...given], ctx) {
    try {
      switch (name) {
        case 'state':
          return this.#state(ctx);
        case 'session':
          return this.#session(ctx);
        case 'write':
          this.#sessions.of(ctx).write(given[0]);
          return 'ok';
        case 'update':
          this.#sessions.of(ctx).update(adding(...given));
          return 'ok';
        case 'fork':
          return this.#sessions.of(ctx).fork();
        default:
          return await this.#acted(name, given, ctx);
      }
    } catch (error) {
      if (!(error instanceof HandleRefused)) return { error: error.code };
      const { text } = error.toolResult.content[0];
      const refused = /^This handle is not valid|^Authentication required$/.test(text);
      if (error.code !== (refused ? -32602 : -32603)) throw error;
      return refused ? { refused: true } : { failed: true };
    }
  }

  async #acted(name, [type, third, ...rest], ctx) {
    const options = [third, ...rest].filter(
      (one) => one?.as || one?.maxAge || one?.selfContained || one?.once,
    );
    const { as, maxAge, selfContained, once: singleUse } = Object.assign({}, ...options);
    const [rows, baskets] = [
      this.#guard.referenceHandles(type, { maxAge }),
      this.#guard.selfContainedHandles(type, { maxAge, singleUse }),
    ];
    const value = this.#world.resolved(third);
    const made = (handle) => {
      if (as) this.#world.handles.set(as, handle.handle);
      return { handle: handle.handle };
    };
    const opened = ({ value, opened }) => ({ value, generation: opened.generation });
    switch (name) {
      case 'mint':
        return made(await rows.mint(ctx));
      case 'check':
        return made(await rows.check(ctx, value));
      case 'seal':
        return made(await baskets.seal(ctx, value));
      case 'open':
        return opened(await baskets.open(ctx, value));
      case 'renew':
        return made(await baskets.renew(ctx, await baskets.open(ctx, value), rest[0]));
      case 'end':
        await (selfContained ? baskets : rows).end(ctx, value);
        return 'ok';
      default:
        throw new Error(`no operation is named ${name}`);
    }
  }
}

/** A function for `update`: it adds to a number. */
function adding(number, { fails = false } = {}) {
  let calls = 0;
  return (value) => {
    calls += 1;
    if (fails && calls > 1) throw new Error('the function throws');
    return value + number;
  };
}

const resultOf = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** What a notification's handler does is waited for by nobody. */
async function turns() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}
