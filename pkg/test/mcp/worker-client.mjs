// The official client with a session, for a test that runs where it is not installed.

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connected } from './client.mjs';

const META = 'io.modelcontextprotocol/session';

/** Calls a tool several times in one session, and returns what it said. */
export async function told(url, era, name, times) {
  const client = await connected(new StreamableHTTPClientTransport(url), era);
  let { session } = (await client.send('sessions/create', {})).result;
  const texts = [];
  while (texts.length < times) {
    const { sessionId, state } = session;
    const _meta = { [META]: { sessionId, state } };
    const { result } = await client.call(name, {}, { _meta });
    session = result._meta[META];
    texts.push(result.content[0].text);
  }
  await client.client.close();
  return texts;
}
