// The card in Chromium: a real guard, the official SDKs, and the bridge of ext-apps as the host.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, afterEach, test } from 'node:test';

import { serve } from '../../build/npm/mcp/card-server.mjs';

// What the package's tests have installed.
const { chromium } = createRequire(new URL('../../pkg/test/package.json', import.meta.url))(
  'playwright-core',
);
const FILES = new URL('../../build/card/dist/', import.meta.url);
const KEY = 'io.github.sealwax/confirm';
const QUESTIONS = {
  delete_note: 'Delete note {id}?',
  move_note: 'Move {from} to {to}?',
  empty: ({ folder }) => `Delete all notes in ${folder}?`,
};
const CALL = { name: 'delete_note', arguments: { id: 7 } };
const TRAP = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>';
const said = (text) => ({ message: { role: 'user', content: [{ type: 'text', text }] } });

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
after(() => browser.close());

let server;
let page;
/** Errors, what the policy had to refuse, dialogs, and requests of the card's. */
let faults;

afterEach(async () => {
  assert.deepEqual(faults, []);
  await page.close();
  server.close();
});

/** Opens a host, connected to a server of its own. */
async function open({
  revision = '2026-07-28',
  questions = QUESTIONS,
  withLedger = true,
  ...look
} = {}) {
  server = await serve(FILES, questions, withLedger);
  page = await browser.newPage(look);
  faults = [];
  page.on('request', (request) => {
    if (request.frame() !== page.mainFrame()) faults.push(request.url());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => faults.push(dialog.message()) && dialog.dismiss());
  page.on('console', (message) => {
    // The client asks whether the server sends by itself: no.
    const isAnswer = message.location().url.endsWith('/mcp');
    if (message.type() === 'error' && !isAnswer) faults.push(message.text());
  });
  await page.goto(server.url);
  return page.evaluate((revision) => window.host.connect(revision), revision);
}

/** Has the host call a tool. */
const call = (params) => page.evaluate((params) => window.host.call(params), params);
/** Has it draw the page of the tool. */
const draw = (...all) => page.evaluate((all) => window.host.draw(...all), all);
const find = (selector) => page.frameLocator('iframe').locator(selector);
const words = () => find('#words').textContent();

/** Calls a tool, and hands the page the result; returns when the page asks. */
async function ask(params = CALL, handed = (result) => result, context = {}) {
  const result = await call(params);
  await draw(params, handed(result), context);
  await find('#yes:enabled').waitFor();
  return result;
}

/** Clicks, and waits for what the page says then. */
async function click(button, then) {
  await find(button).click();
  await find('#words').filter({ hasText: then }).waitFor();
}

/** What the host has heard, which may take a moment. */
async function heard(count) {
  await page.waitForFunction((count) => window.host.heard.length >= count, count);
  return page.evaluate(() => window.host.heard);
}

// No replica keeps what an earlier client can do: that comes back in Mcp-Session-Id.
for (const revision of ['2026-07-28', '2025-11-25']) {
  test(`${revision}: yes runs the tool once, and the host hears of it`, async () => {
    assert.deepEqual(await open({ revision }), Object.keys(QUESTIONS));
    const { _meta, ...forModel } = await ask();
    assert.match(_meta[KEY].yes.call.arguments.confirmation, /^yes_/);
    assert.doesNotMatch(JSON.stringify(forModel), /yes_/);
    assert.match(forModel.content[0].text, /^\[card\] .* was not run/);
    assert.equal(await words(), 'Delete note 7?');
    assert.equal(await find('#yes').textContent(), 'Delete note 7');
    assert.deepEqual(server.ran, []);

    await find('#yes').dblclick();
    assert.deepEqual(await heard(2), [
      { context: { content: [{ type: 'text', text: 'It is done.' }] } },
      said('I answered the card with yes: delete_note ran.'),
    ]);
    assert.match(await words(), /It is done\.$/);
    assert.deepEqual(server.ran, [{ delete_note: { id: 7 } }]);
    assert.equal(await find('#yes').isVisible(), false);
  });

  test(`${revision}: no runs nothing, and the host hears of it`, async () => {
    await open({ revision });
    await ask();
    const left = 'I answered the card with no: delete_note did not run.';
    await click('#no', left);
    assert.deepEqual(await heard(1), [said(left)]);
    assert.deepEqual(server.ran, []);
  });

  for (const [what, handed] of [
    ['result', () => undefined],
    ['_meta', ({ _meta, ...rest }) => rest],
  ]) {
    test(`${revision}: the page of a host that hands no ${what} asks by itself`, async () => {
      await open({ revision });
      await ask(CALL, handed);
      await click('#yes', 'It is done.');
      assert.deepEqual(server.ran, [{ delete_note: { id: 7 } }]);
    });
  }
}

test('a tool that fails was not done', async () => {
  await open();
  await ask({ name: 'delete_note', arguments: { fails: true } });
  const failed = 'The card was answered with yes, but it was not done.';
  await click('#yes', `${failed}\nthe disk is full`);
  assert.deepEqual((await heard(2))[1], said(failed));
});

for (const withLedger of [true, false]) {
  test(`a conversation that is opened again, ${withLedger ? 'with' : 'without'} a ledger`, async () => {
    await open({ withLedger });
    const result = await ask();
    await click('#yes', 'It is done.');
    await draw(CALL, result);
    await click('#yes', withLedger ? 'does not count' : 'It is done.');
    assert.equal(server.ran.length, withLedger ? 1 : 2);
  });
}

test('what looks like something else is shown as it is, and is what runs', async () => {
  await open();
  for (const [id, shown] of [
    [TRAP, TRAP],
    ['invoice\u202egpj.exe', 'invoice\\u{202e}gpj.exe'],
    ['a\u200bb\ufeff', 'a\\u{200b}b\\u{feff}'],
    [`${'x'.repeat(3000)} END`, `${'x'.repeat(3000)} END`],
  ]) {
    await ask({ name: 'delete_note', arguments: { id } });
    // As JSON, and in the words of a function as it is.
    assert.equal(await words(), `Delete note "${shown.replaceAll('"', '\\"')}"?`);
    await click('#yes', 'It is done.');
    assert.deepEqual(server.ran.at(-1), { delete_note: { id } });
    await ask({ name: 'empty', arguments: { folder: id } });
    assert.equal(await words(), `Delete all notes in ${shown}?`);
    assert.equal(await find('img').count(), 0);
  }
});

test('two names in Hebrew stand in their order', async () => {
  await open();
  await ask({ name: 'move_note', arguments: { from: '\u05d0\u05d1', to: '\u05d2\u05d3' } });
  const names = await find('#words bdi').all();
  const [from, to] = await Promise.all(names.map((name) => name.boundingBox()));
  assert.ok(from.x < to.x);
});

test('a tool whose name ends a script', async () => {
  const name = `odd "${TRAP}\u202e\u05d0`;
  await open({ questions: { [name]: 'Do {id}?' } });
  // Without a result, the page calls it by the name in its script.
  await ask({ name, arguments: { id: 1 } }, () => undefined);
  await click('#yes', 'It is done.');
  assert.deepEqual(server.ran, [{ [name]: { id: 1 } }]);
});

test('only a user clicks, and not at once', async () => {
  await open();
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await draw(CALL, await call(CALL));
  await find('#yes:disabled').waitFor();
  await page.clock.runFor(600);
  assert.ok(await find('#yes').isDisabled());
  await page.clock.runFor(200);
  await find('#yes').evaluate((button) => button.click());
  await find('#yes').dispatchEvent('click');
  assert.equal(await words(), 'Delete note 7?');
  assert.deepEqual(server.ran, []);
  await click('#yes', 'It is done.');
});

test('light and dark: as the host says, else as the browser', async () => {
  await open({ colorScheme: 'dark' });
  const looks = () =>
    find('#words').evaluate((words) => [
      getComputedStyle(document.documentElement).backgroundColor,
      getComputedStyle(words).color,
    ]);
  const dark = ['rgb(18, 18, 18)', 'rgb(255, 255, 255)'];
  await ask();
  assert.deepEqual(await looks(), dark);
  await ask(CALL, undefined, { theme: 'light' });
  assert.deepEqual(await looks(), ['rgb(255, 255, 255)', 'rgb(0, 0, 0)']);
  await page.evaluate(() => window.host.bridge.setHostContext({ theme: 'dark' }));
  await find('#words').and(find('[style*=dark] *')).waitFor();
  assert.deepEqual(await looks(), dark);
});

test('its policy lets nothing out', async () => {
  await open();
  await ask();
  await assert.rejects(find('#words').evaluate((_, url) => fetch(url), server.url));
  assert.match(faults.splice(0).join(), /Content Security Policy/);
});
