// A server that has everything a guard protects, for the tests. As a program it serves stdio: the
// JSON in TEST_CONFIG says how, and each event of the guard is a line of JSON on stderr.

import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { z } from 'zod';

export const ISSUER = 'https://idp.example.com';

/** A guard, and a factory of servers that it protects. */
export function world(config, principal, onRefused) {
  const { keys, audience = 'https://mcp.example.com', ledger, ledgerOptions, meet } = config;
  const guard = new Guard({
    ...{ codec: new Codec({ keys, audience }), principal, onRefused, logger: { warn() {} } },
    // A busy machine is no failure of the ledger.
    ...{ timeLimit: 20, ledger, ledgerOptions },
  });
  const [rows, baskets] = [
    guard.referenceHandles('row', { maxAge: 3600 }),
    guard.selfContainedHandles('basket', { ttl: 3600 }),
  ];
  const sessions = guard.sessions({ initial: () => ({ count: 0 }) });
  const factory = () => {
    const server = testServer(guard, rows, baskets);
    // Several at once, each of which has come before any of them goes.
    server.registerTool('write_at_once', {}, async (ctx) => {
      const session = sessions.of(ctx);
      session.write({ count: session.value.count + 1 });
      await meet();
      return said(session.value);
    });
    server.registerTool('read', {}, (ctx) => said(sessions.of(ctx).value));
    return server;
  };
  return { guard, factory };
}

const said = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

function testServer(guard, rows, baskets) {
  const server = guard.protect(new McpServer({ name: 'test', version: '1.0.0' }));
  server.registerTool('ask', {}, (ctx) => {
    const state = guard.opened(ctx);
    if (state !== undefined) return said(state);
    return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
  });
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
  config.ledger = (await import('./ledgers.mjs')).ledgerOf(config.ledger);
  const principal = () => ({ issuer: ISSUER, subject: user });
  const { factory } = world(config, principal, (event) => console.error(JSON.stringify(event)));
  serveStdio(factory);
}
