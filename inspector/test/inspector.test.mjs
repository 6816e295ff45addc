// The page as it is built, in Chromium, from a file and from a server.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { Key, KeyRing } from '../../build/npm/consumer/node_modules/sealwax/dist/esm/index.js';

// What the package's tests have installed.
const { chromium } = createRequire(new URL('../../pkg/package.json', import.meta.url))(
  'playwright-core',
);

const BUILD = new URL('../../build/inspector/', import.meta.url);
const PAGE = new URL('index.html', BUILD);
const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const CASES = json('../../tests/inspect.json');
const VECTORS = json('../../tests/vectors/v1.json');
const KEYS = VECTORS.keys.map(({ text }) => text).join(' ');

let browser;
let server;
/** Of the page of this test. */
let page;
let requested;
let errors;

before(async () => {
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(readFileSync(PAGE));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
});

after(async () => {
  await browser?.close();
  server.close();
});

beforeEach(() => load());

/** In every test: no error, nothing that the policy had to refuse, and no request but for the page itself. */
afterEach(async () => {
  assert.deepEqual(errors, []);
  assert.equal(requested.length, 1, requested.join('\n'));
  assert.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, '']);
  await page.close();
});

async function load(options = {}) {
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  [requested, errors] = [[], []];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() !== 'log') errors.push(message.text());
  });
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
}

const paste = (text) =>
  page.getByRole('textbox', { name: 'Token, session id, handle or key text' }).fill(text);
/** What a card says, a line for each thing in it. */
const told = (card) =>
  page
    .locator(card)
    .evaluate(({ children }) => Array.from(children, (child) => child.textContent).join('\n'));
const seen = () => told('#seen');
const outcome = () => told('#outcome');
const fill = async (fields) => {
  for (const [label, value] of Object.entries(fields)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
};
const submit = (name = 'Open') => page.getByRole('button', { name, exact: true }).click();

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
  await refused({ Subject: 'mallory' }, 'It belongs to somebody else', 'principal_mismatch');
  await refused({ 'Arguments, as JSON': '{"id":8}' }, 'It does not fit', 'unauthentic');
  await refused({ Audience: 'https://other.example.com' }, 'It does not fit', 'unauthentic');
  await refused({ Audience: '' }, 'Something is missing', 'invalid_argument');
  await refused({ Subject: '', Issuer: '' }, 'Something is missing', 'invalid_argument');
  await refused({ 'Keys, as in SEALWAX_KEYS': 'swk1_x' }, 'A key cannot be used', 'invalid_key');
  await refused({ 'Keys, as in SEALWAX_KEYS': '' }, 'A key cannot be used', 'invalid_key');
  await refused(
    { 'Keys, as in SEALWAX_KEYS': VECTORS.keys[0].text },
    'Another key made it',
    'unknown_key',
  );
  await page.getByLabel('Anonymous').check();
  await refused({}, 'Something is missing', 'invalid_argument');
  await page.getByLabel('Anonymous').uncheck();
  const only = 'Bound arguments, by name, where not all are';
  await refused(
    { [only]: 'id', 'Arguments, as JSON': '' },
    'Something is missing',
    'invalid_argument',
  );
  await refused({ 'Arguments, as JSON': '{"id":7,"why":"old"}' }, 'It does not fit', 'unauthentic');
  await fill({ [only]: 'id, path', 'Arguments, as JSON': '{"id":7,"why":"old"}' });
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

test('what is pasted does no harm, whatever it is', async () => {
  for (const hostile of [
    '<img src=x onerror="alert(1)">',
    '<img src="https://evil.example/x.png">',
    '"><script>alert(1)</script>',
    'sw1.<b>bold</b>',
    `${CASES.said[0].text}<img src=x onerror=alert(1)>`,
    'javascript:alert(1)',
    '\u202eexe.drowssap\u0000\ud800',
  ]) {
    await paste(hostile);
    assert.match(await seen(), /malformed/);
    assert.equal(await page.locator('img, b, main script').count(), 0);
  }
  for (const { text, code } of CASES.refused.filter(
    (refused) => refused.text.trim() === refused.text,
  )) {
    await paste(text);
    if (text !== '') assert.ok((await seen()).includes(code));
  }
});

test('a hostile payload is shown as text', async () => {
  const key = Key.generate();
  const { Codec } = await import('../../build/npm/consumer/node_modules/sealwax/dist/esm/index.js');
  const view = new Codec({ keys: new KeyRing([key]), audience: 'a' }).view({ anonymous: true });
  await page.evaluate(() => document.title);
  const payloads = [
    '<img src=x onerror="alert(1)">',
    '{"__proto__": {"x": "</pre><script>alert(1)</script>"}}',
  ];
  for (const payload of payloads) {
    await paste(view.cursor('tools/list').seal(new TextEncoder().encode(payload)));
    await fill({
      'Keys, as in SEALWAX_KEYS': key.toText(),
      Audience: 'a',
      'Method of the list': 'tools/list',
    });
    await page.getByLabel('Anonymous').check();
    await submit();
    assert.match(await outcome(), /^It opens\n/);
    assert.equal(await page.locator('img, main script').count(), 0);
  }
  await paste(view.cursor('tools/list').seal(new Uint8Array([0xff, 0, 1])));
  await submit();
  assert.match(await outcome(), /3 bytes of binary, in hex digits\s+ff 00 01/);
});

test('ten megabytes are refused for their length, and the page lives on', async () => {
  await page.locator('#text').evaluate((field) => {
    field.value = `sw1.${'A'.repeat(10_000_000)}`;
    field.dispatchEvent(new Event('input'));
  });
  assert.match(await seen(), /^It is too large\n.*too_large/s);
  assert.ok((await seen()).length < 500);
  // As large as a token can be.
  const key = Key.generate();
  const { Codec } = await import('../../build/npm/consumer/node_modules/sealwax/dist/esm/index.js');
  const codec = new Codec({ keys: new KeyRing([key]), audience: 'a', payloadLimit: 1 << 20 });
  const token = codec
    .view({ anonymous: true })
    .session()
    .seal(new Uint8Array(1 << 20).fill(120));
  await page.locator('#text').evaluate((field, token) => {
    field.value = token;
    field.dispatchEvent(new Event('input'));
  }, token);
  assert.match(await seen(), /^Sealed token of kind session\n/);
  await fill({ 'Keys, as in SEALWAX_KEYS': key.toText(), Audience: 'a' });
  await page.getByLabel('Anonymous').check();
  await submit();
  assert.match(await outcome(), /^It is too large\n/);
  await page.getByText('Limits', { exact: true }).click();
  await fill({ 'Payload, in bytes': '1048576' });
  await submit();
  assert.match(await outcome(), /1,048,576 bytes of text, of which 20,000 characters are shown/);
});

test('every field has a label, and all of it is reached by the keyboard', async () => {
  await page.getByRole('button', { name: 'requestState' }).click();
  const unnamed = await page
    .locator('input, textarea, button')
    .evaluateAll((fields) =>
      fields
        .filter((field) => !(field.labels?.length || field.textContent))
        .map((field) => field.outerHTML),
    );
  assert.deepEqual(unnamed, []);
  await page.locator('#text').focus();
  const reached = new Set();
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(
      () =>
        document.activeElement?.getAttribute('name') ?? document.activeElement?.textContent ?? '',
    );
    reached.add(name.trim());
  }
  for (const name of [
    'Clear all',
    'keys',
    'audience',
    'subject',
    'anonymous',
    'method',
    'arguments',
    'Open',
  ]) {
    assert.ok(reached.has(name), `${name}: ${[...reached]}`);
  }
  await page.locator('[name="audience"]').press('Enter');
  assert.match(await outcome(), /^It opens\n/);
});

for (const colorScheme of ['light', 'dark']) {
  test(`its texts have contrast, in ${colorScheme}, and it fits a narrow window`, async () => {
    await load({ colorScheme });
    await page.getByRole('button', { name: 'requestState' }).click();
    await submit();
    const least = await page.evaluate(leastContrast);
    assert.ok(least.ratio >= 4.5, JSON.stringify(least));
    mkdirSync(BUILD, { recursive: true });
    await page.screenshot({ path: new URL(`${colorScheme}.png`, BUILD).pathname, fullPage: true });
    await page.setViewportSize({ width: 360, height: 700 });
    const [scroll, width] = await page.evaluate(() => [document.body.scrollWidth, innerWidth]);
    assert.ok(scroll <= width, `${scroll} > ${width}`);
    await page.screenshot({
      path: new URL(`${colorScheme}-narrow.png`, BUILD).pathname,
      fullPage: true,
    });
  });
}

/** The least contrast of a text with what is behind it (WCAG 2, 1.4.3). Runs in the page. */
function leastContrast() {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const [r, g, b] = rgb(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let least = { ratio: Number.POSITIVE_INFINITY, text: '' };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: parent, data } = walker.currentNode;
    if (data.trim() === '' || !parent.checkVisibility() || parent.closest('script')) continue;
    let behind = parent;
    while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] === 0)
      behind = behind.parentElement;
    const [a, b] = [
      getComputedStyle(parent).color,
      getComputedStyle(behind ?? document.body).backgroundColor,
    ]
      .map(luminance)
      .sort((one, other) => other - one);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least.ratio) least = { ratio, text: data.trim() };
  }
  return least;
}

test('it works from a file too', async () => {
  await page.close();
  page = await browser.newPage();
  [requested, errors] = [[], []];
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requested.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(PAGE.href);
  await paste(CASES.said[0].text);
  assert.match(await seen(), /^Sealed token of kind state\n/);
});

test('its policy refuses what is not its own', async () => {
  const refused = await page.evaluate(async () => {
    const violated = [];
    const all = new Promise((settled) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        if (violated.push(effectiveDirective) === 4) settled();
      });
      setTimeout(settled, 20_000);
    });
    await fetch('/elsewhere').catch(() => {});
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.body.append(script);
    const style = document.createElement('style');
    style.textContent = 'body { color: red }';
    document.body.append(style);
    const image = document.createElement('img');
    image.src = '/picture.png';
    document.body.append(image);
    await all;
    return [violated.sort(), globalThis.ran];
  });
  assert.deepEqual(refused, [
    ['connect-src', 'img-src', 'script-src-elem', 'style-src-elem'],
    undefined,
  ]);
  // Chromium tells each on its console, and lists what it refused to send.
  errors.length = 0;
  requested.length = 1;
});
