// The vectors; a codec and a user for the tests of the API, and how they check a refusal.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { Codec, Key, KeyRing, SealwaxError } from 'sealwax';
import { FILES } from './vectors.mjs';

export const vectors = FILES.map((path) =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')),
);

export const key = Key.generate();
export const keys = new KeyRing([key]);
export const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
export const alice = codec.view({ subject: 'alice' });
export const payload = new TextEncoder().encode('language=en');

export function refused(code, act, message = /./) {
  assert.throws(act, (error) => {
    assert.ok(error instanceof SealwaxError && error instanceof Error, `${error}`);
    assert.equal(error.name, 'SealwaxError');
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}
