// The page as it is built, in Chromium, for each test anew.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, afterEach, before, beforeEach } from 'node:test';

// What the package's tests have installed.
const { chromium } = createRequire(new URL('../../pkg/test/package.json', import.meta.url))(
  'playwright-core',
);

export const BUILD = new URL('../../build/inspector/', import.meta.url);
export const PAGE = new URL('index.html', BUILD);
const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
export const CASES = json('../../tests/inspect.json');
export const VECTORS = json('../../tests/vectors/v1.json');
export const KEYS = VECTORS.keys.map(({ text }) => text).join(' ');

let browser;
let server;
/** Of the page of this test. */
export let page;
export let requested;
export let errors;

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

/** Opens the page, which a server has unless a URL is given. */
export async function load(options = {}, url = `http://127.0.0.1:${server.address().port}/`) {
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
  await page.goto(url);
}

export const paste = (text) =>
  page.getByRole('textbox', { name: 'Token, session id, handle or key text' }).fill(text);
/** What a card says, a line for each thing in it. */
const told = (card) =>
  page
    .locator(card)
    .evaluate(({ children }) => Array.from(children, (child) => child.textContent).join('\n'));
export const seen = () => told('#seen');
export const outcome = () => told('#outcome');
export const fill = async (fields) => {
  for (const [label, value] of Object.entries(fields)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
};
export const submit = (name = 'Open') => page.getByRole('button', { name, exact: true }).click();
