// Published servers that nobody here wrote: what they say without the guard and with it, put in by the patches beside this file.
// Each runs as far as it does without its upstream.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Key } from 'sealwax';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Where servers keep what they remember of their user. */
const HOME = `${HERE}home`;
const keys = Key.generate().toText();
const running = new Set();
after(() => {
  for (const child of running) child.kill();
});

/** Puts the guard into a package, or takes it out. */
function patch(name, folder, isGuarded) {
  const apply = (...more) =>
    execFileSync('git', ['apply', '-p1', ...more, `${HERE}${name}.patch`], {
      ...{ cwd: `${HERE}${folder}`, stdio: 'pipe' },
      // It stands in a folder that the repository around it ignores.
      env: { ...process.env, GIT_CEILING_DIRECTORIES: HERE, GIT_DIR: '/nonexistent' },
    });
  let wasGuarded = true;
  try {
    apply('--reverse', '--check');
  } catch {
    wasGuarded = false;
  }
  if (wasGuarded !== isGuarded) apply(...(isGuarded ? [] : ['--reverse']));
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server, and waits until it listens. */
async function started(args, portOf = (port) => ({ env: { PORT: port } })) {
  const port = await freePort();
  const { env, more = [], command = process.execPath, path = '/mcp' } = portOf(port);
  const child = spawn(command, [...args, ...more], {
    cwd: HERE,
    env: { ...process.env, ...env, SEALWAX_KEYS: keys },
    stdio: ['ignore', 'ignore', process.env.SHOW ? 'inherit' : 'ignore'],
  });
  running.add(child);
  const url = new URL(path, `http://127.0.0.1:${port}`);
  for (let tries = 0; ; tries += 1) {
    if (
      await fetch(url, { method: 'OPTIONS' }).then(
        () => true,
        () => false,
      )
    )
      break;
    assert.ok(child.exitCode === null && tries < 900, `${command} ${args[0]} does not listen`);
    await sleep(100);
  }
  const stop = async () => {
    running.delete(child);
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { url, stop };
}

async function connected(to, revision, user = 'alice') {
  const versionNegotiation = { mode: { pin: revision } };
  const settings = { capabilities: {}, ...(revision && { versionNegotiation }) };
  const client = new Client({ name: 'of servers', version: '1' }, settings);
  const requestInit = { headers: { 'x-user': user } };
  const transport =
    to instanceof URL
      ? new StreamableHTTPClientTransport(to, { requestInit })
      : new StdioClientTransport({ ...to, stderr: 'ignore' });
  await client.connect(transport);
  return { client, transport };
}

/** What a server has, and what it answers. */
async function answersOf(client, calls) {
  const { prompts, resources } = client.getServerCapabilities();
  // That in Rust keeps them in a map, which has no order.
  const byName = (one, two) => (one.name < two.name ? -1 : 1);
  const said = { tools: (await client.listTools()).tools.toSorted(byName) };
  if (prompts) said.prompts = (await client.listPrompts()).prompts;
  if (resources) said.resources = (await client.listResources()).resources;
  for (const [name, args] of Object.entries(calls)) {
    said[name] = await client.callTool({ name, arguments: args }).catch(({ message }) => message);
  }
  return said;
}

/** Asserts that a server says the same with the guard, but for some tools. */
async function assertSame(t, starts, revision, calls, missing = []) {
  const said = [];
  for (const isGuarded of [false, true]) {
    const { url, stop, program } = await starts(isGuarded);
    if (stop) t.after(stop);
    const { client } = await connected(url ?? program, revision);
    said.push(await answersOf(client, calls));
    await client.close();
  }
  said[0].tools = said[0].tools.filter(({ name }) => !missing.includes(name));
  assert.deepEqual(said[1], said[0]);
  for (const name of Object.keys(calls)) assert.ok(said[0][name], name);
  assert.ok(said[0].tools.length > 7);
}

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything';
const everything = () => started([`${EVERYTHING}/dist/index.js`, 'streamableHttp']);

test('server-everything (@modelcontextprotocol/sdk 1.x) says the same', async (t) => {
  const starts = (isGuarded) => {
    patch('everything', EVERYTHING, isGuarded);
    return everything();
  };
  const calls = {
    echo: { message: 'hello' },
    'get-sum': { a: 2, b: 3 },
    'get-structured-content': { location: 'New York' },
    'get-annotated-message': { messageType: 'error', includeImage: false },
    'get-tiny-image': {},
    'trigger-long-running-operation': { duration: 0.2, steps: 2 },
    'get-resource-links': { count: 2 },
    none: {},
  };
  // It has this one once a client is initialized, which a server for one request never hears of.
  await assertSame(t, starts, undefined, calls, ['simulate-research-query']);
});

/** Asserts that a session goes on at another replica, after a restart too, and for no other user. */
async function assertSessions(t, starts, method, params, expected) {
  const [one, two] = [await starts(), await starts()];
  t.after(one.stop);
  const { client, transport } = await connected(one.url);
  t.after(() => client.close());
  const { sessionId } = transport;
  assert.match(sessionId, /^sw1\./);
  const asked = async (url, user) => {
    const headers = {
      ...{ 'x-user': user, 'mcp-session-id': sessionId, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(url, { method: 'POST', headers, body });
    return [response.status, (await response.text()).includes(expected)];
  };
  assert.deepEqual(await asked(two.url, 'alice'), [200, true]);
  assert.deepEqual(await asked(two.url, 'mallory'), [404, false]);
  await two.stop();
  const again = await starts();
  t.after(again.stop);
  assert.deepEqual(await asked(again.url, 'alice'), [200, true]);
}

test('server-everything: a session goes on at another replica, and after a restart', async (t) => {
  patch('everything', EVERYTHING, true);
  const params = { name: 'echo', arguments: { message: 'hello' } };
  await assertSessions(t, everything, 'tools/call', params, 'Echo: hello');
});

test('mcp-server-supabase (@modelcontextprotocol/server 2.x) says the same', async (t) => {
  const starts = (isGuarded) => started(['supabase.mjs', ...(isGuarded ? ['guarded'] : [])]);
  const calls = { list_organizations: {}, get_project: { id: 'x' }, none: {} };
  await assertSame(t, starts, '2026-07-28', calls);
});

test('mongodb-mcp-server (@modelcontextprotocol/server 2.x) says the same', async (t) => {
  const starts = (isGuarded) => {
    patch('mongodb', 'node_modules/@mongodb-js/mcp-http-runners', isGuarded);
    const options = ['--transport', 'http', '--telemetry', 'disabled', '--httpHost', '127.0.0.1'];
    return started(['node_modules/mongodb-mcp-server/dist/index.js', ...options], (port) => ({
      ...{ env: {}, more: ['--httpPort', port] },
    }));
  };
  const calls = { 'list-databases': {}, find: { database: 'a', collection: 'b' }, none: {} };
  await assertSame(t, starts, '2026-07-28', calls);
});

// ---- Python: what `make test-servers` installs ----

const GIT = 'venv-git';
const ATLASSIAN = 'venv-atlassian';
const WORKSPACE = 'venv-workspace';

/** The folder of a virtual environment's packages. */
const packagesOf = (venv) => {
  const [python] = readdirSync(`${HERE}${venv}/lib`);
  return `${venv}/lib/${python}/site-packages`;
};

test('mcp-server-git (mcp 2) says the same on stdio', async (t) => {
  const repository = `${HERE}repository`;
  rmSync(repository, { recursive: true, force: true });
  execFileSync('git', ['init', '--quiet', repository]);
  const starts = async (isGuarded) => {
    patch('git', packagesOf(GIT), isGuarded);
    const env = { ...process.env, SEALWAX_KEYS: keys };
    const args = ['-m', 'mcp_server_git', '--repository', repository];
    return { program: { command: `${HERE}${GIT}/bin/python`, args, env } };
  };
  const repo_path = repository;
  await assertSame(t, starts, undefined, {
    git_status: { repo_path },
    git_log: { repo_path },
    none: {},
  });
});

const atlassian = () => {
  const options = ['--transport', 'streamable-http', '--stateless', '--host', '127.0.0.1'];
  const command = `${HERE}${ATLASSIAN}/bin/python`;
  const env = {
    ...{ JIRA_URL: 'http://127.0.0.1:9', JIRA_USERNAME: 'x', JIRA_API_TOKEN: 'x' },
    // It names the members of sets.
    ...{ ALLOW_GLOBAL_CRED_FALLBACK: 'true', TOOLSETS: 'all', PYTHONHASHSEED: '0' },
  };
  return started([`${ATLASSIAN}/bin/mcp-atlassian`, ...options], (port) => ({
    ...{ command, env, more: ['--port', port] },
  }));
};

test('mcp-atlassian (FastMCP 2) says the same, and its sessions go on', async (t) => {
  const starts = (isGuarded) => {
    patch('atlassian', packagesOf(ATLASSIAN), isGuarded);
    return atlassian();
  };
  await assertSame(t, starts, undefined, { none: {} });
  await assertSessions(t, atlassian, 'tools/list', {}, 'jira_search');
});

const workspace = () =>
  started([`${WORKSPACE}/bin/workspace-mcp`, '--transport', 'streamable-http'], (port) => ({
    command: `${HERE}${WORKSPACE}/bin/python`,
    env: { WORKSPACE_MCP_PORT: port, WORKSPACE_MCP_HOST: '127.0.0.1', HOME },
  }));

test('workspace-mcp (FastMCP 4) says the same, and its sessions go on', async (t) => {
  const starts = (isGuarded) => {
    patch('workspace', packagesOf(WORKSPACE), isGuarded);
    return workspace();
  };
  const trigger = { trigger_type: 'on_open', function_name: 'opened' };
  await assertSame(t, starts, undefined, {
    generate_trigger_code: trigger,
    list_calendars: { user_google_email: 'alice@example.com' },
    none: {},
  });
  const params = { name: 'generate_trigger_code', arguments: trigger };
  await assertSessions(t, workspace, 'tools/call', params, 'opened');
});

// ---- Go and Rust: `make test-servers` puts the source here, with Sealwax among what it depends on ----

/** Compiles a server with the guard, or without. */
function compile(name, isGuarded, command, args) {
  patch(name, name, isGuarded);
  execFileSync(command, args, { cwd: `${HERE}${name}`, stdio: 'pipe' });
}

const skip = !existsSync(`${HERE}gopls`) && 'there is no Go';
test('gopls (go-sdk) says the same on stdio', { skip }, async (t) => {
  const cwd = `${HERE}module`;
  mkdirSync(cwd, { recursive: true });
  writeFileSync(`${cwd}/go.mod`, 'module example.com/hello\n\ngo 1.26\n');
  writeFileSync(`${cwd}/hello.go`, 'package hello\n\n// Hello greets.\nfunc Hello() {}\n');
  const env = { ...process.env, SEALWAX_KEYS: keys, XDG_CONFIG_HOME: HOME, GOPLSCACHE: HOME };
  const starts = async (isGuarded) => {
    compile('gopls', isGuarded, 'go', ['build', '-mod=mod', '-o', `${HERE}gopls.out`, '.']);
    return { program: { command: `${HERE}gopls.out`, args: ['mcp'], cwd, env } };
  };
  await assertSame(t, starts, undefined, {
    go_workspace: {},
    go_search: { query: 'hello' },
    go_package_api: { packagePaths: ['example.com/hello'] },
    go_diagnostics: { files: [`${cwd}/hello.go`] },
    none: {},
  });
});

const rust = () =>
  started(['--http', '--workspace', `${HERE}rust`], (port) => ({
    command: `${HERE}target/debug/rust-mcp-server`,
    ...{ more: ['--port', port], path: '/' },
  }));

test('rust-mcp-server (rmcp) says the same, and its sessions go on', async (t) => {
  const starts = (isGuarded) => {
    const args = ['build', '--quiet', '--features', 'http', '--config', 'profile.dev.debug=false'];
    compile('rust', isGuarded, 'cargo', [...args, '--target-dir', `${HERE}target`]);
    return rust();
  };
  await assertSame(t, starts, undefined, {
    'rustc-explain': { error_code: 'E0382' },
    'cargo-list': {},
    none: {},
  });
  const params = { name: 'workspace-info', arguments: {} };
  await assertSessions(t, rust, 'tools/call', params, 'rust-mcp-server');
});
