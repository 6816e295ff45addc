// A server that has everything a guard protects, for the tests of ledgers. As a program it serves stdio: the JSON in
// TEST_CONFIG says how, and each event of the guard is a line of JSON on stderr.

import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { z } from 'zod';

export const ISSUER = 'https://idp.example.com';

/** A guard, and a factory of servers that it protects; `meet` lets several writers go once all have come. */
export function world({ keys, ledger, ledgerOptions, meet }, principal, onRefused) {
  const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
  const guard = new Guard({
    ...{ codec, principal, onRefused, logger: { warn() {} }, ledger, ledgerOptions },
    // A busy machine is no failure of the ledger.
    timeLimit: 20,
  });
  const rows = guard.referenceHandles('row', { maxAge: 3600 });
  const baskets = guard.selfContainedHandles('basket', { ttl: 3600 });
  const sessions = guard.sessions({ initial: () => ({ count: 0 }) });
  const tools = {
    ask: (ctx) => guard.opened(ctx),
    mint: (ctx) => rows.mint(ctx),
    check: (ctx, { handle }) => rows.check(ctx, handle),
    end: (ctx, { handle }) => rows.end(ctx, handle),
    hold: (ctx, { value }) => baskets.seal(ctx, value),
    open: (ctx, { handle }) => baskets.open(ctx, handle),
    drop: (ctx, { handle }) => baskets.end(ctx, handle),
    async write_at_once(ctx) {
      const session = sessions.of(ctx);
      session.write({ count: session.value.count + 1 });
      await meet();
      return session.value;
    },
    read: (ctx) => sessions.of(ctx).value,
  };
  const factory = () => {
    const server = guard.protect(new McpServer({ name: 'test', version: '1.0.0' }));
    for (const [name, run] of Object.entries(tools)) {
      server.registerTool(name, { inputSchema: z.looseObject({}) }, async (args, ctx) => {
        const value = await run(ctx, args);
        if (name === 'ask' && value === undefined)
          return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
        return { content: [{ type: 'text', text: JSON.stringify(value ?? null) }] };
      });
    }
    return server;
  };
  return { guard, factory };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const config = JSON.parse(process.env.TEST_CONFIG);
  // Not before it is needed: the clients of all stores come with it.
  config.ledger = (await import('./ledgers.mjs')).ledgerOf(config.ledger);
  const principal = () => ({ issuer: ISSUER, subject: 'alice' });
  const { factory } = world(config, principal, (event) => console.error(JSON.stringify(event)));
  serveStdio(factory);
}
