// A link that a browser opens: the programs of docs/links.md as two replicas with one ledger, an official client, and Chromium.
//
//     links.mjs PYTHON PAGE PACKAGE
//
// PAGE is docs/links.md; beside PACKAGE, a package.json, playwright-core is installed. With a folder alone, it serves the
// TypeScript program that is there.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Key } from 'sealwax';

const HERE = import.meta.dirname;
const ADDRESS = 'https://mcp.example.com';
const isColoured = process.stdout.isTTY && !('NO_COLOR' in process.env);
const paint = (code, text) => (isColoured ? `\x1b[${code}m${text}\x1b[0m` : text);
const [python, page, packages] = process.argv.slice(2);
await (page === undefined ? serve(python) : withReplicas(tell));

/** Serves as for alice, in place of whoever verifies access tokens. */
async function serve(folder) {
  const { fetch, guard } = await import(pathToFileURL(join(folder, 'server.mts')));
  const extra = { iss: 'https://idp.example.com', sub: 'alice' };
  const authInfo = { token: 'token', clientId: 'demo', scopes: [], extra };
  const http = createServer(guard.node((request) => fetch(request, { authInfo })));
  http.listen(0, '127.0.0.1', () => {
    console.error(`running on http://127.0.0.1:${http.address().port}`);
  });
}

/** Returns a program as it stands on the page, but for the ledger, which two processes share here. */
function program(language, memory, shared, made) {
  const text = readFileSync(page, 'utf8');
  const [, found] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text);
  assert.equal(found.split(memory).length, 3, `${language}: expected ${memory} in it twice`);
  return found.replace(memory, shared).replace(`${memory}()`, made);
}

async function withReplicas(story) {
  const cwd = mkdtempSync(join(HERE, 'links-'));
  const settings = { cwd, env: { ...process.env, SEALWAX_KEYS: Key.generate().toText() } };
  const ends = [() => rmSync(cwd, { recursive: true })];
  /** Starts a replica, which says on stderr where it listens. */
  const start = (name, command, ...words) => {
    const child = spawn(command, words, { ...settings, stdio: ['ignore', 2, 'pipe'] });
    ends.unshift(() => child.kill('SIGKILL'));
    const replica = { name, log: '' };
    return new Promise((listening, failed) => {
      child.stderr.setEncoding('utf8').on('data', (text) => {
        replica.log += text;
        replica.url = /running on (http:\/\/[\d.:]+)\s/.exec(replica.log)?.[1];
        if (replica.url) listening(replica);
      });
      child.on('exit', () => failed(new Error(`${name} ended:\n${replica.log}`)));
    });
  };
  try {
    const sqlite = "SqliteLedger(new (await import('node:sqlite')).DatabaseSync('ledger.db'))";
    const inNode = program('ts', 'MemoryLedger', 'SqliteLedger', sqlite);
    writeFileSync(join(cwd, 'server.mts'), inNode);
    const inPython = program('python', 'Memory', 'SQLite', 'SQLite("ledger.db")');
    writeFileSync(join(cwd, 'server.py'), inPython);
    const sealwax = join(HERE, 'node_modules/sealwax/dist/esm/cli.js');
    const begin = ['ledger', 'begin', 'sqlite:ledger.db', '--audience', ADDRESS];
    execFileSync(process.execPath, [sealwax, ...begin], settings);
    const uvicorn = ['-m', 'uvicorn', 'server:app', '--port', '0', '--no-access-log'];
    const replicas = await Promise.all([
      start('TypeScript', process.execPath, import.meta.filename, cwd),
      start('Python', resolve(python), ...uvicorn),
    ]);
    const { chromium } = createRequire(resolve(packages))('playwright-core');
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
    ends.unshift(() => browser.close());
    await story(replicas, await browser.newPage());
  } finally {
    for (const end of ends) await end();
  }
}

/** Tells what came, and who served it. */
function told(what, by, found, expected) {
  assert.deepEqual(found, expected, what);
  const names = by.map(({ name }) => name).join(' → ');
  console.log(`  ${paint(32, '✓')} ${what.padEnd(60)} ${paint(2, names)}`);
}

async function tell(both, page) {
  const [one, other] = both.map((replica) => [replica]);
  console.log(paint(1, '\nA link in a browser: two replicas with one ledger\n'));
  const client = new Client({ name: 'demo', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${both[0].url}/mcp`)));
  const { content } = await client.callTool({ name: 'report', arguments: {} });
  await client.close();
  const { pathname: path } = new URL(content[0].text);
  told('a tool gives alice a link', one, path.slice(0, 13), '/reports/sw1.');
  console.log(paint(2, `    ${content[0].text.slice(0, 80)}… (${path.length - 9} characters)`));

  const at = ([{ url }]) => url + path;
  /** What each replica says of it, whose page must get into no cache and no Referer. */
  const sent = async (method, to = path) => {
    const found = [];
    for (const { url } of both) {
      const { status, headers } = await fetch(url + to, { method });
      const hidden = [headers.get('cache-control'), headers.get('referrer-policy')];
      found.push(hidden.join() === 'no-store,no-referrer' ? status : hidden);
    }
    return found;
  };
  told('a chat fetches it for a preview', both, await sent('GET'), [200, 200]);
  const heard = [];
  page.on('request', (request) => heard.push(request.headers().referer));
  told('Chromium opens it', other, (await page.goto(at(other))).status(), 200);
  const button = page.locator('button');
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const file = readFileSync(await download.path(), 'utf8');
  told('its button downloads the report', other, /^Report 7 of .*alice/.test(file), true);
  console.log(paint(2, `    ${file}`));
  told('no request had the link as its Referer', other, heard, [undefined, undefined]);

  console.log(paint(1, '\nOnce\n'));
  const posted = page.waitForResponse((response) => response.request().method() === 'POST');
  await button.click();
  told('the button again: 404', other, (await posted).status(), 404);
  await page.getByText('Not found').waitFor();
  told('the link at the other replica: 404', one, (await page.goto(at(one))).status(), 404);
  told('and to whoever finds it in a history', both, await sent('POST'), [404, 404]);
  const altered = path.replace(/.{9}$/, 'A'.repeat(9));
  told('altered, it gets the same answer', both, await sent('POST', altered), [404, 404]);
  const logged = () => both.flatMap(({ log }) => log.match(/^.* kind=link .*$/gm) ?? []);
  for (let left = 100; logged().length < 6 && left > 0; left--) await setTimeout(50);
  const lines = logged();
  const codes = lines.map((line) => /(\w+) kind/.exec(line)[1]).join();
  const known = 'used,used,unauthentic';
  told('the logs know why', both, codes, `${known},${known}`);
  console.log(paint(2, `    ${lines[0]}`));
  const logs = both.map(({ log }) => log.includes(path.slice(-20)));
  told('and have the link nowhere', both, logs, [false, false]);
}
