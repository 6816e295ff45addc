/**
 * Probe: finds out what a client does with a question, for the table of docs/confirm.md. README.md says how to add it to yours.
 *
 * It reads what goes over the wire, for no handler sees how a question was answered, and when.
 */

import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { platform, release, tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { Codec, Key } from 'sealwax';
import { Guard } from 'sealwax/mcp';

const FILE = join(mkdtempSync(join(tmpdir(), 'sealwax-probe-')), 'report.md');
/** By which a model shows what reached it. They say nothing of where they stand, so that it cannot guess one from another. */
const words = Object.fromEntries(
  ['content', 'structuredContent', '_meta'].map((part) => [part, randomBytes(3).toString('hex')]),
);

const client = { info: {}, revision: 'unknown', capabilities: {}, meta: [] };
/** One for each time that `ask_me` was called. */
const questions = [];
/** The parts of a result that reached the model. */
let reached = ['not known: what_did_you_see was not called'];

// ---- what goes over the wire ----

function came({ id, method, params = {}, result, error }) {
  const { _meta: meta = {} } = params;
  if (method === 'initialize')
    learn(params.protocolVersion, params.clientInfo, params.capabilities);
  const revision = meta[PROTOCOL_VERSION_META_KEY];
  if (revision) learn(revision, meta[CLIENT_INFO_META_KEY], meta[CLIENT_CAPABILITIES_META_KEY]);
  if (method === 'tools/call') {
    client.meta = Object.keys(meta);
    if (params.name === 'ask_me') called(id, params);
  } else if (method === undefined && id === questions.at(-1)?.id) {
    answered(result ?? error);
  }
}

function learn(revision, info = {}, capabilities = {}) {
  Object.assign(client, { revision, info, capabilities });
}

/** In 2026-07-28 the answer comes with a call of its own, which has the question's state. */
function called(call, { requestState, inputResponses = {} }) {
  if (requestState === undefined || questions.length === 0) questions.push({});
  questions.at(-1).call = call;
  if (requestState !== undefined) answered(Object.values(inputResponses)[0]);
}

function answered(answer) {
  const question = questions.at(-1);
  question.after = Math.round(performance.now() - question.at);
  question.answer = answer;
}

function left({ id, method, result, error }) {
  const question = questions.at(-1);
  // What `initialize` settled may not be what the client asked for.
  if (result?.protocolVersion) client.revision = result.protocolVersion;
  const asks = method ?? result?.resultType;
  if (asks === 'elicitation/create' || asks === 'input_required') {
    Object.assign(question, { id, asks, at: performance.now() });
  } else if (question && id === question.call) {
    const failed = result?.isError ? result.content[0].text : error?.message;
    question.outcome = failed ? `did not run: ${failed}` : 'ran';
  }
  // Here, and not in a tool, because a client may never call the last one.
  writeFileSync(FILE, report());
}

class WatchedTransport extends StdioServerTransport {
  start() {
    const { onmessage } = this;
    this.onmessage = (message) => {
      came(message);
      onmessage(message);
    };
    return super.start();
  }

  send(message) {
    left(message);
    return super.send(message);
  }
}

// ---- the report ----

function report() {
  const { info, revision, capabilities, meta } = client;
  const { elicitation, extensions } = capabilities;
  const rows = [
    ['date', new Date().toISOString().slice(0, 10)],
    ['client', `${info.name ?? 'unnamed'} ${info.version ?? ''}`],
    ['system', `${platform()} ${release()}, Node ${process.versions.node}`],
    ['revision', revision],
    ['elicits', elicitation ? Object.keys(elicitation).join(', ') || 'form' : 'no'],
    ['MCP Apps', JSON.stringify(extensions?.['io.modelcontextprotocol/ui']) ?? 'no'],
    ['capabilities', JSON.stringify(capabilities)],
    ['`_meta` of a call', meta.join(', ')],
    ...questions.map((question, index) => [`question ${index + 1}`, history(question)]),
    ['reached the model', reached.join(', ')],
  ];
  // A bar or a new line would end the cell.
  const cell = (text) => `${text}`.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
  const line = (row) => `| ${row.map(cell).join(' | ')} |`;
  return `| | |\n|---|---|\n${rows.map(line).join('\n')}\n`;
}

function history({ asks = 'not asked', after, answer, outcome = 'did not run so far' }) {
  const { action, content, message } = answer ?? {};
  const said = [action ?? message ?? 'no answer', content && JSON.stringify(content)];
  const spoken = `${said.filter(Boolean).join(' ')}${after === undefined ? '' : ` after ${after} ms`}`;
  return [asks, asks !== 'not asked' && spoken, outcome].filter(Boolean).join('; ');
}

// ---- the server ----

const codec = new Codec({ keys: Key.generate(), audience: 'https://probe.example.com' });
const guard = new Guard({ codec, principal: 'anonymous' });
guard.confirm('ask_me', 'Write down that you saw this question?');

const object = (properties) =>
  fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });
const said = (text) => ({ content: [{ type: 'text', text }] });
const told = () => `${report()}\nTo send in; it is also in ${FILE}`;

function probe() {
  const server = guard.protect(new McpServer({ name: 'probe', version: '1.0.0' }));
  server.registerTool(
    'what_can_you_do',
    {
      description: 'Tells what this client says of itself, and a code word. Call it first.',
      annotations: { readOnlyHint: true },
      outputSchema: object({ word: { type: 'string' } }),
    },
    () => ({
      ...said(`${told()}\n\nA code word: ${words.content}`),
      structuredContent: { word: words.structuredContent },
      _meta: { 'io.github.sealwax/word': words._meta },
    }),
  );
  server.registerTool('ask_me', { description: 'Asks the user. Call it second.' }, () =>
    said('The user agreed, and ask_me ran.'),
  );
  server.registerTool(
    'what_did_you_see',
    {
      description:
        'Returns the report. Call it last, with every code word that you saw in a result.',
      annotations: { readOnlyHint: true },
      inputSchema: object({ words: { type: 'array', items: { type: 'string' } } }),
    },
    ({ words: seen }) => {
      reached = Object.keys(words).filter((part) => seen.join(' ').includes(words[part]));
      if (reached.length === 0) reached = ['nothing'];
      return said(told());
    },
  );
  return server;
}

console.error(`probe: the report is in ${FILE}`);
serveStdio(probe, { transport: new WatchedTransport() });
