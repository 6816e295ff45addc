// A server that has everything a guard protects, for the tests. As a program it serves stdio: the
// JSON in TEST_CONFIG says how, and each event of the guard is a line of JSON on stderr.

import { inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { z } from 'zod';
import { once } from './once.mjs';

export const ISSUER = 'https://idp.example.com';

const never = new Promise(() => {});
const accepts = {
  single: once,
  throws: () => ({
    accept() {
      throw new Error('the store is down');
    },
    ended() {},
  }),
  rejects: () => ({ accept: async () => Promise.reject(new Error('down')), ended: () => {} }),
  slow: () => ({ accept: () => never, ended: () => never }),
  vague: () => ({ accept: () => 'yes', ended: () => {} }),
};

/** A guard, and a factory of servers that it protects. */
export function world(config, principal, onRefused) {
  const { keys, audience = 'https://mcp.example.com', accept, ...rest } = config;
  const { payloadLimit, sessionMaxAge } = rest;
  const guard = new Guard({
    codec: new Codec({ keys, audience, payloadLimit, sessionMaxAge }),
    principal,
    onRefused(event) {
      onRefused(event);
      if (rest.hookThrows) throw new Error('the hook is broken');
      if (rest.hookRejects) return Promise.reject(new Error('the hook is broken'));
    },
    logger: { warn: (line) => onRefused({ line }) },
    ...(accept && { accept: accepts[accept](), timeLimit: 0.2 }),
    // A busy machine is no failure of the ledger.
    ...(rest.ledger && {
      timeLimit: 20,
      ledger: rest.ledger,
      ledgerOptions: rest.ledgerOptions,
    }),
    ...(rest.ttl && { requestStateTtl: rest.ttl }),
    ...(rest.only && { only: rest.only }),
  });
  const life = rest.ttl ?? 3600;
  const [rows, baskets] = [
    guard.referenceHandles('row', { maxAge: life }),
    guard.selfContainedHandles('basket', { ttl: life, singleUse: rest.singleUse }),
  ];
  const sessions = rest.sessions && guard.sessions(sessionsOf(rest.sessions));
  const factory = () => {
    const server = testServer(guard, rows, baskets, onRefused);
    if (rest.fetch) {
      server.registerTool('negotiated', {}, (ctx) => said(guard.negotiated(ctx) ?? null));
    }
    if (sessions) withSessions(server, sessions, onRefused, rest.meet);
    return server;
  };
  return { guard, rows, baskets, factory };
}

/** What is JSON in a config, as options. */
function sessionsOf({ first = 0, fails, ...rest }) {
  if (rest.heldByServer) return rest;
  const initial = async ({ params }) => {
    if (fails) throw new Error('of a secret');
    return { count: params.from ?? first };
  };
  return { initial, ...rest };
}

/** Tools that read and write a session, and tell the log of it. */
function withSessions(server, sessions, told, meet) {
  const used = (ctx) => {
    const session = sessions.of(ctx);
    told({ ran: ctx.mcpReq.method, ulid: session?.ulid });
    return session;
  };
  const state = (session) =>
    said(session ? { value: session.value, generation: session.generation } : null);
  server.registerTool('count', {}, (ctx) => {
    const session = used(ctx);
    session.write({ count: session.value.count + 1 });
    return state(session);
  });
  // Several at once, each of which has come before any of them goes.
  server.registerTool('write_at_once', {}, async (ctx) => {
    const session = used(ctx);
    session.write({ count: session.value.count + 1 });
    await meet?.();
    return state(session);
  });
  server.registerTool('update_at_once', {}, async (ctx) => {
    const session = used(ctx);
    session.update(({ count }) => ({ count: count + 1 }));
    await meet?.();
    return state(session);
  });
  server.registerTool('read', {}, (ctx) => state(used(ctx)));
  server.registerTool('mutate', {}, (ctx) => {
    const session = used(ctx);
    session.value.count = 1000;
    return state(session);
  });
  server.registerTool('put', { inputSchema: z.object({ size: z.number() }) }, ({ size }, ctx) => {
    used(ctx).write({ filler: 'x'.repeat(size) });
    return said('put');
  });
  server.registerTool('sorry', {}, (ctx) => {
    const session = used(ctx);
    session.write({ count: session.value.count + 1 });
    throw new Error('sorry');
  });
  server.registerTool('fork', {}, (ctx) => said(used(ctx).fork()));
  server.registerTool('count_and_fork', {}, (ctx) => {
    const session = used(ctx);
    session.write({ count: session.value.count + 1 });
    return said(session.fork());
  });
  server.registerTool('late', {}, (ctx) => {
    const session = used(ctx);
    setTimeout(() => {
      try {
        session.write({});
      } catch ({ code, message }) {
        told({ late: code, message });
      }
    }, 50);
    return said('soon');
  });
  server.registerTool('meta', {}, (ctx) => {
    used(ctx).write({ count: 7 });
    return { ...said('mine'), _meta: { mine: 1 } };
  });
  server.registerResource('fail', 'fail:///1', {}, (_, ctx) => {
    used(ctx)?.write({ count: 1000 });
    throw new Error('failed');
  });
  server.server.setNotificationHandler('notifications/roots/list_changed', () => {
    told({ ran: 'notification' });
  });
}

const said = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

function testServer(guard, rows, baskets, told) {
  const server = guard.protect(
    new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { resources: {} } }),
  );
  /** First asks, then tells the state it was given. */
  const ask = (ctx, about, size = 0) => {
    told({ ran: ctx.mcpReq.method });
    const state = ctx.mcpReq.requestState();
    if (state !== undefined) return said(state);
    return inputRequired({
      requestState: guard.state(ctx, { asked: about, filler: 'x'.repeat(size) }),
    });
  };
  // A schema that rewrites: what is bound are the arguments as they came.
  const rewriting = z.object({ id: z.coerce.number(), why: z.string().default('because') });
  server.registerTool('ask', { inputSchema: rewriting }, ({ id }, ctx) => ask(ctx, id));
  server.registerTool('some', { inputSchema: rewriting }, ({ id }, ctx) => ask(ctx, id));
  server.registerTool('huge', {}, (ctx) => ask(ctx, 'much', 10_000));
  server.registerTool('notify', {}, async (ctx) => {
    await ctx.mcpReq.notify({ method: 'notifications/tools/list_changed' });
    return said('notified');
  });
  server.registerTool('raw', {}, (ctx) =>
    ctx.mcpReq.requestState() === undefined
      ? inputRequired({ requestState: 'not JSON' })
      : said(ctx.mcpReq.requestState()),
  );
  server.registerPrompt('ask', { argsSchema: z.object({ id: z.string() }) }, ({ id }, ctx) => {
    const result = ask(ctx, id);
    if (result.content === undefined) return result;
    return { messages: [{ role: 'user', content: result.content[0] }] };
  });
  server.registerResource(
    'doc',
    new ResourceTemplate('doc:///{id}', { list: undefined }),
    {},
    (uri, _, ctx) => {
      const result = ask(ctx, uri.href);
      if (result.content === undefined) return result;
      return { contents: [{ uri: uri.href, text: result.content[0].text }] };
    },
  );

  const handle = { inputSchema: z.object({ handle: z.any() }) };
  server.registerTool('mint', {}, async (ctx) => said(await rows.mint(ctx)));
  server.registerTool('check', handle, async ({ handle }, ctx) =>
    said(await rows.check(ctx, handle)),
  );
  server.registerTool('end', handle, async ({ handle }, ctx) => {
    await rows.end(ctx, handle);
    return said('ended');
  });
  const held = ({ handle, value, expiresAt, opened }) => {
    const { generation } = opened;
    return said({ handle, value, expiresAt, generation });
  };
  const value = { inputSchema: z.object({ value: z.any() }) };
  server.registerTool('hold', value, async ({ value }, ctx) =>
    held(await baskets.seal(ctx, value)),
  );
  server.registerTool('open', handle, async ({ handle }, ctx) =>
    held(await baskets.open(ctx, handle)),
  );
  server.registerTool('renew', handle, async ({ handle }, ctx) => {
    const before = await baskets.open(ctx, handle);
    return held(await baskets.renew(ctx, before, [...before.value, 'more']));
  });
  server.registerTool('drop', handle, async ({ handle }, ctx) => {
    await baskets.end(ctx, handle);
    return said('ended');
  });

  const resource = (id) => ({ uri: `doc:///${id}`, name: `doc ${id}` });
  server.server.setRequestHandler('resources/list', ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    told({ ran: 'resources/list', cursor: params?.cursor });
    return { resources: [resource(page)], ...(page < 2 && { nextCursor: `${page + 1}` }) };
  });
  server.server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [],
    nextCursor: '1',
  }));
  return server;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { user, ...config } = JSON.parse(process.env.TEST_CONFIG);
  // Not before it is needed: the clients of all stores come with it.
  if (config.ledger) config.ledger = (await import('./ledgers.mjs')).ledgerOf(config.ledger);
  const principal = user === 'nobody' ? () => undefined : () => ({ issuer: ISSUER, subject: user });
  const told = (event) => console.error(JSON.stringify(event));
  const { guard, factory } = world(config, principal, told);
  const transport =
    config.sep1359 && new StdioServerTransport(...sessionStreams(guard, config.sep1359));
  serveStdio(factory, transport ? { transport } : {});
}
