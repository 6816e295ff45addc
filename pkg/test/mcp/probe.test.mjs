// The probe of examples/, as it comes, on stdio: what it reports of official clients that ask their user, or only say so.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { compiled, LEGACY, MODERN } from './client.mjs';

const PROBE = fileURLToPath(new URL('probe.mjs', import.meta.url));
const form = { elicitation: { form: {} } };
const apps = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const yes = { action: 'accept', content: { choice: 'yes' } };

/** The official client, by its revisions: what it asks its user by. */
const asks = { [MODERN]: 'input_required', [LEGACY]: 'elicitation/create' };

/** Plays a user and a model that sees all of a result but `_meta`, and returns the report's rows. */
async function probed(revision, capabilities, answers, t) {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'probe-test-'));
  t.after(() => rmSync(TMPDIR, { recursive: true }));
  const mode = revision === MODERN ? { pin: MODERN } : 'legacy';
  const options = { capabilities, versionNegotiation: { mode } };
  const client = new Client({ name: 'user', version: '1|2' }, options);
  const left = [...answers];
  if (answers.length > 0) client.setRequestHandler('elicitation/create', () => left.shift());
  const env = { ...compiled, TMPDIR };
  const command = { command: process.execPath, args: [PROBE], env, stderr: 'ignore' };
  await client.connect(new StdioClientTransport(command));
  t.after(() => client.close());
  const call = (name, more = {}) => client.callTool({ name, arguments: {}, ...more });

  const first = await call('what_can_you_do');
  const told = JSON.stringify([first.content, first.structuredContent]);
  const words = [...told.matchAll(/word"?: ?"?([0-9a-f]{6})/g)].map(([, word]) => word);
  for (const _ of answers.length > 0 ? answers : [undefined]) await call('ask_me').catch(() => {}); // as a client does that cannot ask, though it said so
  const [{ text }] = (await call('what_did_you_see', { arguments: { words } })).content;
  const report = readFileSync(text.match(/is also in (.*)/)[1], 'utf8');
  assert.ok(text.startsWith(report));
  return Object.fromEntries(
    [...report.matchAll(/^\| (\S.*?) \| (.*) \|$/gm)].map(([, ...row]) => row),
  );
}

for (const revision of [MODERN, LEGACY]) {
  const NOT_RUN = 'did not run: ask_me was not run: .* this client did not ask for it\\..*';

  test(`${revision}: what was answered, and what came of it`, async (t) => {
    const answers = [yes, { action: 'cancel' }, { action: 'accept', content: {} }];
    const rows = await probed(revision, { ...form, extensions: apps }, answers, t);
    assert.equal(rows.client, 'user 1\\|2');
    assert.equal(rows.revision, revision);
    assert.equal(rows.elicits, 'form');
    assert.deepEqual(JSON.parse(rows.capabilities), { ...form, extensions: apps });
    assert.equal(rows['MCP Apps'], '{"mimeTypes":["text/html;profile=mcp-app"]}');
    assert.equal(rows['reached the model'], 'content, structuredContent');
    for (const [row, answer, outcome] of [
      ['question 1', 'accept {"choice":"yes"}', 'ran'],
      // On a slow machine it counts as a user's.
      ['question 2', 'cancel', 'did not run: .*ask_me was not run.*'],
      // It shows the pages of servers, so that the card comes next.
      ['question 3', 'accept {}', 'did not run: \\[card\\] The user is asked on a card\\..*'],
    ]) {
      assert.match(
        rows[row],
        new RegExp(`^${asks[revision]}; ${answer} after \\d+ ms; ${outcome}$`),
      );
    }
  });

  test(`${revision}: a client that does not elicit, or says so and asks nobody, is not asked`, async (t) => {
    const rows = await probed(revision, {}, [], t);
    assert.deepEqual([rows.elicits, rows['MCP Apps']], ['no', 'no']);
    assert.match(rows['question 1'], new RegExp(`^not asked; ${NOT_RUN}$`));
    const said = await probed(revision, { elicitation: {} }, [], t);
    assert.equal(said.elicits, 'form');
    const none = '(no answer|Method not found after \\d+ ms); did not run';
    assert.match(said['question 1'], new RegExp(`^${asks[revision]}; ${none}`));
  });
}
