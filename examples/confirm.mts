/**
 * Confirm: the server of the README. A tool asks before it deletes, and keeps nothing meanwhile.
 *
 * `SEALWAX_KEYS="$(npx sealwax keygen)" node confirm.mts` serves stdio; `ask.mts` is a client.
 */

import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { z } from 'zod';

const codec = Codec.fromEnv({ audience: 'https://notes.example.com' });
const guard = new Guard({ codec, principal: 'anonymous' });
const inputSchema = z.object({ id: z.int() });

serveStdio(() => {
  const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
  server.registerTool('delete_note', { inputSchema }, ({ id }, ctx) => {
    if (guard.opened(ctx) === undefined) {
      const requestedSchema = { type: 'object' as const, properties: {} };
      const confirm = inputRequired.elicit({ message: `Delete note ${id}?`, requestedSchema });
      const requestState = guard.state(ctx, { asked: id }); // sealed
      return inputRequired({ inputRequests: { confirm }, requestState });
    }
    // The state is ours: for this user, this tool and these arguments, at most 10 minutes old.
    const agreed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm') !== undefined;
    return { content: [{ type: 'text', text: `Note ${id} ${agreed ? 'deleted' : 'kept'}` }] };
  });
  return server;
});
