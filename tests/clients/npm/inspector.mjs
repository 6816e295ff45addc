import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errand, names, page, server, textOf } from './errand.mjs';

/** Each call is a process and a connection of its own. */
async function inspect(...options) {
  const where = server.url
    ? [server.url, '--transport', 'http']
    : [
        '-e',
        `SEALWAX_KEYS=${server.env.SEALWAX_KEYS}`,
        '--transport',
        'stdio',
        server.command,
        ...server.args,
      ];
  const command = ['node_modules/.bin/mcp-inspector', '--cli', ...where, ...options];
  const { stdout } = await promisify(execFile)(process.execPath, command);
  return JSON.parse(stdout);
}

await errand({
  tools: async () => names((await inspect('--method', 'tools/list')).tools),
  async call(name, args) {
    const given = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
    return textOf(await inspect('--method', 'tools/call', '--tool-name', name, ...given));
  },
  resources: async () => page(await inspect('--method', 'resources/list')),
  read: async (uri) => (await inspect('--method', 'resources/read', '--uri', uri)).contents[0].text,
});
