// The page itself: hostile and huge texts, the keyboard, contrast, its policy.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';

import {
  Codec,
  Key,
  KeyRing,
} from '../../build/npm/consumer/node_modules/sealwax/dist/esm/index.js';
import {
  BUILD,
  CASES,
  errors,
  fill,
  load,
  outcome,
  PAGE,
  page,
  paste,
  requested,
  seen,
  submit,
  VECTORS,
} from './page.mjs';

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
  for (const { text, code } of CASES.refused) {
    await paste(text);
    if (text !== '') assert.ok((await seen()).includes(code));
  }
});

test('a hostile payload is shown as text', async () => {
  const key = Key.generate();
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
  /** As a paste, which takes no time for each character. */
  const put = (text) =>
    page.locator('#text').evaluate((field, text) => {
      field.value = text;
      field.dispatchEvent(new Event('input'));
    }, text);
  await put(`sw1.${'A'.repeat(10_000_000)}`);
  assert.match(await seen(), /^It is too large\n.*too_large/s);
  assert.ok((await seen()).length < 500);
  // As large as a token can be.
  const key = Key.generate();
  const codec = new Codec({ keys: new KeyRing([key]), audience: 'a', payloadLimit: 1 << 20 });
  const token = codec
    .view({ anonymous: true })
    .session()
    .seal(new Uint8Array(1 << 20).fill(120));
  await put(token);
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
  const fields = ['keys', 'audience', 'subject', 'anonymous', 'method', 'arguments'];
  for (const name of ['Clear all', ...fields, 'Open']) {
    assert.ok(reached.has(name), `${name}: ${[...reached]}`);
  }
  await page.locator('[name="audience"]').press('Enter');
  assert.match(await outcome(), /^It opens\n/);
});

for (const colorScheme of ['light', 'dark']) {
  test(`its texts have contrast, in ${colorScheme}`, async () => {
    await load({ colorScheme });
    await page.getByRole('button', { name: 'requestState' }).click();
    await submit();
    const least = await page.evaluate(leastContrast);
    assert.ok(least.ratio >= 4.5, JSON.stringify(least));
    mkdirSync(BUILD, { recursive: true });
    await page.screenshot({ path: new URL(`${colorScheme}.png`, BUILD).pathname, fullPage: true });
  });
}

test('nothing is too wide for a window of 360 pixels, nor broken into many lines', async () => {
  await page.setViewportSize({ width: 360, height: 700 });
  for (const name of ['requestState', 'session id', 'handle', 'key']) {
    await page.getByRole('button', { name, exact: true }).click();
    assert.deepEqual(await page.evaluate(tooWide), [], name);
    if (name === 'key') continue;
    await page.getByText('Limits', { exact: true }).click();
    for (const subject of ['alice', 'mallory'.repeat(50)]) {
      await fill({ Subject: subject });
      await submit(name === 'requestState' ? 'Open' : 'Verify');
      assert.deepEqual(await page.evaluate(tooWide), [], `${name} of ${subject}`);
    }
    await page.getByText('Limits', { exact: true }).click();
  }
  const { sealed } = VECTORS;
  const texts = Object.fromEntries(sealed.slice(0, 9).map(({ id, token }) => [id, token]));
  for (const pasted of [JSON.stringify(texts), `sw1.${'x'.repeat(3000)}`, 'y'.repeat(3000)]) {
    await paste(pasted);
    assert.deepEqual(await page.evaluate(tooWide), [], pasted.slice(0, 100));
  }
});

/** What reaches over the window's edge, scrolls sideways, or has a value of many short lines. Runs in the page. */
function tooWide() {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls');
  for (const element of document.querySelectorAll('body *:not(option)')) {
    if (!element.checkVisibility()) continue;
    const { right, height } = element.getBoundingClientRect();
    const scrolls = element.scrollWidth > element.clientWidth && element.clientWidth > 0;
    const sideways = scrolls && getComputedStyle(element).overflowX !== 'visible';
    const lines = element.matches('td, dd')
      ? height / parseFloat(getComputedStyle(element).lineHeight)
      : 0;
    if (right <= innerWidth && !(sideways && !element.matches('input')) && lines < 5) continue;
    found.push(`${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`);
  }
  return found;
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
  await load({}, PAGE.href);
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
