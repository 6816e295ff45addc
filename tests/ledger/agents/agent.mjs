// Runs commands at a ledger, as agent.py beside it describes.

import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import 'sealwax';
import { MemoryLedger, RedisLedger, SqliteLedger } from 'sealwax/mcp';

const TIMEOUT = 1000;

async function made(address) {
  if (address === 'memory') return new MemoryLedger();
  if (address.startsWith('sqlite:')) {
    const { DatabaseSync } = await import('node:sqlite');
    return new SqliteLedger(new DatabaseSync(address.slice('sqlite:'.length)));
  }
  if (process.env.LEDGER_CLIENT === 'redis') {
    const { createClient } = await import('redis');
    return new RedisLedger(await quiet(createClient({ url: address })).connect());
  }
  const url = new URL(address);
  const { Redis, Cluster } = await import('ioredis');
  if (url.search === '?cluster') {
    return new RedisLedger(quiet(new Cluster([{ host: url.hostname, port: Number(url.port) }])));
  }
  return new RedisLedger(quiet(new Redis(address)));
}

// Without a listener a lost connection ends the process.
function quiet(client) {
  client.on('error', () => {});
  return client;
}

let ledger;
for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    ledger ??= await made(process.argv[2]);
    const late = new AbortController();
    reply = await Promise.race([
      ledger.run(JSON.parse(line)),
      sleep(TIMEOUT, { failed: 'late' }, { signal: late.signal, ref: false }),
    ]);
    late.abort();
  } catch (error) {
    reply = { failed: `${Object(error).name}: ${Object(error).message}` };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
process.exit();
