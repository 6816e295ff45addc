import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { errand, names, page, server } from './errand.mjs';

const client = server.url
  ? new MCPServerStreamableHttp({ name: 'it', ...server })
  : new MCPServerStdio({ name: 'it', ...server });
await client.connect();
await errand({
  tools: async () => names(await client.listTools()),
  call: async (name, args) =>
    (await client.callTool(name, args)).find(({ type }) => type === 'text').text,
  resources: async (cursor) => page(await client.listResources({ cursor })),
  read: async (uri) => (await client.readResource(uri)).contents[0].text,
});
