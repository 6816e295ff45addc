/** The meaning of a text's characters: SPEC.md, sections 3 and 5 to 7, as tables. */

import type { Inspected } from 'sealwax';

import { ago, moment } from './time.js';

/** The role of a part, which decides its colour. */
export type Role = 'prefix' | 'kind' | 'key' | 'time' | 'random' | 'sealed' | 'tag';

export interface Part {
  readonly role: Role;
  readonly name: string;
  /** The first of its bytes, and the one after its last; of a prefix, neither. */
  readonly bytes: readonly [number, number] | undefined;
  readonly value: string;
  readonly says: string;
}

/** Some characters of a text, of one part; or one that has bits of two. */
export interface Run {
  readonly text: string;
  readonly role: Role;
  /** The part that follows within this one character, and where it begins: 0 to 1. */
  readonly next?: readonly [Role, number];
}

/** A part before its bytes are read; a length is in bytes. */
type Row = readonly [role: Role, name: string, length: number, says: string, value?: string];

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The parts of a text that `inspect` has read. */
export function parse(text: string, seen: Inspected): { parts: Part[]; runs: Run[] } {
  const prefix = prefixOf(seen);
  const body = text.slice(prefix.length);
  const bits = seen.what === 'handle' ? 5 : 6;
  const bytes = decode(body, bits);
  const rows = rowsOf(seen, bytes.length);
  const parts: Part[] = [
    {
      role: 'prefix',
      name: seen.what === 'handle' ? 'type' : 'prefix',
      bytes: undefined,
      value: prefix,
      says: PREFIX_SAYS[seen.what],
    },
  ];
  let at = 0;
  for (const [role, name, length, says, value] of rows) {
    const end = at + length;
    const told = value ?? hex(bytes.subarray(at, end));
    parts.push({ role, name, bytes: [at, end], value: told, says });
    at = end;
  }
  return { parts, runs: [{ text: prefix, role: 'prefix' }, ...runsOf(body, bits, rows)] };
}

const PREFIX_SAYS = {
  token: 'a sealed token of version 1',
  'session-id': 'a session id',
  handle: 'chosen by the server; the underscore ends it',
  key: 'a key text of version 1',
} as const;

function prefixOf(seen: Inspected): string {
  if (seen.what === 'handle') return `${seen.type}_`;
  return { token: 'sw1.', 'session-id': 'sess_', key: 'swk1_' }[seen.what];
}

function rowsOf(seen: Inspected, length: number): Row[] {
  switch (seen.what) {
    case 'token':
      return [
        ['kind', 'kind', 1, 'what the token is for', seen.kind],
        ['key', 'key id', 4, 'the key that sealed it', seen.keyId],
        ['random', 'token id', 16, 'unique: what logs and ledgers call it', seen.tokenId],
        ['random', 'rest of the nonce', 8, 'random, with the token id'],
        ['sealed', 'encrypted', length - 45, sealedSays(length), `${length - 45} bytes`],
        ['tag', 'tag', 16, 'seals all of it, and what it is bound to'],
      ];
    case 'session-id':
      return [
        ['key', 'key id', 4, 'the key that signed it', seen.keyId],
        ['time', 'made at', 6, ago(seen.createdAtMs), moment(seen.createdAtMs)],
        ['random', 'random', 10, 'makes it unique'],
        ['sealed', 'principal', 8, 'whose it is: a tag that only the key can tell'],
        ['tag', 'signature', 16, 'signs all of it, and the audience'],
      ];
    case 'handle':
      return [
        ['time', 'made at', 6, ago(seen.createdAtMs), moment(seen.createdAtMs)],
        ['random', 'random', 10, 'makes it unique'],
        ['tag', 'signature', 10, 'signs all of it, the audience and the principal'],
      ];
    case 'key':
      return [
        ['sealed', 'secret', 32, 'whoever has it seals and opens everything', 'not shown'],
        ['tag', 'checksum', 4, 'tells a mistyped key', 'right'],
      ];
  }
}

function sealedSays(length: number): string {
  return `whose it is, its times, and a payload of at most ${length - 65} bytes`;
}

/** A character has the bits of two parts where these meet within it. */
function runsOf(body: string, bits: number, rows: readonly Row[]): Run[] {
  const ends: [Role, number][] = [];
  let end = 0;
  for (const [role, , length] of rows) {
    end += length * 8;
    ends.push([role, end / bits]);
  }
  const runs: Run[] = [];
  let at = 0;
  for (const [index, [role, edge]] of ends.entries()) {
    const next = ends[index + 1]?.[0];
    const whole = next === undefined ? body.length : Math.floor(edge);
    if (whole > at) runs.push({ text: body.slice(at, whole), role });
    at = whole;
    if (next === undefined || edge === whole) continue;
    runs.push({ text: body.slice(whole, whole + 1), role, next: [next, edge - whole] });
    at = whole + 1;
  }
  return runs;
}

/** Decodes a text that `inspect` has found well formed. */
function decode(body: string, bits: number): Uint8Array {
  const alphabet = bits === 5 ? BASE32 : BASE64;
  const bytes = new Uint8Array(Math.floor((body.length * bits) / 8));
  let [held, count, at] = [0, 0, 0];
  for (const character of body) {
    held = ((held << bits) | alphabet.indexOf(character)) & 0xffff;
    count += bits;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = held >> count;
  }
  return bytes;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
