// A link, sealed in a handler and opened at a route, beside what else makes such a text: `node links.mjs [quick]`. jose encrypts
// as we do; Express's signer of cookies shows its value to everybody.
// One JSON object a line on standard output, as bench.mjs.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/server';
import { sign, unsign } from 'cookie-signature';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { Codec, Key, KeyRing } from 'sealwax';
import { Guard } from 'sealwax/mcp';

import { contestant, duel } from './measure.mjs';
import { connected } from './servers.mjs';

const quick = process.argv[2] === 'quick';
const TURNS = { turnMs: 1, turns: quick ? 60 : 400 };
const TTL = 900;
const audience = 'https://mcp.example.com';
const principal = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };

const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience });
const guard = new Guard({ codec, principal: () => principal });
const reports = guard.links('report', { ttl: TTL });

const raw = randomBytes(32);
const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']);
const purpose = { audience: `${audience}/report`, subject: principal.subject };
const secret = randomBytes(32).toString('base64url');
const peers = {
  jose: {
    seal: (value) =>
      new EncryptJWT({ value, client: principal.client })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuer(principal.issuer)
        .setAudience(purpose.audience)
        .setSubject(purpose.subject)
        .setExpirationTime(Math.floor(Date.now() / 1000) + TTL)
        .encrypt(key),
    open: async (token) => (await jwtDecrypt(token, key, purpose)).payload.value,
  },
  'cookie-signature': {
    sync: true,
    seal(value) {
      const whole = { value, ...principal, to: 'report', exp: Date.now() + 1000 * TTL };
      return sign(Buffer.from(JSON.stringify(whole)).toString('base64url'), secret);
    },
    open(token) {
      const signed = unsign(token, secret);
      assert(signed);
      const { value, to, exp } = JSON.parse(Buffer.from(signed, 'base64url').toString());
      assert(to === 'report' && exp > Date.now());
      return value;
    },
  },
};

async function measured(context) {
  for (const size of [64, 256, 1024]) {
    const value = 'x'.repeat(size - 2);
    for (const [peer, them] of Object.entries(peers)) {
      const [link, theirs] = [await reports.seal(context, value), await them.seal(value)];
      assert.equal((await reports.open(link)).value, value);
      assert.equal(await them.open(theirs), value);
      for (const [op, our, their] of [
        ['link-seal', () => reports.seal(context, value), () => them.seal(value)],
        ['link-open', () => reports.open(link), () => them.open(theirs)],
      ]) {
        console.error(`node ${peer} ${op} ${size} B`);
        const [ours_ns, peer_ns] = await duel([contestant(our), contestant(their, them)], TURNS);
        const lengths = { ours_length: link.length, peer_length: theirs.length };
        const row = { size, op, ours_ns, peer, peer_ns, ratio: peer_ns / ours_ns, ...lengths };
        console.log(JSON.stringify({ language: 'node', ...row }));
      }
    }
  }
}

const ask = await connected(() => {
  const server = guard.protect(new McpServer({ name: 'bench', version: '1' }));
  server.registerTool('run', {}, async (context) => {
    await measured(context);
    return { content: [] };
  });
  return server;
});
const { error, result } = await ask('tools/call', { name: 'run', arguments: {} });
assert(!error && !result.isError, JSON.stringify(error ?? result));
process.exit(0);
