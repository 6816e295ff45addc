import type { TokenFields } from './facts.js';
import { json, names, optional, options, text, wireText } from './input.js';
import * as memory from './memory.js';
import { core } from './module.js';

/**
 * Returns the 32 bytes that bind a `requestState` to its request, the same in every language.
 *
 * @param method such as `tools/call`
 * @param target the `name` of `tools/call` and `prompts/get`, the `uri` of `resources/read`
 * @param args the request's arguments; absent or `null` is not the same as `{}`
 * @param binding `only`: the names of the arguments to bind to. The others may differ from one round
 * to the next.
 * @throws {@link SealwaxError} `invalid_argument` for arguments that languages represent differently:
 * `NaN`, an infinity, a number of magnitude 2⁵³ or more, a lone surrogate, more than 100 levels; and
 * for arguments that have none of the names in `only`
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
  binding?: { readonly only?: readonly string[] | undefined },
): Uint8Array {
  const chosen = binding === undefined ? binding : chosenBy(binding);
  const written = args === undefined ? undefined : json('arguments', args);
  return memory.requestContext(text('method', method), text('target', target), written, chosen);
}

/**
 * As {@link requestContext}, from the JSON text of the arguments as received. It also refuses what
 * parsing would hide, such as a duplicate key in an object.
 *
 * @throws {@link SealwaxError} `invalid_argument`
 */
export function requestContextFromJson(
  method: string,
  target: string,
  args: string,
  binding?: { readonly only?: readonly string[] | undefined },
): Uint8Array {
  const chosen = binding === undefined ? binding : chosenBy(binding);
  const checked = text('arguments', args);
  return memory.requestContext(text('method', method), text('target', target), checked, chosen);
}

function chosenBy(binding: unknown): string | undefined {
  return optional(names, 'only', options(binding, 'only').only);
}

/**
 * Returns the members of a method's request and result that carry a token; `undefined` for a method
 * that carries none. For adapters.
 *
 * @example
 * ```js
 * import { tokenFields } from 'sealwax';
 *
 * console.log(tokenFields('tools/list').result); // nextCursor
 * ```
 */
export function tokenFields(method: string): TokenFields | undefined {
  const known = fieldsOf.get(method);
  if (known !== undefined) return known;
  const found = core().tokenFields(wireText('method', method));
  // Clients choose the methods, so only some are kept.
  if (found !== undefined && fieldsOf.size < 64 && method.length < 64) {
    fieldsOf.set(method, Object.freeze(found));
  }
  return found;
}

const fieldsOf = new Map<string, TokenFields>();
