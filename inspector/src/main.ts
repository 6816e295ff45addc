/** The page: it inspects a pasted text at once, and opens it on request. */

import { Codec, type Inspected, inspect, Key, requestContext, SealwaxError } from 'sealwax';

import { type Fields, NEEDS, open, principalTold, type Result } from './open.js';
import { type Part, parse, type Run } from './parts.js';
import { type Found, requestIn, textsIn } from './paste.js';
import { WHAT } from './words.js';

const text = find<HTMLTextAreaElement>('#text');
const form = find<HTMLFormElement>('#bindings');
const seenCard = find('#seen');
const outcomeCard = find('#outcome');
const reveals = document.querySelectorAll<HTMLButtonElement>('.reveal');

/** What is looked at, of the texts in what was pasted. */
let chosen: Found = { text: '', name: '' };

/** The most characters that are shown of a part or a payload. */
const SHOWN = 20_000;
/** The beginning of a key text: alone, or in what stands around it. */
const KEY = /(?:^|[^\w-]|\\[nrt])swk/i;
/** The most characters of one part in the coloured text. */
const SHOWN_OF_PART = 240;

text.addEventListener('input', () => {
  look();
  for (const [name, value] of Object.entries(requestIn(text.value))) put(name, value);
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  tryOpening();
});
// A result that was opened with other values must not stay beside the new ones.
form.addEventListener('input', () => show(outcomeCard));
for (const button of reveals) {
  button.addEventListener('click', () => reveal(button, button.ariaPressed === 'false'));
}
find('#clear').addEventListener('click', () => {
  clear();
  text.focus();
});
// A browser may cache a page that the user left, with its keys.
window.addEventListener('pagehide', clear);
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-example]')) {
  button.addEventListener('click', () => fill(button.dataset.example as Inspected['what']));
}

function clear(): void {
  text.value = '';
  form.reset();
  for (const button of reveals) reveal(button, false);
  look();
}

/** Shows the text of the field that a button is for, or masks the keys in it. */
function reveal(button: HTMLButtonElement, shown: boolean): void {
  button.ariaPressed = String(shown);
  button.textContent = shown ? 'Hide' : 'Show';
  const field = find<HTMLTextAreaElement>(`#${button.getAttribute('aria-controls')}`);
  // A key is secret from its first characters on, while it is typed.
  const secret = field !== text || KEY.test(field.value);
  field.classList.toggle('masked', secret && !shown);
  button.hidden = !secret;
}

function look(): void {
  const texts = textsIn(text.value);
  for (const button of reveals) reveal(button, button.ariaPressed === 'true');
  lookAt(texts[0], texts);
}

function lookAt(one: Found, all: readonly Found[]): void {
  chosen = one;
  show(outcomeCard);
  form.hidden = true;
  if (one.text === '') {
    show(seenCard);
    return;
  }
  try {
    const seen = inspect(one.text);
    show(seenCard, ...choice(one, all), ...described(one.text, seen));
    ask(seen);
  } catch (error) {
    show(seenCard, ...failure(error));
  }
}

/** Several texts stand in what was pasted, such as a `requestState` and a cursor: each has a button. */
function choice(one: Found, all: readonly Found[]): Node[] {
  if (all.length === 1) return [];
  const buttons = all.map((other, at) => {
    const pressed = String(other === one);
    const name = other.name || `the ${at + 1}.`;
    const button = element('button', { type: 'button', 'aria-pressed': pressed }, name);
    button.addEventListener('click', () => {
      lookAt(other, all);
      find('#seen [aria-pressed="true"]').focus();
    });
    return button;
  });
  return [element('div', { class: 'row' }, element('span', {}, 'Found:'), ...buttons)];
}

const TITLES = {
  'session-id': 'Session id',
  key: 'Key text: a secret',
} as const;

function described(given: string, seen: Inspected): Node[] {
  const { parts, runs } = parse(given, seen);
  const title =
    seen.what === 'token'
      ? `Sealed token of kind ${seen.kind}`
      : seen.what === 'handle'
        ? `Handle of type ${seen.type}`
        : TITLES[seen.what];
  const note = seen.what === 'key' ? `Its id is ${seen.keyId}. ${SECRET}` : UNVERIFIED;
  const colours = element(
    'p',
    { class: 'colours', 'aria-hidden': 'true' },
    ...coloured(runs, seen),
  );
  const characters = `${given.length.toLocaleString('en')} characters`;
  return [
    element('h2', {}, title),
    element('p', {}, `${characters}. ${note}`),
    colours,
    table(parts),
  ];
}

const UNVERIFIED = 'Read without a key, so nothing of it is verified yet.';
const SECRET = 'Keep it out of logs, arguments, chats and pages that are not this one.';

function coloured(runs: readonly Run[], seen: Inspected): Node[] {
  return runs.map(({ text, role, next }) => {
    const shown = seen.what === 'key' && role !== 'prefix' ? '•'.repeat(text.length) : cut(text);
    const span = element('span', { class: `part ${role}` }, shown);
    if (next) {
      const [following, from] = next;
      const edge = `${Math.round(from * 100)}%`;
      span.style.background = `linear-gradient(90deg, var(--${role}) ${edge}, var(--${following}) ${edge})`;
    }
    return span;
  });
}

function cut(text: string): string {
  if (text.length <= SHOWN_OF_PART) return text;
  return `${text.slice(0, SHOWN_OF_PART - 40)} … ${text.slice(-40)}`;
}

function table(parts: readonly Part[]): Node {
  const rows = parts.map(({ role, name, bytes, value, says }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('span', { class: `part ${role}` }, name)),
      element('td', { class: 'value' }, value),
      element('td', {}, says, ...(bytes ? [element('small', {}, ` ${range(bytes)}`)] : [])),
    ),
  );
  const head = ['Part', 'Value', 'What it says'].map((name) =>
    element('th', { scope: 'col' }, name),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  );
}

function range([first, end]: readonly [number, number]): string {
  return end - first === 1 ? `byte ${first}` : `bytes ${first}–${end - 1}`;
}

/** Shows the fields for the bindings of this text. */
function ask(seen: Inspected): void {
  if (seen.what === 'key') return;
  const token = seen.what === 'token';
  const needs: readonly string[] = token ? [...NEEDS[seen.kind], 'payload'] : [];
  for (const field of form.querySelectorAll<HTMLElement>('[data-needs]')) {
    field.hidden = !needs.includes(field.dataset.needs ?? '');
  }
  const labels = { cursor: 'Method of the list', 'handle-state': 'Type of handle' } as const;
  const label = token && seen.kind in labels ? labels[seen.kind as keyof typeof labels] : 'Label';
  find('#label-name').textContent = label;
  find('#bindings-title').textContent = token ? 'Open it' : 'Verify it';
  find('#open').textContent = token ? 'Open' : 'Verify';
  form.hidden = false;
}

function fields(): Fields {
  const shown = [
    ...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea'),
  ]
    .filter((field) => field.closest('[data-needs][hidden]') === null)
    .map((field) => {
      const checked = field instanceof HTMLInputElement && field.type === 'checkbox';
      return [field.name, checked ? (field.checked ? 'yes' : '') : field.value] as const;
    });
  return Object.fromEntries(shown.filter(([, value]) => value !== ''));
}

function tryOpening(): void {
  const values = fields();
  try {
    const seen = inspect(chosen.text);
    show(outcomeCard, ...success(open(chosen.text, seen, values), seen));
    outcomeCard.className = 'card good';
  } catch (error) {
    const whose = error instanceof SealwaxError && error.code === 'principal_mismatch';
    show(outcomeCard, ...failure(error, whose ? `Given: ${principalTold(values)}.` : ''));
    outcomeCard.className = 'card bad';
  }
  outcomeCard.scrollIntoView({ block: 'nearest' });
}

function success({ facts, payload }: Result, seen: Inspected): Node[] {
  const token = seen.what === 'token';
  const list = facts.flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ]);
  return [
    element('h2', {}, token ? 'It opens' : 'It is authentic, and in time'),
    ...(payload ? content(payload) : []),
    element('dl', {}, ...list),
  ];
}

function content(payload: Uint8Array): Node[] {
  const [form, shown] = readable(payload);
  const more =
    shown.length > SHOWN ? `, of which ${SHOWN.toLocaleString('en')} characters are shown` : '';
  return [
    element('p', {}, `Payload: ${payload.length.toLocaleString('en')} bytes of ${form}${more}`),
    element('pre', { tabindex: '0', 'aria-label': 'Payload' }, shown.slice(0, SHOWN)),
  ];
}

function readable(payload: Uint8Array): [form: string, shown: string] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
    try {
      return ['JSON', JSON.stringify(JSON.parse(text), null, 2)];
    } catch {
      return ['text', text];
    }
  } catch {
    const digits = Array.from(payload, (byte) => byte.toString(16).padStart(2, '0'));
    return ['binary, in hex digits', digits.join(' ')];
  }
}

function failure(error: unknown, detail = ''): Node[] {
  if (!(error instanceof SealwaxError)) {
    const message = error instanceof Error ? error.message : String(error);
    return [element('h2', {}, 'It cannot be tried'), element('p', {}, message)];
  }
  const [title, advice] = WHAT[error.code];
  return [
    element('h2', {}, title),
    element('p', {}, detail ? `${advice} ${detail}` : advice),
    element('p', { class: 'code' }, element('code', {}, error.code), ` ${error.message}`),
  ];
}

/** Creates a text of each kind, with a new key. */
function fill(what: Inspected['what']): void {
  form.reset();
  using key = Key.generate();
  const keys = key.toText() ?? '';
  const bound = {
    audience: 'https://mcp.example.com',
    subject: 'alice',
    issuer: 'https://idp.example.com',
  };
  const request = {
    method: 'tools/call',
    target: 'delete_note',
    arguments: JSON.stringify({ id: 7 }),
  };
  using codec = new Codec({ keys, audience: bound.audience });
  using view = codec.view({ subject: bound.subject, issuer: bound.issuer });
  const context = requestContext(request.method, request.target, { id: 7 });
  const payload = { asked: 'Delete note 7?', attempt: 1 };
  const made = {
    token: () => view.requestState(context).sealJson(payload),
    'session-id': () => view.mintSessionId(),
    handle: () => view.mintHandle('basket'),
    key: () => keys,
  };
  text.value = made[what]();
  const values = { keys, ...bound, ...(what === 'token' && request) };
  if (what !== 'key') {
    for (const [name, value] of Object.entries(values)) put(name, value);
  }
  look();
}

function put(name: string, value: string): void {
  find<HTMLInputElement>(`[name="${name}"]`).value = value;
}

function show(card: HTMLElement, ...nodes: Node[]): void {
  card.replaceChildren(...nodes);
  card.hidden = nodes.length === 0;
}

/** Sets text, never HTML: a pasted text may contain anything. */
function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: (Node | string)[]
): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

function find<E extends HTMLElement = HTMLElement>(selector: string): E {
  const found = document.querySelector<E>(selector);
  if (found === null) throw new Error(`no ${selector}`);
  return found;
}
