// Two users that differ never meet: what is sealed for one opens for no other, or one of them is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputRequired } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

/** A principal of any texts, well-formed or not, some of them alike. */
const unit = fc.constantFrom('e', '?', '\ufffd', '\ud800', '\ud801', '\udc00', '\u0000', '/', '');
const any = fc.array(unit, { maxLength: 3 }).map((units) => units.join(''));
const principals = fc.record({ issuer: any, client: any, subject: any }, { requiredKeys: [] });

test('two principals that differ never meet', async () => {
  let caller;
  const guard = guardOf({ principal: () => caller });
  const ask = (_, ctx) => {
    if (guard.opened(ctx)) return text('met');
    return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
  };
  const factory = factoryOf({ 'tools/call': ask }, guard);
  const call = async (principal, requestState) => {
    caller = principal;
    const params = { name: 'ask', arguments: {}, ...(requestState && { requestState }) };
    const { messages } = await overHttp(factory, ...modern(1, 'tools/call', params));
    return messages[0].result;
  };
  let met = 0;
  await fc.assert(
    fc.asyncProperty(principals, principals, async (one, other) => {
      const asked = await call(one);
      if (asked === undefined) return;
      const parts = ({ issuer, client, subject }) => JSON.stringify([issuer, client, subject]);
      const isSame = parts(one) === parts(other);
      const opened = await call(other, asked.requestState);
      met += isSame ? 1 : 0;
      assert.equal(opened?.content?.[0].text, isSame ? 'met' : undefined);
    }),
    {
      examples: [
        [{ subject: 'Jos\ud800' }, { subject: 'Jos?' }],
        [{ subject: 'Jos?' }, { subject: 'Jos\ud801' }],
        [{ subject: 'e' }, { subject: 'e' }],
      ],
    },
  );
  assert.ok(met > 0);
});
