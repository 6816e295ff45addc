// The official client, for a test that runs where it is not installed.

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connected } from './client.mjs';

export { ClientSessions } from 'sealwax/mcp/client';

export async function connectedTo(url, era) {
  return (await connected(new StreamableHTTPClientTransport(url), era)).client;
}
