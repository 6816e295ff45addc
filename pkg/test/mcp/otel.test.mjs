// What a guard tells of its tokens: to a hook, and as metrics by the SDK of OpenTelemetry and its exporter for Prometheus.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { inspect } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { instruments } from 'sealwax/otel';
import { LEGACY } from './client.mjs';
import { factoryOf, guardOf, messagesOf, modern, overHttp, requestOf, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const alice = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const lines = [];
const logger = { warn: (line, fields) => lines.push([line, fields]) };
const { now } = Date;
afterEach(() => {
  Date.now = now;
});

/** A guarded server, and requests to it. */
function served({ hasSessions, ...options }) {
  const guard = guardOf({ principal: () => alice, ledger: new MemoryLedger(), logger, ...options });
  const rows = guard.referenceHandles('row');
  const baskets = guard.selfContainedHandles('basket');
  const sessions = hasSessions && guard.sessions({ initial: () => 0 });
  const tools = {
    plain: () => text('done'),
    ask: (ctx) =>
      guard.opened(ctx) === undefined
        ? { resultType: 'input_required', requestState: guard.state(ctx, 1) }
        : text('done'),
    rows: async (ctx) => {
      const { handle } = await rows.mint(ctx);
      await rows.check(ctx, handle);
      await rows.end(ctx, handle);
      await rows.check(ctx, handle).catch(() => {});
      return text('done');
    },
    basket: async (ctx) => {
      const { handle } = await baskets.seal(ctx, 'secret');
      await baskets.open(ctx, handle);
      return text('done');
    },
    count: (ctx) => {
      const session = sessions.of(ctx);
      session.write(session.value + 1);
      return text('done');
    },
  };
  const factory = factoryOf(
    {
      'tools/call': ({ params }, ctx) => tools[params.name](ctx),
      'resources/list': () => ({ resources: [], nextCursor: 'page 2' }),
    },
    guard,
  );
  const send = async (method, params) =>
    (await overHttp(factory, ...modern(1, method, params))).messages[0];
  const call = (name, more = {}) => send('tools/call', { name, arguments: {}, ...more });
  return { guard, factory, send, call };
}

/** The events without what differs each time. */
function without(events) {
  return events.map(({ micros, id, ...event }) => {
    assert.ok(Number.isSafeInteger(micros) && micros >= 0 && micros < 20e6, `${micros}`);
    assert.match(id, /^[0-9a-f]{32}$/);
    return event;
  });
}

test('a hook hears of each token once, and not of one that is refused', async () => {
  // The clock stands, because events have ages.
  const started = now();
  Date.now = () => started;
  const events = [];
  const { send, call, guard } = served({ onEvent: (event) => events.push(event) });
  const heard = () => without(events.splice(0));
  await call('plain');
  assert.deepEqual(heard(), []);

  const { requestState } = (await call('ask')).result;
  const { keyId, tokenId } = inspect(requestState);
  assert.equal(events[0].id, tokenId);
  const of = { kind: 'request-state', keyId, method: 'tools/call', target: 'ask', ...alice };
  assert.deepEqual(heard(), [{ event: 'sealed', ...of }]);
  Date.now = () => started + 7_000;
  assert.ok((await call('ask', { requestState })).result);
  Date.now = () => started;
  assert.equal(events[0].id, tokenId);
  assert.deepEqual(heard(), [{ event: 'opened', age: 7, ...of }]);
  // It is used.
  assert.ok((await call('ask', { requestState })).error);
  assert.deepEqual(heard(), []);

  const cursor = (await send('resources/list', {})).result.nextCursor;
  await send('resources/list', { cursor });
  const list = { kind: 'cursor', keyId, method: 'resources/list', ...alice };
  assert.deepEqual(heard(), [
    { event: 'sealed', ...list },
    // The next page has the same cursor, and so the same token.
    { event: 'opened', age: 0, ...list },
  ]);

  await call('rows');
  const { keyId: _, ...row } = { ...of, kind: 'handle', target: 'rows' };
  assert.deepEqual(heard(), [
    { event: 'sealed', ...row },
    { event: 'opened', age: 0, ...row },
    { event: 'ended', ...row },
  ]);
  await call('basket');
  const basket = { ...of, kind: 'handle-state', target: 'basket' };
  assert.deepEqual(heard(), [
    { event: 'sealed', ...basket },
    { event: 'opened', age: 0, ...basket },
  ]);

  await guard.revoke(alice);
  assert.deepEqual(
    events.splice(0).map(({ micros, ...event }) => event),
    [{ event: 'revoked', kind: 'session', ...alice }],
  );
});

test('sessions of the data layer, and of the transport, are events too', async () => {
  const events = [];
  const options = { onEvent: (event) => events.push(event), hasSessions: true };
  const { send, call, guard, factory } = served(options);
  const heard = () =>
    without(events.splice(0)).map(({ event, kind, method }) => [event, kind, method]);
  const { session } = (await send('sessions/create', {})).result;
  await call('count', { _meta: { [META]: session } });
  await send('sessions/delete', { _meta: { [META]: session } });
  assert.deepEqual(heard(), [
    ['sealed', 'session', 'sessions/create'],
    ['opened', 'session', 'tools/call'],
    ['sealed', 'session', 'tools/call'],
    ['ended', 'session', 'sessions/delete'],
  ]);

  const handler = guard.fetch(createMcpHandler(factory).fetch);
  const post = (id, method, params, headers) =>
    handler(requestOf({ jsonrpc: '2.0', id, method, params }, headers));
  const clientInfo = { name: 'wire', version: '1' };
  const initialize = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  const begun = await post(1, 'initialize', initialize, {});
  await begun.text();
  const headers = {
    'mcp-session-id': begun.headers.get('mcp-session-id'),
    'mcp-protocol-version': LEGACY,
  };
  const [{ result }] = messagesOf(await (await post(2, 'resources/list', {}, headers)).text());
  assert.ok(result.nextCursor);
  assert.deepEqual(heard(), [
    ['sealed', 'session', 'initialize'],
    ['opened', 'session', 'resources/list'],
    ['sealed', 'cursor', 'resources/list'],
  ]);
});

test('the time is that of the message, or of the result, with what was waited for', async () => {
  const events = [];
  const memory = new MemoryLedger();
  const run = (command) => new Promise((told) => setTimeout(() => told(memory.run(command)), 120));
  const { call } = served({
    ledger: { run, local: true },
    timeLimit: 20,
    onEvent: (event) => events.push(event),
  });
  const { requestState } = (await call('ask')).result;
  assert.ok((await call('ask', { requestState })).result);
  const [sealed, opened] = events.map(({ micros }) => micros);
  assert.ok(opened > 50_000, `${opened}`);
  assert.ok(sealed < opened, `${sealed}`);
});

test('a hook that throws changes no answer, and is logged', async () => {
  for (const throws of [
    () => {
      throw new RangeError('a secret');
    },
    async () => {
      throw new RangeError('a secret');
    },
  ]) {
    lines.length = 0;
    const { call } = served({ onEvent: throws, onRefused: throws });
    const { requestState } = (await call('ask')).result;
    assert.ok((await call('ask', { requestState })).result);
    assert.ok((await call('ask', { requestState })).error);
    const found = lines.map(([line, { code, level }]) => [level, code, line.split('message=')[1]]);
    const expected = (name) =>
      `"${name}: expected a function that does not throw, found RangeError"`;
    assert.deepEqual(
      found.filter(([, code]) => code === 'invalid_argument'),
      ['onEvent', 'onEvent', 'onRefused'].map((name) => [
        ...['error', 'invalid_argument', expected(name)],
      ]),
    );
    assert.doesNotMatch(JSON.stringify(lines), /a secret/);
  }
});

/** What Prometheus reads: each series, with the values of its labels; of a histogram, how often. */
async function scraped(exporter) {
  const { resourceMetrics, errors } = await exporter.collect();
  assert.deepEqual(errors, []);
  const series = {};
  for (const line of new PrometheusSerializer('', false).serialize(resourceMetrics).split('\n')) {
    const [, name, labels = '', value] = line.match(/^(sealwax_\w+)(?:\{(.*)\})? (\S+)/) ?? [];
    if (name === undefined) continue;
    const own = [...labels.matchAll(/(\w+)="([^"]*)"/g)].filter(
      ([, label]) => !/^otel_/.test(label),
    );
    series[`${name} ${own.map(([, label, of]) => `${label}=${of}`).join(' ')}`] = Number(value);
  }
  return series;
}

// This exporter leaves out the unit that those of other languages put at the end, `_seconds`.
test('the metrics have the names that Prometheus is asked for', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const heard = [];
  // Made before the SDK is registered, as a module does that is imported first.
  const { call, send } = served(
    instruments({
      onEvent: ({ event }) => heard.push(event),
      onRefused: ({ code }) => heard.push(code),
    }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
  try {
    const { requestState } = (await call('ask')).result;
    await call('ask', { requestState });
    await call('ask', { requestState });
    await send('acme/anything', { cursor: 'sw1.x' });
    await send('tools/list', { cursor: 'sw1.x' });
    const { keyId } = inspect(requestState);
    const found = await scraped(exporter);
    const state = 'sealwax_kind=request-state';
    const malformed =
      'sealwax_tokens_total sealwax_event=refused sealwax_kind=cursor error_type=malformed mcp_method_name';
    const key = `sealwax_key_id=${keyId} mcp_method_name=tools/call`;
    const counted = Object.entries(found).filter(([name]) => /_total |_count /.test(name));
    assert.deepEqual(Object.fromEntries(counted), {
      [`sealwax_tokens_total sealwax_event=sealed ${state} ${key}`]: 1,
      [`sealwax_tokens_total sealwax_event=opened ${state} ${key}`]: 1,
      [`sealwax_tokens_total sealwax_event=refused ${state} error_type=used mcp_method_name=tools/call`]: 1,
      // A client may make up any method.
      [`${malformed}=_OTHER`]: 1,
      [`${malformed}=tools/list`]: 1,
      [`sealwax_token_age_count ${state}`]: 1,
      [`sealwax_guard_duration_count sealwax_event=sealed ${state}`]: 1,
      [`sealwax_guard_duration_count sealwax_event=opened ${state}`]: 1,
    });
    assert.deepEqual(heard, ['sealed', 'opened', 'used', 'malformed', 'malformed']);
    const edges = (name) =>
      Object.keys(found)
        .filter((one) => one.startsWith(`${name}_bucket`) && !/event=opened/.test(one))
        .map((one) => Number(one.match(/ le=(\S+)/)[1].replace('+Inf', Number.POSITIVE_INFINITY)));
    assert.deepEqual(edges('sealwax_guard_duration').slice(0, 3), [1e-5, 2.5e-5, 5e-5]);
    assert.deepEqual(edges('sealwax_guard_duration').slice(-2), [1, Infinity]);
    assert.deepEqual(edges('sealwax_token_age').slice(-3), [604_800, 2_592_000, Infinity]);
  } finally {
    metrics.disable();
  }
});

test('a method that a client invented is no value of a label', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [exporter] }).getMeter('mine');
  const { guard, factory } = served(instruments({ meter }));
  const handler = guard.fetch(createMcpHandler(factory).fetch);
  const headers = { 'mcp-session-id': 'sw1.x', 'mcp-protocol-version': LEGACY };
  for (const method of ['acme/1', 'acme/2', 'tools/call']) {
    const message = { jsonrpc: '2.0', id: 1, method, params: {} };
    assert.equal((await handler(requestOf(message, headers))).status, 404);
  }
  const refused =
    'sealwax_tokens_total sealwax_event=refused sealwax_kind=session error_type=malformed';
  assert.deepEqual(await scraped(exporter), {
    [`${refused} mcp_method_name=_OTHER`]: 2,
    [`${refused} mcp_method_name=tools/call`]: 1,
  });
});
