// A replica in TypeScript's world: `create PAYLOAD [TTL]`, or `open` the session whose metadata is on stdin.
import { readFileSync } from 'node:fs';
import process from 'node:process';

import { answer, Codec, SealwaxError } from 'sealwax';

const [command, payload, ttl] = process.argv.slice(2);
const codec = Codec.fromEnv({ audience: 'https://mcp.example.com' });
const sessions = codec
  .view({ subject: process.env.DEMO_USER })
  .sessions(ttl === undefined ? {} : { ttl: Number(ttl) });

try {
  if (command === 'create') {
    console.log(JSON.stringify(sessions.create(new TextEncoder().encode(payload))));
    console.error(payload);
  } else {
    const session = sessions.open(JSON.parse(readFileSync(0, 'utf8')));
    const text = new TextDecoder().decode(session.payload);
    console.error(
      `${text} (generation ${session.generation}, needs_reseal ${session.needsReseal})`,
    );
  }
} catch (refused) {
  if (!(refused instanceof SealwaxError)) throw refused;
  console.log(JSON.stringify(answer('data-layer', { error: refused })));
  console.error(`${refused.code}: ${refused.message}`);
  process.exitCode = 1;
}
