/** The command line, by `cli/commands.json` of the repository. */

import { type ParseArgsConfig, parseArgs } from 'node:util';

interface Spec {
  readonly about: string;
  readonly notes: readonly string[];
  readonly groups: Readonly<Record<string, readonly Listed[]>>;
  readonly arguments: Readonly<Record<string, Item>>;
  readonly commands: readonly Entry[];
}

interface Entry {
  readonly name: string;
  readonly help: string;
  readonly arguments?: readonly Listed[];
  readonly options?: readonly Listed[];
  readonly commands?: readonly Entry[];
}

/** An option or argument, or the name of a group of options or of an argument. */
type Listed = string | Item;

interface Item {
  readonly name: string;
  /** The name of its value; a flag has none. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
  readonly default?: string;
  readonly values?: readonly string[];
}

/** What a user gave. */
export interface Given {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly help: boolean;
  readonly version: boolean;
}

/** The arguments of the command that these words name are wrong. */
export class Usage extends Error {
  readonly words: readonly string[];

  constructor(message: string, words: readonly string[]) {
    super(message);
    this.words = words;
  }
}

const COMMON: readonly Item[] = [
  { name: 'help', help: 'Print help' },
  { name: 'version', help: 'Print the version' },
];

/** Reads arguments. What options hold is the command's to judge. */
export function given(spec: Spec, args: readonly string[]): Given {
  const words: string[] = [];
  const [entry, names] = walked(spec, args, words);
  const found = entry.commands ? [] : items(spec, entry.options);
  const flags = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } };
  const taken = found.map(({ name, value }) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', multiple: true },
  ]);
  const { values, positionals } = parsed(words, {
    args: args.slice(words.length),
    options: { ...flags, ...Object.fromEntries(taken) },
    allowPositionals: true,
  });
  const { help = false, version = false, ...rest } = values as Record<string, unknown>;
  const asked = { words, help: help === true, version: version === true };
  if (help || version) return { ...asked, options: {} };
  if (entry.commands) {
    const [unknown] = positionals;
    const expected = names.join(', ');
    throw new Usage(`expected a command (${expected}), found ${unknown ?? 'none'}`, words);
  }
  const places = items(spec, entry.arguments);
  const extra = positionals[places.length];
  if (extra !== undefined) throw new Usage(`unexpected argument ${JSON.stringify(extra)}`, words);
  const options: Record<string, string> = {};
  for (const item of found) if (item.default !== undefined) options[item.name] = item.default;
  for (const [name, given] of Object.entries(rest) as [string, (string | boolean)[]][]) {
    // The last one would count, without a word of the others.
    if (given.length > 1) throw new Usage(`--${name} cannot be used multiple times`, words);
    options[name] = given[0] === true ? '' : `${given[0]}`;
  }
  for (const [at, { name }] of places.entries()) {
    const value = positionals[at];
    if (value !== undefined) options[name] = value;
  }
  const missing = [
    ...places.map(({ name, value, required }) => ({ name, shown: `${value}`, required })),
    ...found.map(({ name, required }) => ({ name, shown: `--${name}`, required })),
  ].filter(({ name, required }) => required && options[name] === undefined);
  if (missing.length > 0) {
    const all = missing.map(({ shown }) => shown).join(', ');
    throw new Usage(`required, but not given: ${all}`, words);
  }
  return { ...asked, options };
}

function parsed(words: readonly string[], given: ParseArgsConfig): ReturnType<typeof parseArgs> {
  try {
    return parseArgs(given);
  } catch (error) {
    throw new Usage((error as Error).message, words);
  }
}

/** Finds the command that the first arguments name, and adds their words; returns it, and the names of the commands there. */
function walked(spec: Spec, args: readonly string[], words: string[]): [Entry, string[]] {
  let entry: Entry = { name: '', help: spec.about, commands: spec.commands };
  for (const arg of args) {
    const next = entry.commands?.find(({ name }) => name === arg);
    if (!next) break;
    words.push(arg);
    entry = next;
  }
  return [entry, (entry.commands ?? []).map(({ name }) => name)];
}

function items(spec: Spec, listed: readonly Listed[] = []): Item[] {
  return listed.flatMap((one) => {
    if (typeof one !== 'string') return one;
    return spec.arguments[one] ?? items(spec, spec.groups[one]);
  });
}

/** Returns the help on the command that the words name. */
export function helpOf(spec: Spec, { words }: Given, program: string): string {
  const [entry] = walked(spec, words, []);
  const options = items(spec, entry.options);
  const places = items(spec, entry.arguments);
  const usage = [program, ...words];
  if (entry.commands) usage.push('<COMMAND>');
  if (options.length > 0) usage.push('[OPTIONS]');
  for (const { name, value, required } of options) {
    if (required) usage.push(`--${name} <${value}>`);
  }
  for (const { value, required } of places) usage.push(required ? `<${value}>` : `[${value}]`);
  const described = (all: readonly Item[], dashes: string): [string, string][] =>
    all.map((item) => [
      `${dashes}${item.name}${item.value === undefined ? '' : ` <${item.value}>`}`,
      [
        item.help,
        ...(item.values ? [`[one of ${item.values.join(', ')}]`] : []),
        ...(item.default === undefined ? [] : [`[default: ${item.default}]`]),
      ].join(' '),
    ]);
  const sections = [
    entry.help,
    `Usage: ${usage.join(' ')}`,
    table(
      'Commands:',
      (entry.commands ?? []).map(({ name, help }) => [name, help]),
    ),
    table(
      'Arguments:',
      places.map(({ value, help }) => [`<${value}>`, help]),
    ),
    table('Options:', described([...options, ...COMMON], '--')),
    ...(words.length === 0 ? spec.notes.map((note) => wrapped(note, '').join('\n')) : []),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

function table(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4;
  const lines = rows.flatMap(([name, help]) => {
    const [first, ...more] = wrapped(help, ' '.repeat(width));
    return [`  ${name}`.padEnd(width) + (first ?? '').trimStart(), ...more];
  });
  return rows.length === 0 ? '' : [title, ...lines].join('\n');
}

/** Breaks a text into lines of at most 100 characters, each after an indent. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line !== indent && line.length + 1 + word.length > 100) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return [...lines, line];
}
