import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { errand, server, textOf } from './errand.mjs';

// It asks no model: its app server calls tools for the program that it is embedded in.
const settings = {
  ...Object.fromEntries(Object.entries(server).map(([name, it]) => [`mcp_servers.it.${name}`, it])),
  'mcp_servers.it.env': undefined,
  'mcp_servers.it.env.SEALWAX_KEYS': server.env?.SEALWAX_KEYS,
  model_provider: 'none',
  'model_providers.none.name': 'none',
  'model_providers.none.base_url': 'http://127.0.0.1:9',
  'analytics.enabled': false,
};
const given = Object.entries(settings).filter(([, value]) => value !== undefined);
const options = given.flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]);
const home = mkdtempSync(`${process.cwd()}/home-`);
const codex = spawn('node_modules/.bin/codex', ['app-server', ...options], {
  env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home },
  stdio: ['pipe', 'pipe', 'inherit'],
});
const waiting = new Map();
createInterface({ input: codex.stdout }).on('line', (line) => {
  const { id, result, error } = JSON.parse(line);
  waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
});
function ask(method, params) {
  const id = waiting.size + 1;
  codex.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
  return new Promise((done) => waiting.set(id, done));
}

await ask('initialize', { clientInfo: { name: 'errand', version: '1.0.0' } });
const threadId = (await ask('thread/start', {})).thread.id;
const status = async () => (await ask('mcpServerStatus/list', { threadId })).data[0];
await errand({
  tools: async () => Object.keys((await status()).tools),
  call: async (tool, args) =>
    textOf(await ask('mcpServer/tool/call', { threadId, server: 'it', tool, arguments: args })),
  resources: async () => ({ uris: (await status()).resources }),
  read: async (uri) =>
    (await ask('mcpServer/resource/read', { threadId, server: 'it', uri })).contents[0].text,
});
