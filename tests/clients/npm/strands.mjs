import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpClient } from '@strands-agents/sdk';
import { errand, names, server, textOf } from './errand.mjs';

const client = new McpClient(server.url ? server : { transport: new StdioClientTransport(server) });
await errand({
  tools: async () => names(await client.listTools()),
  async call(name, args) {
    const tool = (await client.listTools()).find((it) => it.name === name);
    return textOf(await client.callTool(tool, args));
  },
});
