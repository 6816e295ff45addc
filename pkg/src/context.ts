import { json, text, wireText } from './input.js';
import { core } from './module.js';

/**
 * The request that a `requestState` belongs to, as 32 bytes that are the same from every language.
 *
 * @param method such as `tools/call`
 * @param target the `name` of `tools/call` and `prompts/get`, the `uri` of `resources/read`
 * @param args the request's arguments; absent or `null` is not the same as `{}`. To bind to a few
 * of them, pass an object of those.
 * @throws {@link SealwaxError} `invalid_argument` for arguments that are not the same in every
 * language: `NaN`, an infinity, a number of magnitude 2⁵³ or more, a lone surrogate, more than 100
 * levels
 *
 * @example
 * ```js
 * import { requestContext } from 'sealwax';
 *
 * const context = requestContext('tools/call', 'delete_note', { id: 7 });
 * console.log(context.length); // 32
 * ```
 */
export function requestContext(method: string, target: string, args?: unknown): Uint8Array {
  const written = args === undefined ? undefined : json('arguments', args);
  return core().requestContext(text('method', method), text('target', target), written);
}

/**
 * The same from the arguments' JSON text, as it came: what parsing would hide is refused as well,
 * such as a key twice in an object.
 *
 * @throws {@link SealwaxError} `invalid_argument`
 */
export function requestContextFromJson(method: string, target: string, args: string): Uint8Array {
  const checked = wireText('arguments', args);
  return core().requestContext(text('method', method), text('target', target), checked);
}
