// In this project there is no SDK: `sealwax/mcp` is there all the same, in both module systems.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as sealwax from 'sealwax';
import { Guard } from 'sealwax/mcp';

import { guardOf } from './guard-of.mjs';

const require = createRequire(import.meta.url);

test('a codec and a guard of one module system belong together', () => {
  assert.throws(() => require.resolve('@modelcontextprotocol/server'), {
    code: 'MODULE_NOT_FOUND',
  });
  assert.ok(guardOf(sealwax, Guard) instanceof Guard);
  const cjs = require('sealwax/mcp');
  assert.ok(guardOf(require('sealwax'), cjs.Guard) instanceof cjs.Guard);
  assert.throws(() => guardOf(require('sealwax'), Guard), /a Codec of this copy of sealwax/);
});
