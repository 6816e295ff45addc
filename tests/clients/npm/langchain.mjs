import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { errand, names, server } from './errand.mjs';

const client = new MultiServerMCPClient({
  mcpServers: { it: { transport: server.url ? 'http' : 'stdio', ...server } },
});
await errand({
  tools: async () => names(await client.getTools()),
  async call(name, args) {
    const tools = await client.getTools();
    const result = await tools.find((tool) => tool.name === name).invoke(args);
    return typeof result === 'string' ? result : result.text;
  },
  // It gives no cursor.
  resources: async () => ({ uris: (await client.listResources('it')).it }),
  read: async (uri) => (await client.readResource('it', uri))[0].text,
});
