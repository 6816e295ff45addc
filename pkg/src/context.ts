import type { Carried } from './facts.js';
import { json, names, optional, options, text, wireText } from './input.js';
import { core } from './module.js';
import * as shared from './shared.js';

/**
 * The request that a `requestState` belongs to, as 32 bytes that are the same from every language.
 *
 * @param method such as `tools/call`
 * @param target the `name` of `tools/call` and `prompts/get`, the `uri` of `resources/read`
 * @param args the request's arguments; absent or `null` is not the same as `{}`
 * @param binding `only`: the names of the arguments that decide what is done. The others may differ
 * from one round to the next, and are not judged.
 * @throws {@link SealwaxError} `invalid_argument` for arguments that are not the same in every
 * language: `NaN`, an infinity, a number of magnitude 2⁵³ or more, a lone surrogate, more than 100
 * levels; and for arguments that have none of the names in `only`
 *
 * @example
 * ```js
 * import { requestContext } from 'sealwax';
 *
 * const context = requestContext('tools/call', 'delete_note', { id: 7 });
 * console.log(context.length); // 32
 * ```
 */
export function requestContext(
  method: string,
  target: string,
  args?: unknown,
  binding: { readonly only?: readonly string[] | undefined } = {},
): Uint8Array {
  const chosen = optional(names, 'only', options(binding, 'only').only);
  const written = args === undefined ? undefined : json('arguments', args, inOrder);
  return shared.requestContext(text('method', method), text('target', target), written, chosen);
}

/**
 * An object with its keys in order, where they are not: the core reads such a text in a third of the time. What it
 * says is the same, and in which order the core takes them is its own affair.
 */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key)) return value;
  // Not by assignment, which makes no member of `__proto__`.
  return Object.fromEntries(
    keys.sort().map((key) => [key, (value as Record<string, unknown>)[key]]),
  );
}

/**
 * The same from the arguments' JSON text, as it came: what parsing would hide is refused as well,
 * such as a key twice in an object.
 *
 * @throws {@link SealwaxError} `invalid_argument`
 */
export function requestContextFromJson(
  method: string,
  target: string,
  args: string,
  binding: { readonly only?: readonly string[] | undefined } = {},
): Uint8Array {
  const chosen = optional(names, 'only', options(binding, 'only').only);
  const checked = wireText('arguments', args);
  return shared.requestContext(text('method', method), text('target', target), checked, chosen);
}

/**
 * Where the requests and results of a method carry a token, one that the client brings back and
 * one that leaves for it; `undefined` for a method that carries none. For adapters.
 *
 * @example
 * ```js
 * import { carried } from 'sealwax';
 *
 * console.log(carried('tools/list').result); // nextCursor
 * ```
 */
export function carried(method: string): Carried | undefined {
  return core().carried(wireText('method', method));
}
