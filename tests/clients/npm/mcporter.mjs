import { createRuntime } from 'mcporter';
import { errand, names, page, server, textOf } from './errand.mjs';

const { url, command, args, env } = server;
const runtime = await createRuntime({
  servers: [
    {
      name: 'it',
      command: url
        ? { kind: 'http', url: new URL(url) }
        : { kind: 'stdio', command, args, cwd: process.cwd() },
      env,
    },
  ],
});
await errand({
  tools: async () => names(await runtime.listTools('it')),
  call: async (name, given) => textOf(await runtime.callTool('it', name, { args: given })),
  resources: async (cursor) => page(await runtime.listResources('it', { cursor })),
  read: async (uri) => (await runtime.readResource('it', uri)).contents[0].text,
});
