// A server that has everything a guard protects, for the tests. As a program it serves stdio: the
// JSON in TEST_CONFIG says how, and each event of the guard is a line of JSON on stderr.

import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { z } from 'zod';

export const ISSUER = 'https://idp.example.com';

const never = new Promise(() => {});
/** Ledgers that fail. */
const failing = {
  throws() {
    throw new Error('the store is down');
  },
  rejects: () => Promise.reject(new Error('down')),
  slow: () => never,
  vague: () => 'yes',
};

/** A guard, and a factory of servers that it protects. */
export function world(config, principal, onRefused) {
  const { keys, audience = 'https://mcp.example.com', fails, memory, ...rest } = config;
  const guard = new Guard({
    codec: new Codec({ keys, audience }),
    principal,
    onRefused(event) {
      onRefused(event);
      if (rest.hookThrows) throw new Error('the hook is broken');
      if (rest.hookRejects) return Promise.reject(new Error('the hook is broken'));
    },
    logger: { warn: (line) => onRefused({ line }) },
    ...(fails && { ledger: { run: failing[fails] }, timeLimit: 0.2 }),
    // A busy machine is no failure of the ledger.
    ...((rest.ledger || memory) && {
      timeLimit: 20,
      ledger: rest.ledger ?? new MemoryLedger(),
      ledgerOptions: rest.ledgerOptions,
    }),
  });
  const [rows, baskets] = [
    guard.referenceHandles('row', { maxAge: 3600 }),
    guard.selfContainedHandles('basket', { ttl: 3600, singleUse: rest.singleUse }),
  ];
  const initial = () => {
    if (rest.sessions.fails) throw new Error('of a secret');
    return { count: 0 };
  };
  const sessions = rest.sessions && guard.sessions({ initial });
  const factory = () => {
    const server = testServer(guard, rows, baskets);
    if (rest.fetch) {
      server.registerTool('negotiated', {}, (ctx) => said(guard.negotiated(ctx) ?? null));
    }
    if (sessions) withSessions(server, sessions, rest.meet);
    return server;
  };
  return { guard, factory };
}

/** Tools that read and write a session. */
function withSessions(server, sessions, meet) {
  const state = ({ value, generation }) => said({ value, generation });
  // Several at once, each of which has come before any of them goes.
  server.registerTool('write_at_once', {}, async (ctx) => {
    const session = sessions.of(ctx);
    session.write({ count: session.value.count + 1 });
    await meet?.();
    return state(session);
  });
  server.registerTool('read', {}, (ctx) => state(sessions.of(ctx)));
  server.registerTool('mutate', {}, (ctx) => {
    const session = sessions.of(ctx);
    session.value.count = 1000;
    return state(session);
  });
  server.registerTool('meta', {}, (ctx) => {
    sessions.of(ctx).write({ count: 7 });
    return { ...said('mine'), _meta: { mine: 1 } };
  });
}

const said = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

function testServer(guard, rows, baskets) {
  const server = guard.protect(new McpServer({ name: 'test', version: '1.0.0' }));
  // A schema that rewrites: what is bound are the arguments as they came.
  const rewriting = z.object({ id: z.coerce.number(), why: z.string().default('because') });
  server.registerTool('ask', { inputSchema: rewriting }, ({ id }, ctx) => {
    const state = guard.opened(ctx);
    if (state !== undefined) return said(state);
    return inputRequired({ requestState: guard.state(ctx, { asked: id }) });
  });
  server.registerTool('notify', {}, async (ctx) => {
    await ctx.mcpReq.notify({ method: 'notifications/tools/list_changed' });
    return said('notified');
  });
  server.registerTool('raw', {}, (ctx) =>
    guard.opened(ctx) === undefined
      ? inputRequired({ requestState: 'not JSON' })
      : said(guard.opened(ctx)),
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
  const value = { inputSchema: z.object({ value: z.any() }) };
  const held = ({ handle, value }) => said({ handle, value });
  server.registerTool('hold', value, async ({ value }, ctx) =>
    held(await baskets.seal(ctx, value)),
  );
  server.registerTool('open', handle, async ({ handle }, ctx) =>
    held(await baskets.open(ctx, handle)),
  );
  server.registerTool('drop', handle, async ({ handle }, ctx) => {
    await baskets.end(ctx, handle);
    return said('ended');
  });
  return server;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { user, ...config } = JSON.parse(process.env.TEST_CONFIG);
  // Not before it is needed: the clients of all stores come with it.
  if (config.ledger) config.ledger = (await import('./ledgers.mjs')).ledgerOf(config.ledger);
  const principal = () => ({ issuer: ISSUER, subject: user });
  const told = (event) => console.error(JSON.stringify(event));
  const { guard, factory } = world(config, principal, told);
  const transport =
    config.sep1359 && new StdioServerTransport(...sessionStreams(guard, config.sep1359));
  serveStdio(factory, transport ? { transport } : {});
}
