import { unstable_startWorker } from 'wrangler';
import { errand, names, server, textOf } from './errand.mjs';

// An agent lives in a Durable Object: agents-worker.mjs, in workerd.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';
// No inspector: several errands run at once, and it has one port.
const worker = await unstable_startWorker({
  config: 'wrangler.json',
  dev: { persist: false, server: { port: 0 }, inspector: false, logLevel: 'warn' },
});
async function ask(method, params) {
  const body = JSON.stringify({ url: server.url, method, params });
  const answer = await worker.fetch('http://errand/', { method: 'POST', body });
  const found = await answer.json();
  if (found.message) throw new Error(found.message);
  return found;
}
await errand({
  tools: async () => names(await ask('listTools')),
  call: async (name, args) => textOf(await ask('callTool', { name, arguments: args })),
  resources: async () => ({ uris: await ask('listResources') }),
  read: async (uri) => (await ask('readResource', { uri })).contents[0].text,
});
