import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';
import { build } from 'vite';

import { CONSUMER, expectedCount } from './consumer.mjs';

const TYPES = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** Pages by path; everything else is a file of the consumer. */
const PAGES = {
  '/plain': `<!doctype html>
    <script type="importmap">
      { "imports": { "sealwax": "/node_modules/sealwax/dist/esm/index.js" } }
    </script>
    <script type="module" src="/page.mjs"></script>`,
  '/bundled': `<!doctype html>
    <script type="module" src="/bundle/page.js"></script>`,
  '/policy': `<!doctype html>
    <script type="module" src="/policy.mjs"></script>`,
};
const POLICIES = {
  '/policy?eval': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
  '/policy': "default-src 'self'",
};

let server;
let browser;

before(async () => {
  server = createServer(async ({ url }, response) => {
    const [path] = url.split('?');
    const policy = POLICIES[url] && { 'content-security-policy': POLICIES[url] };
    const type = PAGES[path] ? 'text/html' : TYPES[extname(path)];
    try {
      const body = PAGES[path] ?? (await readFile(join(CONSUMER, path)));
      response.writeHead(200, { 'content-type': type, ...policy }).end(body);
    } catch {
      response.writeHead(404).end();
    }
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

test('a page without a bundler passes every vector', async () => {
  assert.deepEqual(await outcome('/plain'), expectedCount);
});

test('a bundle by Vite passes every vector', async () => {
  await build({
    root: CONSUMER,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: 'bundle',
      target: 'esnext',
      rollupOptions: { input: join(CONSUMER, 'page.mjs'), output: { entryFileNames: 'page.js' } },
    },
  });
  assert.deepEqual(await outcome('/bundled'), expectedCount);
});

test("a page whose policy has 'wasm-unsafe-eval' runs both entry points, and no other page does", async () => {
  assert.deepEqual(await outcome('/policy?eval'), { whole: 8, slim: 8 });
  assert.deepEqual(await outcome('/policy'), { whole: 'CompileError', slim: 'CompileError' });
});

async function outcome(path) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${server.address().port}${path}`);
  await page.waitForFunction('globalThis.outcome');
  return page.evaluate('globalThis.outcome');
}
