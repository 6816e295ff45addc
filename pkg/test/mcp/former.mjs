// A server on a package of `@modelcontextprotocol/sdk`, as its author writes it. As a program it serves stdio.

import { fileURLToPath } from 'node:url';

import { Codec } from 'sealwax';
import { Guard, HandleRefused } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { first } from './majors.mjs';

export const PACKAGES = ['sdk-1.20', 'sdk-1.25', '@modelcontextprotocol/sdk'];

/** The modules of a package, by the last part of their names. */
export async function modulesOf(name, ...paths) {
  const modules = await Promise.all(paths.map((path) => import(`${name}/${path}.js`)));
  return Object.assign({}, ...modules);
}

const said = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** A guard, and a factory of the servers that it protects. */
export async function world(name, { keys, principal = 'anonymous', ...more }) {
  const { McpServer } = await modulesOf(name, 'server/mcp');
  const types = await modulesOf(name, 'types');
  const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
  const guard = new Guard({ codec, principal, logger: { warn() {} }, ...more });
  const rows = guard.referenceHandles('row');
  const factory = () => {
    const capabilities = { resources: {}, logging: {} };
    const server = new McpServer({ name: 'former', version: '1' }, { capabilities });
    server.tool('mint', async (extra) => said(await rows.mint(extra)));
    server.tool('state', (extra) => said(guard.opened(extra) ?? guard.state(extra, { asked: 7 })));
    server.tool('negotiated', (extra) => said(guard.negotiated(extra) ?? null));
    server.tool('steps', async (extra) => {
      const { progressToken } = extra._meta;
      for (const progress of [1, 2]) {
        const params = { progressToken, progress };
        await extra.sendNotification({ method: 'notifications/progress', params });
      }
      return said('done');
    });
    server.server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }) => ({
      resources: [{ uri: 'test://x', name: params?.cursor ?? 'first' }],
      nextCursor: 'page 2',
    }));
    return guard.protect(server);
  };
  /** A handler that its author wrapped around the SDK's own, for arguments that no schema of it lets through. */
  const wrapped = () => {
    const server = factory();
    server.server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
      try {
        return said(await rows.check(extra, params.arguments.handle));
      } catch (error) {
        if (error instanceof HandleRefused) return error.toolResult;
        throw error;
      }
    });
    return server;
  };
  return { guard, factory, wrapped };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, keys] = process.argv;
  const { guard, factory } = await world(name, { keys });
  await (await first(name)).onLines(factory, sessionStreams(guard));
}
