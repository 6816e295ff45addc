// A stateless server with tools that their users confirm, and beside it the files of the host.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Codec, Key } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { z } from 'zod';

/** Serves until it is closed. `questions` has those of the tools, and `ran` the arguments of each run. */
export async function serve(files, questions, withLedger) {
  const ran = [];
  const codec = new Codec({ keys: Key.generate().toText(), audience: 'https://mcp.example.com' });
  const ledger = withLedger ? new MemoryLedger() : undefined;
  const guard = new Guard({ codec, principal: 'anonymous', ledger });
  for (const [tool, question] of Object.entries(questions)) guard.confirm(tool, question);
  const factory = () => {
    const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
    const config = { inputSchema: z.looseObject({}), outputSchema: z.looseObject({}) };
    for (const tool of Object.keys(questions)) {
      server.registerTool(tool, config, (given) => {
        ran.push({ [tool]: given });
        if (given.fails) throw new Error('the disk is full');
        return { content: [{ type: 'text', text: 'It is done.' }], structuredContent: { tool } };
      });
    }
    return server;
  };
  const mcp = guard.node(guard.fetch(createMcpHandler(factory).fetch));
  const server = createServer((request, response) => {
    if (request.url === '/mcp') return mcp(request, response);
    const file = new URL(request.url === '/' ? 'index.html' : `.${request.url}`, files);
    const type = request.url.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => server.closeAllConnections() ?? server.close();
  return { ran, url: `http://127.0.0.1:${server.address().port}`, close };
}
