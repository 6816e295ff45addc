import type { RequestId } from '@modelcontextprotocol/server';

/** A request under an id of ours. */
export interface Numbered {
  /** The client's. */
  readonly id: RequestId;
  readonly ownId: string;
}

/** What may be a cancellation. */
interface Cancelling {
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Requests until they are answered or dropped. */
export class Pending<T extends Numbered> {
  readonly #all = new Map<unknown, T>();
  /** Of requests with one id, the last: as the SDK has it, a cancellation means that one. */
  readonly #last = new Map<unknown, T>();

  add(one: T): T {
    this.#all.set(one.ownId, one);
    this.#last.set(one.id, one);
    return one;
  }

  get(ownId: unknown): T | undefined {
    return this.#all.get(ownId);
  }

  has({ ownId }: T): boolean {
    return this.#all.has(ownId);
  }

  all(): readonly T[] {
    return [...this.#all.values()];
  }

  delete(one: T): void {
    this.#all.delete(one.ownId);
    if (this.#last.get(one.id) === one) this.#last.delete(one.id);
  }

  /** The one that a message cancels, if it names any. */
  meantBy({ method, params }: Cancelling): T | undefined {
    if (method !== 'notifications/cancelled') return undefined;
    return this.#last.get(Object(params).requestId);
  }
}

/** Whether the SDK takes a cancellation for one, and then never answers. */
export function cancels({ params }: Cancelling): boolean {
  const { reason } = Object(params);
  return reason === undefined || typeof reason === 'string';
}

/** A cancellation as the SDK knows the request. */
export function cancelling<M extends Cancelling>(message: M, { ownId }: Numbered): M {
  return { ...message, params: { ...Object(message.params), requestId: ownId } };
}
