import { MCPClient } from 'mcp-use/client';
import { errand, names, page, server, textOf } from './errand.mjs';

const session = await new MCPClient({ mcpServers: { it: server } }).createSession('it');
await errand({
  tools: async () => names(await session.listTools()),
  call: async (name, args) => textOf(await session.callTool(name, args)),
  resources: async (cursor) => page(await session.listResources(cursor)),
  read: async (uri) => (await session.readResource(uri)).contents[0].text,
});
