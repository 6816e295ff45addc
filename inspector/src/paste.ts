/** What was pasted: a text of ours alone, or with what stood around it, such as JSON, a header's line or quotes. */

import { inspect } from 'sealwax';

export interface Found {
  readonly text: string;
  /** The member or the header before it; or empty. */
  readonly name: string;
}

/**
 * None of these is part of a text of ours. A backslash is before the quotes of JSON within JSON; "=" after a text is padding, an
 * error. `sealwax inspect` has the same rule (cli/src/texts.rs); both pass tests/inspect.json.
 */
const AROUND = /((?:\\[nrt]|=(?=[a-z])|[^!-~]|["'`,:;{}[\]()\\])+)/;
/** Each text of ours begins so; the shortest is a handle. */
const BEGINS = /^(?:sw1\.|[a-z][a-z0-9]{0,31}_)/;
const SHORTEST = 44;
/** Without digits it is no key text, nor the beginning of one. */
const NAME = /^[a-z_-]{1,40}$/i;

/** Returns the texts of ours, each once; or what comes nearest, so that its error can be told. */
export function textsIn(pasted: string): [Found, ...Found[]] {
  const whole = { text: pasted.trim(), name: '' };
  if (isOurs(whole.text)) return [whole];
  const found = new Map<string, Found>();
  let [before, nearest] = ['', whole];
  // What stands between two words is in the list too.
  for (const [at, text] of whole.text.split(AROUND).entries()) {
    if (at % 2 === 1) {
      if (!/[:=]/.test(text)) before = '';
      continue;
    }
    const word = { text, name: NAME.test(before) ? before : '' };
    if (text.length >= SHORTEST && BEGINS.test(text) && isOurs(text)) {
      if (!found.has(text)) found.set(text, word);
    } else if (nearest === whole && /^(?:sw\d+\.|swk|sess_)/.test(text)) {
      nearest = word;
    }
    before = text;
  }
  const [first, ...others] = found.values();
  return first ? [first, ...others] : [nearest];
}

function isOurs(text: string): boolean {
  try {
    inspect(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns what a `requestState` is bound to, if a whole JSON-RPC request was pasted. */
export function requestIn(pasted: string): Readonly<Record<string, string>> {
  try {
    const { method, params } = JSON.parse(pasted);
    const target = params.name ?? params.uri;
    if (typeof method !== 'string' || typeof target !== 'string') return {};
    return { method, target, arguments: JSON.stringify(params.arguments) ?? '' };
  } catch {
    return {};
  }
}
