/**
 * Our own request ids for the SDK, which pairs responses by id. A client may choose the same id for two
 * requests at a time, or reuse one while its handler still runs.
 */

import type { RequestId } from '@modelcontextprotocol/server';

let prefix: string | undefined;
let count = 0;

/** Returns an id that no client can have chosen, for a request with the client's id. */
export function ownId(id: unknown): string {
  // On first use: Workers have no randomness in their global scope.
  prefix ??= `sealwax-${crypto.randomUUID()}-`;
  count += 1;
  return `${prefix}${count}-${JSON.stringify(id)}`;
}

/** Whether an id is one of ours. */
export function isOwn(id: unknown): id is string {
  return typeof id === 'string' && prefix !== undefined && id.startsWith(prefix);
}

/** Returns the client's id for one of ours, and any other id unchanged. */
export function clientId(id: RequestId): RequestId {
  return isOwn(id) && prefix ? JSON.parse(id.slice(id.indexOf('-', prefix.length) + 1)) : id;
}
