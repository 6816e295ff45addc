// What protection adds to a request: the SDK's servers in this process, without any, with the SDK's
// own codec, and with our guard: `node guard.mjs [quick]`.
// One JSON object a line on standard output (benches/run.py says which), progress on standard error.

import assert from 'node:assert/strict';

import { contestant, timesByTurn, worked } from './measure.mjs';
import {
  asked,
  call,
  codec,
  connected,
  FIRST,
  factoryOf,
  guard,
  none,
  ourListener,
  SESSION,
  sdksListener,
  stateless,
} from './servers.mjs';

const quick = process.argv[2] === 'quick';
// What it costs, on a machine that may have more to do: the work, not the time that passes.
const TURNS = {
  turnMs: 4,
  clock: worked,
  ...(quick ? { turns: 50, warmMs: 300 } : { turns: 150, warmMs: 1_500 }),
};

// ---- what is asked: a request of each kind, with what the answer to another has given ----

const requests = {
  async plain(ask) {
    return () => asked(ask, { ...call, name: 'plain' });
  },
  async state(ask, protection) {
    const { requestState } = await asked(ask, { ...call, name: 'state' });
    assert.equal(requestState.startsWith('{'), protection === 'none');
    const params = { ...call, name: 'state', requestState };
    if (protection !== 'none') {
      const { error } = await ask('tools/call', { ...params, requestState: `${requestState}!` });
      assert.equal(error.code, -32602);
    }
    return () => asked(ask, params);
  },
  async session(ask, protection) {
    const created = protection === 'guard' && (await ask('sessions/create', {})).result.session;
    const { sessionId, state } = created || { sessionId: 'clear', state: JSON.stringify(FIRST) };
    const params = { ...call, name: 'session', _meta: { [SESSION]: { sessionId, state } } };
    const { _meta } = await asked(ask, params);
    assert.notEqual(_meta[SESSION].state, state);
    return () => asked(ask, params);
  },
};

// Behind Node's HTTP, what is unprotected has the SDK's listener both times.
const servers = {
  memory: connected,
  http: stateless,
  toNodeHandler: sdksListener,
  'guard.node': ourListener,
};
for (const [server, over] of Object.entries(servers)) {
  for (const [request, prepare] of Object.entries(requests)) {
    const sessions = request === 'session';
    const protections = {
      none: none(),
      ...(!sessions && { codec: codec() }),
      guard: guard({ sessions }),
    };
    const sides = [];
    for (const [name, protection] of Object.entries(protections)) {
      const ask = await over(factoryOf(protection), protection);
      sides.push(contestant(await prepare(ask, name)));
    }
    console.error(`node ${server} ${request}`);
    const times = await timesByTurn(sides, TURNS);
    const turns = Object.fromEntries(Object.keys(protections).map((name, at) => [name, times[at]]));
    console.log(JSON.stringify({ language: 'node', server, request, turns }));
  }
}
process.exit(0);
