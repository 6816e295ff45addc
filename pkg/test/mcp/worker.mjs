// A guarded server as a Worker has it: no Node, and the module as the platform loads it.

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Codec } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';

let handler;
// There is no clock yet, and it remembers from the first request on: for one isolate, as a test may.
const ledger = new MemoryLedger();

/** The bindings come with a request, so the guard is made by the first. */
function handlerOf({ SEALWAX_KEYS: keys }) {
  const codec = new Codec({ keys, audience: 'https://counter.example.com' });
  const guard = new Guard({
    codec,
    principal: 'anonymous',
    ledger,
    ledgerOptions: { acceptIssuedSince: 1 },
  });
  const sessions = guard.sessions({ initial: () => ({ count: 0 }) });
  return guard.fetch(
    createMcpHandler(() => {
      const server = guard.protect(new McpServer({ name: 'counter', version: '1.0.0' }));
      server.registerTool('count', {}, (ctx) => {
        const session = sessions.of(ctx);
        const count = session.value.count + 1;
        session.write({ count });
        return { content: [{ type: 'text', text: String(count) }] };
      });
      return server;
    }).fetch,
  );
}

export default {
  fetch(request, env) {
    handler ??= handlerOf(env);
    return handler(request);
  },
};
