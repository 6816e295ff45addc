// The official client with a session, for a test that runs where it is not installed.

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connected } from './client.mjs';
import { created, latest, within } from './fleet.mjs';

/** Calls a tool several times in one session, and returns what it said. */
export async function told(url, era, name, times) {
  const client = await connected(new StreamableHTTPClientTransport(url), era);
  let session = await created(client);
  const texts = [];
  while (texts.length < times) {
    const answer = await client.call(name, {}, within(session));
    session = latest(answer);
    texts.push(answer.result.content[0].text);
  }
  await client.client.close();
  return texts;
}
