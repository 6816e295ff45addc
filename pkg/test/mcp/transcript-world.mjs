// Keys, people, and the tokens that transcripts name: what tests/vectors/guard.py says of them.

import { readFileSync } from 'node:fs';

import { Codec, requestContext } from 'sealwax';

export const file = JSON.parse(readFileSync(new URL('guard.json', import.meta.url), 'utf8'));

/** The time when a transcript begins, in Unix seconds. */
const NOW = 1_800_000_000;
const realNow = Date.now;
let now = NOW;

/** Does something so many seconds ago. */
export function at(age, work) {
  Date.now = () => (now - age) * 1000;
  try {
    return work();
  } finally {
    Date.now = () => now * 1000;
  }
}

/** Lets so many seconds pass. */
export function pass(seconds) {
  now += seconds;
}

/** A clock that stands still, until it is let go. */
export function stopClock() {
  at(0, () => {});
  return () => {
    Date.now = realNow;
  };
}

/** `key` of what is made: `new` unless it says `old` or `unknown`; `both` is the guard's own ring. */
export function codecOf({ key = 'new', audience = file.audience }) {
  const { keys } = file;
  const both = key === 'both';
  return new Codec({
    keys: both ? `${keys.new} ${keys.old}` : keys[key],
    audience,
    payloadLimit: both ? 4096 : 1 << 16,
  });
}

const bytes = (text) => new TextEncoder().encode(text);

/** What the events of one transcript have in common. */
export class World {
  tokens = new Map();
  /** Every metadata that was seen of a session. */
  sessions = new Map();
  handles = new Map();

  constructor() {
    now = NOW;
  }

  /** The view that made, or opens, what `made` describes. */
  view(made) {
    return codecOf(made).view(file.people[made.as ?? 'alice']);
  }

  /** A value of a transcript, with what it names put in. */
  resolved(value) {
    if (Array.isArray(value)) return value.map((item) => this.resolved(item));
    if (typeof value !== 'object' || value === null) return value;
    if ('$token' in value) return this.#token(value.$token);
    if ('$session' in value) return this.#session(value);
    if ('$handle' in value) return this.#handle(value.$handle);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.resolved(member)]),
    );
  }

  #token(token) {
    if (typeof token === 'string') return this.tokens.get(token);
    const { ttl, payload, age = 0, change, name } = token;
    const text = at(age, () => sealerOf(this.view(token), token).seal(bytes(payload), { ttl }));
    const given = changed(text, change);
    if (name) this.tokens.set(name, given);
    return given;
  }

  #session(named) {
    const { $session } = named;
    const made = typeof $session === 'string' ? named : $session;
    const versions = this.sessions.get($session);
    const metadata =
      made === named ? { ...versions.at(named.version ?? -1) } : this.#madeSession($session);
    for (const member of made.without ?? []) delete metadata[member];
    return named.member ? metadata[named.member] : metadata;
  }

  #madeSession(made) {
    const { payload = '1', ttl, age = 0, idAge, changeId, changeState } = made;
    const create = () => this.view(made).sessions({ ttl }).create(bytes(payload));
    // An old session whose state is fresh.
    const metadata = { ...at(idAge ?? age, create) };
    if (idAge !== undefined || made.stateOf) metadata.state = at(age, create).state;
    if (made.state !== undefined && made.state !== null) metadata.state = made.state;
    metadata.sessionId = changed(metadata.sessionId, changeId);
    if (typeof metadata.state === 'string') metadata.state = changed(metadata.state, changeState);
    if (made.name) this.seen(made.name, metadata);
    return metadata;
  }

  seen(name, metadata) {
    this.sessions.set(name, [...(this.sessions.get(name) ?? []), metadata]);
  }

  #handle(named) {
    if (typeof named === 'string') return this.handles.get(named);
    const { type, payload, age = 0, change } = named;
    const view = this.view(named);
    const make = () =>
      payload === undefined ? view.mintHandle(type) : view.handleState(type).seal(bytes(payload));
    return changed(at(age, make), change);
  }
}

export function sealerOf(view, { kind, label, context }) {
  switch (kind) {
    case 'request-state': {
      const [method, target, args] = context;
      return view.requestState(requestContext(method, target, args ?? undefined));
    }
    case 'cursor':
      return view.cursor(label);
    case 'handle-state':
      return view.handleState(label);
    case 'session':
      return view.session();
    default:
      throw new Error(`no sealer of ${kind}`);
  }
}

function changed(text, change) {
  switch (change) {
    case undefined:
      return text;
    case 'flip': {
      // Not the last character, of which some bits may be unused.
      const place = text.length - 5;
      return `${text.slice(0, place)}${text[place] === 'a' ? 'b' : 'a'}${text.slice(place + 1)}`;
    }
    case 'pad':
      return `${text}=`;
    case 'cut':
      return text.slice(0, -1);
    case 'double':
      return text + text;
    default:
      throw new Error(`no change is named ${change}`);
  }
}
