// Ledgers that the tests make by name, and that began an hour ago: so nothing is too new for them.

import { createRequire } from 'node:module';

import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { RedisLedger, SqliteLedger } from 'sealwax/mcp';

const HOUR = 3600;
const require = createRequire(import.meta.url);
const hasNodeSqlite = Number(process.versions.node.split('.')[0]) >= 22;

/** Why SQLite is left out, if it is: the package had to be compiled, and there was no compiler of C++. */
export const noSqlite = hasNodeSqlite ? false : whyNot();

function whyNot() {
  try {
    database(':memory:').close();
    return false;
  } catch ({ message }) {
    return `better-sqlite3: ${message.split('\n', 1)}`;
  }
}

/** A database of a file, by the package that this Node can load. */
export function database(path) {
  if (hasNodeSqlite) return new (require('node:sqlite').DatabaseSync)(path);
  return new (require('better-sqlite3'))(path);
}

/** Clients of one server, as LEDGER's users have them: they hear at once that it is gone. */
export const clients = {
  ioredis(url) {
    const client = new Redis(url, { enableOfflineQueue: true, maxRetriesPerRequest: 1 });
    client.on('error', () => {});
    return client;
  },
  redis(url) {
    const client = createClient({ url });
    client.on('error', () => {});
    client.connect().catch(() => {});
    return client;
  },
  upstash: (url) => new Upstash({ url, token: 'x', automaticDeserialization: false, retry: false }),
};

const made = {
  sqlite({ path }) {
    const opened = database(path);
    const set = 'UPDATE sealwax_ledger SET value = ? WHERE key = ?';
    const began = Math.floor(Date.now() / 1000) - HOUR;
    return aged(new SqliteLedger(opened), ([key, fence]) => {
      opened.prepare(set).run(`${began}`, key);
      opened.prepare(set).run(`${began} - ${began}`, fence);
    });
  },
  redis({ url, client }) {
    const connected = clients[client](url);
    const send = (...command) =>
      client === 'ioredis' ? connected.call(...command) : connected.sendCommand(command);
    const ledger = aged(new RedisLedger(connected), async ([key, fence]) => {
      const began = Math.floor(Date.now() / 1000) - HOUR;
      const [, run, last] = (await send('get', fence)).split(' ');
      await send('mset', key, `${began}`, fence, `${began} ${run} ${last}`);
    });
    return Object.assign(ledger, {
      close: () => (client === 'ioredis' ? connected.disconnect() : connected.destroy()),
    });
  },
};

/** What a config says, which is JSON. */
export const ledgerOf = (config) => made[config.engine](config);

/** A ledger that is made older once it is open. */
function aged(ledger, age) {
  return {
    ledger,
    run(command) {
      const reply = ledger.run(command);
      if (command.script !== 'open') return reply;
      if (Array.isArray(reply)) {
        age(command.keys);
        return reply;
      }
      return reply.then(async (reply) => {
        if (reply[0] === 'ok') await age(command.keys);
        return reply;
      });
    },
  };
}
