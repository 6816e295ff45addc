import type { Inspected } from './facts.js';
import { wireText } from './input.js';
import { core } from './module.js';

/**
 * Reads what a text reveals without a key: a sealed token, a session id, a handle or a key text. For
 * logs and for operators; nothing is verified.
 *
 * @throws {@link SealwaxError} `too_large`, `malformed`, `unsupported` or `invalid_key` for any other
 * text
 */
export function inspect(text: string): Inspected {
  return core().inspect(wireText('text', text));
}
