import { MCPClient } from '@mastra/mcp';
import { errand, server } from './errand.mjs';

const it = server.url ? { url: new URL(server.url) } : server;
const client = new MCPClient({ servers: { it } });
await errand({
  tools: async () => Object.keys(await client.listTools()).map((name) => name.replace('it_', '')),
  async call(name, args) {
    const tool = (await client.listTools())[`it_${name}`];
    // Of a structured result it gives that part.
    return JSON.stringify(await tool.execute(args));
  },
  resources: async () => ({ uris: (await client.resources.list()).it }),
  read: async (uri) => (await client.resources.read('it', uri)).contents[0].text,
});
