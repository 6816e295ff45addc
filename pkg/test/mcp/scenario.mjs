// The scenario server of this language: tests/driver/run.py says what it is told, and what it says. Its argument is a package
// of the SDK's first major, in place of the second.

import { createServer as listen } from 'node:http';
import { createServer as listenForLines } from 'node:net';
import { createInterface } from 'node:readline';

import { anonymous, Codec } from 'sealwax';
import { Guard, HandleRefused, LinkRefused, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { first, second } from './majors.mjs';
import { exchanges, initSync } from './node_modules/sealwax/dist/esm/raw.js';

const [former] = process.argv.slice(2);
const sdk = former ? await first(former) : await second();
/** Of tokens, session ids and handles; an id that is logged is shorter. */
const TOKEN = /[\w-]{40}|basket_/;

const say = (said) => process.stdout.write(`${JSON.stringify(said)}\n`);
let now;
Date.now = () => now * 1000;

/** A guard by a transcript's settings, and its server. */
class Stage {
  codec;
  #guard;
  #transport;
  #sessions;
  #ledger;
  #tools;
  who;
  method;

  constructor({ keys, audience, anonymous: nobody, settings }) {
    const { sessions, transport, ledger, ledgerOptions, confirm = {}, ...given } = settings;
    const { confirmDestructive, tools, ...rest } = given;
    this.#tools = tools;
    this.#transport = transport ?? {};
    if (ledger) this.#ledger = new ScriptedLedger(ledger, ledgerOptions);
    this.codec = new Codec({ keys, audience, payloadLimit: 4096 });
    this.#guard = new Guard({
      codec: this.codec,
      principal: nobody ? () => anonymous : () => this.#principal(),
      onRefused: ({ code, kind, message, ...more }) => {
        if (!message) throw new Error('a refusal says why');
        if (TOKEN.test(JSON.stringify([message, more]))) throw new Error('a token is told');
        say({ reported: { code, kind } });
      },
      onEvent: ({ event, kind, keyId, age }) =>
        say({ happened: [event, kind, keyId, age].filter((one) => one !== undefined).join(' ') }),
      logger: { warn() {} },
      ...(ledger && { ledger: this.#ledger, ledgerOptions: this.#ledger.options }),
      ...rest,
    });
    for (const [tool, { message, words, fallback }] of Object.entries(confirm)) {
      const made = () => {
        say({ asked: 'confirm' });
        if (words === null) throw new Error("the question's function throws");
        return words;
      };
      this.#guard.confirm(tool, message ?? made, { fallback });
    }
    if (confirmDestructive === true) this.#guard.confirmDestructive();
    else if (confirmDestructive) this.#guard.confirmDestructive(confirmDestructive);
    if (!sessions) return;
    const { initial, ...more } = sessions;
    const first = () => {
      say({ asked: 'begin' });
      return initial;
    };
    this.#sessions = this.#guard.sessions({
      ...more,
      ...(initial !== undefined && { initial: first }),
    });
  }

  #principal() {
    say({ asked: 'principal' });
    if (this.who === 'thrower') throw new Error('the principal function throws');
    return this.who ?? undefined;
  }

  at({ forgets, lost }) {
    this.#ledger?.before(forgets, lost);
  }

  async revoke(whom) {
    try {
      await this.#guard.revoke(whom.anonymous ? anonymous : whom);
      return true;
    } catch (error) {
      if (!/^ledger/.test(error.message)) throw error;
      return false;
    }
  }

  /** Returns a listener of HTTP. */
  serve(path) {
    const served = () => this.#server();
    return path === '/plain'
      ? sdk.plain(served)
      : sdk.wrapped(served, this.#guard, this.#transport);
  }

  async onLines(socket) {
    const { ttl, idle } = this.#transport;
    const streams = await sessionStreams(this.#guard, { stdin: socket, stdout: socket, ttl, idle });
    return sdk.onLines(() => this.#server(), streams);
  }

  #server() {
    const run = (params, ctx, method) =>
      method === 'tools/list' && method !== this.method
        ? this.#listed(params)
        : this.#run({ params }, ctx);
    return this.#guard.protect(sdk.server(run));
  }

  /** Returns a page of the server's own list. */
  #listed({ cursor = '' } = {}) {
    const page = this.#tools[cursor];
    if (page === undefined) throw new Error('there is no list');
    return page;
  }

  /** Does what it is told, and sees what its request holds. */
  async #run({ params }, ctx) {
    // What was negotiated is said by the header too, whether or not the client sent one.
    const { protocolVersion } = (ctx && this.#guard.negotiated(ctx)) ?? {};
    const header = ctx && sdk.header(ctx, 'mcp-protocol-version');
    if (protocolVersion && protocolVersion !== header) throw new Error(`the header says ${header}`);
    const state = this.#state(ctx);
    // Before anything else asks for the session.
    const sessionId = (ctx && this.#guard.sessionId(ctx)) ?? null;
    for await (const { do: name, given, options, result } of waiting({
      state: typeof state === 'object' ? null : state,
      cursor: params?.cursor ?? null,
      arguments: params?.arguments,
      session: this.#session(ctx),
    })) {
      if (name === 'return') return this.#withStates(result, ctx);
      if (name === 'throw') throw Object.assign(new Error("the handler's own"), { code: -32000 });
      if (name === 'sessionId') say({ done: sessionId });
      else say({ done: await this.#did(name, given, options, ctx) });
    }
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
      const state = ctx && this.#guard.opened(ctx);
      return typeof state === 'string' ? state : (JSON.stringify(state) ?? null);
    } catch ({ code }) {
      return { error: code };
    }
  }

  #session(ctx) {
    const session = ctx && this.#sessions?.of(ctx);
    return session ? { value: session.value ?? null, generation: session.generation } : null;
  }

  async #did(name, given, options, ctx) {
    try {
      return await this.#operate(name, given, options, ctx);
    } catch (error) {
      if (error instanceof LinkRefused) {
        return error.status === 404 ? { refused: true } : { failed: true };
      }
      if (!(error instanceof HandleRefused)) return { error: error.code };
      const { text } = error.toolResult.content[0];
      const refused = /^This |^Authentication required$|^Invalid arguments/.test(text);
      if (error.code !== (refused ? -32602 : -32603)) throw error;
      return refused ? { refused: true } : { failed: true };
    }
  }

  async #operate(name, [first, value, next], options, ctx) {
    switch (name) {
      case 'state':
        return this.#state(ctx);
      case 'idempotencyKey':
        return this.#guard.idempotencyKey(ctx);
      case 'session':
        return this.#session(ctx);
      case 'write':
        this.#sessions.of(ctx).write(first);
        return 'ok';
      case 'fork':
        return this.#sessions.of(ctx).fork();
    }
    const { ttl, once, keep, argument, list, ...by } = options;
    switch (name) {
      case 'link':
        return { handle: await this.#guard.links(first, { ttl, once }).seal(ctx, value) };
      case 'follow': {
        const reports = this.#guard.links(first);
        const { value: held, principal } = await reports.open(value, { consume: !keep, ...by });
        return { value: held, principal };
      }
      case 'cursor':
        return { handle: await this.#guard.cursor(ctx, first, { argument, list, ttl }) };
      case 'position':
        return { position: (await this.#guard.position(ctx, { argument, list })) ?? null };
    }
    const { maxAge, selfContained, once: singleUse } = options;
    const rows = this.#guard.referenceHandles(first, { maxAge });
    const baskets = this.#guard.selfContainedHandles(first, { maxAge, singleUse });
    switch (name) {
      case 'mint':
        return handle(await rows.mint(ctx));
      case 'check':
        return handle(await rows.check(ctx, value));
      case 'mintShort':
        return { handle: await rows.mintShort(ctx, value) };
      case 'checkShort':
        return { value: await rows.checkShort(ctx, value) };
      case 'seal':
        return handle(await baskets.seal(ctx, value));
      case 'open': {
        const { value: held, opened } = await baskets.open(ctx, value);
        return { value: held, generation: opened.generation };
      }
      case 'renew':
        return handle(await baskets.renew(ctx, await baskets.open(ctx, value), next));
      case 'end':
        await (selfContained ? baskets : rows).end(ctx, value);
        return 'ok';
      default:
        throw new Error(`no operation is named ${name}`);
    }
  }
}

const handle = ({ handle }) => ({ handle });

/** The package's own ledger in memory, whose answers may be lost. */
class ScriptedLedger {
  #memory;
  #fails;
  #lost = {};

  constructor(kind, { since = 3600, local = true, acceptIssuedSince: age, ...options } = {}) {
    this.#fails = kind === 'failing';
    now -= since;
    this.#memory = new MemoryLedger();
    now += since;
    this.local = local;
    this.options = { ...options, ...(age !== undefined && { acceptIssuedSince: now - age }) };
  }

  before(forgets, lost) {
    if (forgets) this.#memory = new MemoryLedger();
    this.#lost = { ...this.#lost, ...lost };
  }

  async run(command) {
    const { script } = command;
    // When it is opened is the SDK's.
    if (script !== 'open') {
      say({ commands: script });
      if (this.#fails) throw new Error('the store is down');
    }
    const reply = this.#memory.run(command);
    if (!this.#lost[script]) return reply;
    this.#lost[script] -= 1;
    throw new Error('the answer is lost');
  }
}

/** The handlers that wait to be told. */
const handlers = new Map();
let ids = 0;

async function* waiting(seen) {
  ids += 1;
  const id = ids;
  try {
    let told = new Promise((tell) => handlers.set(id, tell));
    say({ handler: { id, ...seen } });
    while (true) {
      const next = await told;
      told = new Promise((tell) => handlers.set(id, tell));
      yield next;
    }
  } finally {
    handlers.delete(id);
  }
}

let stage;
const http = listen((request, response) => stage.serve(request.url)(request, response)).listen(
  0,
  '127.0.0.1',
);
const lines = listenForLines((socket) => stage.onLines(socket)).listen(0, '127.0.0.1');
await Promise.all([http, lines].map((server) => new Promise((on) => server.on('listening', on))));
say({
  http: http.address().port,
  lines: lines.address().port,
  events: true,
  ...(former && { systems: [former], legacy: { [former]: sdk.revision } }),
});

const doing = {
  async serve(told) {
    // A request that is over has freed its exchange in the module's memory.
    for (let turn = 0; exchanges() > 0 && turn < 50; turn += 1) await new Promise(setImmediate);
    if (exchanges() > 0)
      throw new Error(`${exchanges()} exchanges are left of the last transcript`);
    now = told.now;
    stage = new Stage(told);
  },
  at: (told) => {
    now = told.now;
    stage.who = told.who;
    stage.method = told.method;
    stage.at(told);
  },
  revoke: ({ whom }) => stage.revoke(whom),
  keys: ({ keys }) => stage.codec.setKeys(keys),
  async heap() {
    for (let turn = 0; turn < 3; turn += 1) {
      globalThis.gc();
      // Finalisers run between turns of the event loop.
      await new Promise(setImmediate);
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    // How far the module's memory is filled: the highest of some new allocations.
    const module = initSync();
    const taken = Array.from({ length: 16 }, () => module.__wbindgen_malloc(1024, 1));
    for (const at of taken) module.__wbindgen_free(at, 1024, 1);
    const { byteLength } = module.memory.buffer;
    return { heap: heapUsed + arrayBuffers, module: byteLength, filled: Math.max(...taken) };
  },
  /** What a notification's handler does is waited for by nobody. */
  async settle() {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  },
};
for await (const line of createInterface(process.stdin)) {
  const told = JSON.parse(line);
  if (told.to !== undefined) handlers.get(told.to)(told);
  else say({ done: (await doing[told.do](told)) ?? null });
}
process.exit();
