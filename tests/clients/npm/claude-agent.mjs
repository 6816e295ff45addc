import { query } from '@anthropic-ai/claude-agent-sdk';
import { errand, names, server, textOf } from './errand.mjs';

// It asks no model: tools are called by control requests of the SDK.
const env = {
  PATH: process.env.PATH,
  HOME: process.cwd(),
  ANTHROPIC_API_KEY: 'none',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};
const mcpServers = { it: { type: server.url ? 'http' : 'stdio', ...server } };
const prompt = (async function* () {
  await new Promise(() => {});
})();
const session = query({ prompt, options: { mcpServers, env, settingSources: [] } });

async function tools() {
  const [{ status, tools: found, error }] = await session.mcpServerStatus();
  if (status === 'connected') return names(found);
  if (status !== 'pending') throw new Error(error ?? status);
  await new Promise((done) => setTimeout(done, 50));
  return tools();
}
await errand({
  tools,
  async call(name, args) {
    const tool = `mcp__it__${name}`;
    const told = { subtype: 'mcp_call', tool, arguments: args, result_not_for_model: true };
    return textOf((await session.request(told)).response);
  },
});
