/** What adapters ask about a request, by tests/requests.json, which every language reads. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { principalFromClaims, requestContext, requestContextFromJson, tokenFields } from 'sealwax';

const cases = JSON.parse(readFileSync(new URL('requests.json', import.meta.url)));

test('methods carry what they carry', () => {
  for (const { method, tokenFields: expected } of cases.tokenFields) {
    const { needsCaller, ...found } = tokenFields(method) ?? {};
    assert.deepEqual(found.kind ? { ...found, target: found.target ?? null } : null, expected);
    assert.equal(needsCaller ?? false, expected?.kind === 'request-state');
  }
});

test('claims give one principal', () => {
  for (const { claims, principal, error } of cases.claims) {
    if (error) {
      assert.throws(() => principalFromClaims(claims), { code: error }, JSON.stringify(claims));
    } else {
      const { issuer, client, subject } = principalFromClaims(claims);
      assert.deepEqual([issuer, client ?? null, subject], principal);
    }
  }
});

test('only the named arguments count', () => {
  for (const { arguments: args, only, same, error } of cases.only) {
    const found = () => requestContext('tools/call', 'x', args, { only });
    if (error) assert.throws(found, { code: error }, JSON.stringify(args));
    else assert.deepEqual(found(), requestContext('tools/call', 'x', same));
  }
  const twice = '{"id":7,"n":1,"n":2}';
  assert.deepEqual(
    requestContextFromJson('tools/call', 'x', twice, { only: ['id'] }),
    requestContext('tools/call', 'x', { id: 7 }),
  );
  assert.throws(() => requestContext('tools/call', 'x', { id: 7 }, { only: 'id' }), TypeError);
  for (const bind of [
    () => requestContext('tools/call', 'x', { '': 7 }, { only: [] }),
    () => requestContextFromJson('tools/call', 'x', '{"":7}', { only: [] }),
    () => requestContext('tools/call', 'x', { id: 7 }, { only: ['i\0d'] }),
    () => requestContextFromJson('tools/call', 'x', '{"a":"\ud800"}'),
  ]) {
    assert.throws(bind, { code: 'invalid_argument' });
  }
});
