// What a guard tells of its tokens: to a hook, and as metrics by the SDK of OpenTelemetry and its exporter for Prometheus.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { inspect } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { instruments } from 'sealwax/otel';
import { asking, called, factoryOf, modern, overHttp, telling } from './wire.mjs';

const alice = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
/** A guarded server whose tool takes two rounds, and requests to it. */
function served(options) {
  const { guard, ...told } = telling({
    ...{ principal: () => alice, ledger: new MemoryLedger(), onRefused() {} },
    ...options,
  });
  const factory = factoryOf({ 'tools/call': asking(guard) }, guard);
  const call = (more) => called(factory, { name: 'ask', ...more });
  return { guard, factory, call, ...told };
}

test('a hook hears what happened to a token, whose it is, and how long that took', async (t) => {
  let ms = 0;
  const started = Date.now();
  t.mock.method(performance, 'now', () => ms);
  t.mock.method(Date, 'now', () => started);
  const memory = new MemoryLedger();
  const run = (command) => {
    ms += 100;
    return memory.run(command);
  };
  const events = [];
  const { call } = served({ ledger: { run, local: true }, onEvent: (event) => events.push(event) });
  const { requestState } = (await call()).result;
  assert.ok((await call({ requestState })).result);
  // It is used.
  assert.ok((await call({ requestState })).error);
  const { keyId, tokenId: id } = inspect(requestState);
  const of = { kind: 'request-state', id, keyId, method: 'tools/call', target: 'ask', ...alice };
  assert.deepEqual(events, [
    { event: 'sealed', ...of, micros: 0 },
    { event: 'opened', age: 0, ...of, micros: 100_000 },
  ]);
});

test('a hook that throws changes no answer, and is logged', async () => {
  const throwing = () => {
    throw new RangeError('a secret');
  };
  for (const throws of [throwing, async () => throwing()]) {
    const { call, lines, fields } = served({ onEvent: throws, onRefused: throws });
    const { requestState } = (await call()).result;
    assert.ok((await call({ requestState })).result);
    assert.ok((await call({ requestState })).error);
    const failed = fields.filter(({ code }) => code === 'invalid_argument');
    assert.deepEqual(
      failed.map(({ level, message }) => [level, message]),
      ['onEvent', 'onEvent', 'onRefused'].map((name) => [
        ...['error', `${name}: expected a function that does not throw, found RangeError`],
      ]),
    );
    assert.doesNotMatch(JSON.stringify([lines, fields]), /a secret/);
  }
});

/** What Prometheus reads: each series, with the values of its labels; of a histogram, how often. */
async function scraped(exporter) {
  const { resourceMetrics, errors } = await exporter.collect();
  assert.deepEqual(errors, []);
  const lines = new PrometheusSerializer('', false).serialize(resourceMetrics);
  const found = [...lines.matchAll(/^(sealwax_\w+)(?:\{(.*)\})? (\S+)/gm)];
  const own = (labels = '') =>
    [...labels.matchAll(/\b((?!otel_)\w+)="([^"]*)"/g)].map(([, label, of]) => `${label}=${of}`);
  return Object.fromEntries(
    found.map(([, name, labels, value]) => [`${name} ${own(labels).join(' ')}`, Number(value)]),
  );
}

// This exporter leaves out the unit that those of other languages put at the end, `_seconds`.
test('the metrics have the names that Prometheus is asked for', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const heard = [];
  // Made before the SDK is registered, as a module does that is imported first.
  const { call, factory } = served(
    instruments({
      onEvent: ({ event }) => heard.push(event),
      onRefused: ({ code }) => heard.push(code),
    }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
  try {
    const { requestState } = (await call()).result;
    await call({ requestState });
    await call({ requestState });
    for (const method of ['acme/anything', 'tools/list'])
      await overHttp(factory, ...modern(1, method, { cursor: 'sw1.x' }));
    const found = await scraped(exporter);
    const state = 'sealwax_kind=request-state';
    const malformed =
      'sealwax_tokens_total sealwax_event=refused sealwax_kind=cursor error_type=malformed mcp_method_name';
    const key = `sealwax_key_id=${inspect(requestState).keyId} mcp_method_name=tools/call`;
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
        .map((one) => one.match(/ le=(\S+)/)[1]);
    const durations = edges('sealwax_guard_duration');
    assert.deepEqual(durations.slice(0, 3).map(Number), [1e-5, 2.5e-5, 5e-5]);
    assert.deepEqual(durations.slice(-2), ['1', '+Inf']);
    assert.deepEqual(edges('sealwax_token_age').slice(-3), ['604800', '2592000', '+Inf']);
  } finally {
    metrics.disable();
  }
});

test('a meter that is given is the one', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [exporter] }).getMeter('mine');
  await served(instruments({ meter })).call({ requestState: 'x' });
  const refused = 'sealwax_event=refused sealwax_kind=request-state error_type=malformed';
  assert.deepEqual(await scraped(exporter), {
    [`sealwax_tokens_total ${refused} mcp_method_name=tools/call`]: 1,
  });
});
