import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { errand, names, page, server, textOf } from './errand.mjs';

const client = new Client({ name: 'errand', version: '1.0.0' });
await client.connect(
  server.url
    ? new StreamableHTTPClientTransport(new URL(server.url))
    : new StdioClientTransport(server),
);
await errand({
  tools: async () => names((await client.listTools()).tools),
  call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
  resources: async (cursor) => page(await client.listResources({ cursor })),
  read: async (uri) => (await client.readResource({ uri })).contents[0].text,
});
