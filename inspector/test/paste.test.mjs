// What is pasted with what stands around it, and keys that nobody else shall read.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CASES, fill, KEYS, outcome, page, paste, seen, submit, VECTORS } from './page.mjs';

const [token] = VECTORS.sealed.filter(({ kind }) => kind === 'request-state');
const [cursor] = VECTORS.sealed.filter(({ kind }) => kind === 'cursor');
const [keyText, otherKey] = VECTORS.keys.map(({ text }) => text);

test('it finds what the command finds', async () => {
  assert.equal(CASES.found.length, 31);
  for (const { given, texts, code } of CASES.found) {
    await paste(given);
    if (code) {
      assert.match(await seen(), new RegExp(code), given);
      continue;
    }
    const names = await page.locator('#seen button').allTextContents();
    const several = texts.length > 1;
    const expected = several ? texts.map(({ name }, at) => name || `the ${at + 1}.`) : [];
    assert.deepEqual(names, expected, given);
    for (const [at, { text }] of texts.entries()) {
      if (several) await page.locator('#seen button').nth(at).click();
      const [title] = CASES.said.find((said) => said.text === text).words;
      const shown = await page.locator('#seen h2').textContent();
      assert.equal(shown.toLowerCase().replace(':', ','), title, given);
      assert.match(await seen(), new RegExp(`\\n${text.length} characters\\.`));
    }
  }
});

test('what is chosen of several texts has the focus, and its own fields', async () => {
  await paste(JSON.stringify({ requestState: token.token, nextCursor: cursor.token }));
  await page.getByRole('button', { name: 'nextCursor' }).click();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'nextCursor');
  assert.equal(await page.getByLabel('Method of the list').isVisible(), true);
});

test('what is no text of ours is told of what comes nearest', async () => {
  await paste(`{"requestState": "${token.token.slice(0, 50)}"}`);
  assert.match(await seen(), /^It is none of Sealwax’s texts\n.*malformed/s);
  await paste('{"requestState": "sw2.AAAA"}');
  assert.match(await seen(), /^It is of a later version\n.*unsupported/s);
});

test('a whole request brings what its state is bound to', async () => {
  await page.getByRole('button', { name: 'requestState' }).click();
  const requestState = await page.locator('#text').inputValue();
  await fill({ Method: '', 'Target: name or uri': '', 'Arguments, as JSON': '' });
  const params = { name: 'delete_note', arguments: { id: 7 }, requestState };
  await paste(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }));
  await submit();
  assert.match(await outcome(), /^It opens\n/);
});

/** Whether the field looks the same with two texts, to the pixel. */
async function alike(field, ...texts) {
  const shots = [];
  for (const text of texts) {
    await field.fill(text);
    await field.blur();
    shots.push(await settled(field));
  }
  return shots[0].equals(shots[1]);
}

/** Whether it does once the page no longer changes for another reason, such as what it says of a key. */
async function becomeAlike(...given) {
  for (let tries = 0; tries < 10; tries += 1) if (await alike(...given)) return true;
  return false;
}

/** Its picture once it no longer changes: what is opened moves the page under it. */
async function settled(field) {
  for (let last; ; ) {
    const shot = await field.screenshot({ animations: 'disabled' });
    if (last?.equals(shot)) return shot;
    last = shot;
  }
}

test('keys are masked while they are typed and pasted, until they are asked for', async () => {
  await paste(token.token);
  for (const [field, show] of [
    [page.locator('#keys'), page.locator('[aria-controls="keys"]')],
    [page.locator('#text'), page.locator('[aria-controls="text"]')],
  ]) {
    const keys = [keyText, otherKey];
    assert.ok(await becomeAlike(field, ...keys));
    await show.click();
    assert.equal(await show.getAttribute('aria-pressed'), 'true');
    assert.equal(await show.textContent(), 'Hide');
    assert.ok(!(await alike(field, ...keys)));
    await show.click();
    assert.ok(await becomeAlike(field, ...keys));
  }
  // Typed: masked before its first secret character. A token is not.
  await paste('');
  await page.locator('#text').pressSequentially('swk1_x');
  assert.equal(await page.locator('#text.masked').count(), 1);
  await paste(token.token);
  assert.equal(await page.locator('#text.masked').count(), 0);
  assert.equal(await page.locator('[aria-controls="text"]').isVisible(), false);
  // What was shown is masked again for the next one.
  await page.locator('[aria-controls="keys"]').click();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await paste(token.token);
  await fill({ 'Keys, as in SEALWAX_KEYS': KEYS });
  assert.equal(await page.locator('#keys.masked').count(), 1);
});
