/**
 * Ids of ours, under which requests reach the SDK: it pairs answers by them, and what a client
 * chose may be the id of two requests at a time, or free again while its handler still runs.
 */

import type { RequestId } from '@modelcontextprotocol/server';

let prefix: string | undefined;
let count = 0;

/** An id that no client can have chosen, for a request of this one. */
export function ownId(id: unknown): string {
  // Not before it is needed: at their global scope, Workers have no randomness.
  prefix ??= `sealwax-${crypto.randomUUID()}-`;
  count += 1;
  return `${prefix}${count}-${JSON.stringify(id)}`;
}

/** Whether it is one of ours. */
export function isOwn(id: unknown): id is string {
  return typeof id === 'string' && prefix !== undefined && id.startsWith(prefix);
}

/** What one of ours stands for; any other stands for itself. */
export function meantBy(id: RequestId): RequestId {
  return isOwn(id) && prefix ? JSON.parse(id.slice(id.indexOf('-', prefix.length) + 1)) : id;
}
