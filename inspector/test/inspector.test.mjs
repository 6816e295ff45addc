// Texts of every kind in the page: how it shows them, and how it opens them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CASES, fill, KEYS, outcome, page, paste, seen, submit, VECTORS } from './page.mjs';

/** The rows of the table of parts, by name. */
async function parts() {
  const rows = await page.locator('#seen tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
  return Object.fromEntries(cells.map(([name, value]) => [name, value]));
}

test('it says of each text what the command says', async () => {
  for (const { text, words, json } of CASES.said) {
    await paste(`  ${text}\n`);
    const [title] = words;
    const shown = await page.locator('#seen h2').textContent();
    assert.equal(shown.toLowerCase().replace(':', ','), title);
    const found = await parts();
    const word = (name) => words.find((line) => line.startsWith(name))?.slice(name.length + 2);
    assert.equal(found.prefix ?? found.type, word('prefix'));
    if (json.key_id && json.what !== 'key') assert.equal(found['key id'], json.key_id);
    if (json.kind) assert.equal(found.kind, json.kind);
    if (json.token_id) assert.equal(found['token id'], json.token_id);
    if (json.created_at_ms) assert.equal(found['made at'], word('made at'));
    assert.match(await seen(), new RegExp(`${json.length.toLocaleString('en')} characters`));
    // What the command does not tell is as the vectors have it.
    const token = VECTORS.sealed.find((vector) => vector.token === text);
    if (token) {
      const bytes = Buffer.from(text.slice(4), 'base64url');
      assert.equal(found['rest of the nonce'], token.nonce.slice(32));
      assert.equal(found.encrypted, `${bytes.length - 45} bytes`);
      assert.equal(found.tag, bytes.subarray(-16).toString('hex'));
    }
    const id = [...VECTORS.session_ids, ...VECTORS.handles].find((vector) =>
      [vector.session_id, vector.handle].includes(text),
    );
    if (id) assert.equal(found.random, id.ulid.slice(12));
  }
});

test('each part has its own characters and colour', async () => {
  for (const { text, json } of CASES.said) {
    await paste(text);
    const runs = await page.locator('.colours .part').evaluateAll((spans) =>
      spans.map((span) => ({
        text: span.textContent,
        role: span.className,
        colour: getComputedStyle(span).backgroundColor,
        shared: span.style.background !== '',
      })),
    );
    const whole = runs.map((run) => run.text).join('');
    if (json.what === 'key') {
      assert.match(whole, /^swk1_•{48}$/);
    } else if (!whole.includes(' … ')) {
      assert.equal(whole, text);
    }
    assert.equal(
      new Set(runs.map(({ role }) => role)).size,
      { token: 6, handle: 4, key: 3 }[json.what] ?? 6,
    );
    const colours = new Map(
      runs.filter(({ shared }) => !shared).map(({ role, colour }) => [role, colour]),
    );
    assert.equal(new Set(colours.values()).size, colours.size);
  }
  // A token's kind and key id are 5 bytes, its nonce 24: what follows begins within the 39th character.
  const { text } = CASES.said[0];
  await paste(text);
  const until = (role) =>
    page.locator('.colours .part').evaluateAll((spans, role) => {
      const whole = spans.map((span) => (span.style.background === '' ? span.className : ''));
      const first = whole.indexOf(`part ${role}`);
      return spans
        .slice(0, first)
        .map((span) => span.textContent)
        .join('').length;
    }, role);
  assert.equal(await until('random'), 4 + Math.ceil((5 * 8) / 6));
  assert.equal(await until('sealed'), 4 + Math.ceil((29 * 8) / 6));
  const tag = Buffer.from(text.slice(4), 'base64url').length - 16;
  assert.equal(await until('tag'), 4 + Math.ceil((tag * 8) / 6));
  const shared = page.locator('.colours .part[style]').nth(1);
  assert.equal(await shared.textContent(), text[4 + 6]);
  assert.match(await shared.getAttribute('style'), /--key\) 67%.*--random\) 67%/);
});

test('a vector of every kind opens with its key and what it is bound to', async () => {
  const kinds = new Set();
  // The vectors are not expired for ever: a long time ago they were made without an end.
  const lasting = VECTORS.sealed.filter(({ ttl, payload }) => ttl === 0 && payload.length < 2000);
  for (const token of lasting) {
    if (token.context !== '') continue;
    kinds.add(token.kind);
    await paste(token.token);
    await identify(token);
    if (token.label) await page.locator('[name="label"]').fill(token.label);
    if (token.session_id) await fill({ 'Session id': token.session_id });
    await submit();
    const found = await outcome();
    assert.match(found, /^It opens\n/, `${token.id}: ${found}`);
    assert.ok(found.includes(token.token_id));
    assert.ok(found.includes(`Payload: ${token.payload.length / 2} bytes`), found);
  }
  assert.ok(kinds.size >= 3, [...kinds].join());
});

async function identify({ audience, principal }) {
  await fill({ 'Keys, as in SEALWAX_KEYS': KEYS, Audience: audience });
  const parts = principal === 'anonymous' || principal.anonymous ? {} : principal;
  await page.getByLabel('Anonymous').setChecked(Object.keys(parts).length === 0);
  const { subject = '', client = '', issuer = '' } = parts;
  await fill({ Subject: subject, Client: client, Issuer: issuer });
}

test('a session id and a handle are verified, and another principal is told', async () => {
  const [id] = VECTORS.session_ids;
  await paste(id.session_id);
  await identify(id);
  await submit('Verify');
  assert.match(await outcome(), /^It is authentic, and in time\n/);
  assert.ok((await outcome()).includes(id.ulid));
  await fill({ Subject: 'mallory', Client: '', Issuer: '' });
  // What was found with other values does not stay beside these.
  assert.equal(await page.locator('#outcome').isVisible(), false);
  await submit('Verify');
  assert.match(
    await outcome(),
    /^It belongs to somebody else\n.*Given: subject mallory\.\n.*principal_mismatch/s,
  );

  const [handle] = VECTORS.handles;
  await paste(handle.handle);
  await identify(handle);
  await submit('Verify');
  assert.match(await outcome(), /^It is authentic, and in time\n/);
  await page.getByText('Limits', { exact: true }).click();
  await fill({ 'Maximum age, in seconds': '60' });
  await submit('Verify');
  assert.match(await outcome(), /^It has expired\n.*expired/s);
});

test('a requestState is opened, or refused for what differs', async () => {
  await page.getByRole('button', { name: 'requestState' }).click();
  assert.match(await seen(), /^Sealed token of kind request-state\n/);
  await submit();
  assert.match(await outcome(), /^It opens\n.*"asked": "Delete note 7\?"/s);

  const refused = async (fields, title, code) => {
    const labels = Object.keys(fields);
    const before = await Promise.all(
      labels.map((label) => page.getByLabel(label, { exact: true }).inputValue()),
    );
    await fill(fields);
    await submit();
    const found = await outcome();
    assert.ok(found.startsWith(`${title}\n`) && found.includes(`\n${code} `), found);
    await fill(Object.fromEntries(labels.map((label, at) => [label, before[at]])));
  };
  const [keys, args] = ['Keys, as in SEALWAX_KEYS', 'Arguments, as JSON'];
  const only = 'Bound arguments, by name, where not all are';
  const missing = ['Something is missing', 'invalid_argument'];
  const differs = ['It does not fit', 'unauthentic'];
  const unusable = ['A key cannot be used', 'invalid_key'];
  await refused({ Subject: 'mallory' }, 'It belongs to somebody else', 'principal_mismatch');
  await refused({ [args]: '{"id":8}' }, ...differs);
  await refused({ Audience: 'https://other.example.com' }, ...differs);
  await refused({ Audience: '' }, ...missing);
  await refused({ Subject: '', Issuer: '' }, ...missing);
  await refused({ [keys]: 'swk1_x' }, ...unusable);
  await refused({ [keys]: '' }, ...unusable);
  await refused({ [keys]: VECTORS.keys[0].text }, 'Another key made it', 'unknown_key');
  await page.getByLabel('Anonymous').check();
  await refused({}, ...missing);
  await page.getByLabel('Anonymous').uncheck();
  await refused({ [only]: 'id', [args]: '' }, ...missing);
  await refused({ [args]: '{"id":7,"why":"old"}' }, ...differs);
  await fill({ [only]: 'id, path', [args]: '{"id":7,"why":"old"}' });
  await submit();
  assert.match(await outcome(), /^It opens\n/);

  // One character of it changed.
  const text = await page.locator('#text').inputValue();
  const other = text[60] === 'A' ? 'B' : 'A';
  await paste(`${text.slice(0, 60)}${other}${text.slice(61)}`);
  await submit();
  assert.match(await outcome(), /^It does not fit\n/);
});

test('each example is what it says, and clearing leaves nothing', async () => {
  for (const [name, title] of [
    ['session id', 'Session id'],
    ['handle', 'Handle of type basket'],
    ['key', 'Key text: a secret'],
  ]) {
    await page.getByRole('button', { name, exact: true }).click();
    assert.equal(await page.locator('#seen h2').textContent(), title);
    if (name === 'key') continue;
    await submit('Verify');
    assert.match(await outcome(), /^It is authentic, and in time\n/);
  }
  const clear = () => page.getByRole('button', { name: 'Clear all' }).click();
  const leave = () => page.evaluate(() => window.dispatchEvent(new Event('pagehide')));
  for (const empty of [clear, leave]) {
    await page.getByRole('button', { name: 'handle', exact: true }).click();
    await submit('Verify');
    await empty();
    const values = await page
      .locator('input:not([type=checkbox]), textarea')
      .evaluateAll((fields) => fields.map(({ value }) => value).join(''));
    assert.equal(values, '');
    for (const card of ['#seen', '#bindings', '#outcome']) {
      assert.equal(await page.locator(card).isVisible(), false);
    }
  }
});
