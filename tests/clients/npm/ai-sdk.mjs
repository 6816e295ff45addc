import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { errand, page, server, textOf } from './errand.mjs';

// On stdio it waits a second for a discovery, in which not every server starts (docs/systems.md).
const stdio = () =>
  Object.assign(new StdioTransport(server), { waitsForProtocolVersionDiscovery: true });
const client = await createMCPClient({
  transport: server.url ? { type: 'http', url: server.url } : stdio(),
});
await errand({
  tools: async () => Object.keys(await client.tools()),
  async call(name, args) {
    const tool = (await client.tools())[name];
    return textOf(await tool.execute(args, { messages: [], toolCallId: name }));
  },
  resources: async (cursor) => page(await client.listResources({ params: { cursor } })),
  read: async (uri) => (await client.readResource({ uri })).contents[0].text,
});
