import type { RequestId } from '@modelcontextprotocol/server';

/** A request with an id of ours. */
export interface Numbered {
  /** The client's id. */
  readonly id: RequestId;
  readonly ownId: string;
}

/** A message that may be a cancellation. */
interface Cancelling {
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The requests that are not answered or dropped yet, by our ids. */
export class Pending<T extends Numbered> {
  readonly #all = new Map<unknown, T>();
  /** The last request of each client's id: the SDK applies a cancellation to that one. */
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

  values(): Iterable<T> {
    return this.#all.values();
  }

  remove(one: T): void {
    this.#all.delete(one.ownId);
    if (this.#last.get(one.id) === one) this.#last.delete(one.id);
  }

  /** Returns the request that a message cancels, if it names one. */
  cancelled({ method, params }: Cancelling): T | undefined {
    if (method !== 'notifications/cancelled') return undefined;
    return this.#last.get(Object(params).requestId);
  }
}

/** Whether the SDK accepts a cancellation; it then never answers the request. */
export function cancels({ params }: Cancelling): boolean {
  const { reason } = Object(params);
  return reason === undefined || typeof reason === 'string';
}

/** Returns a cancellation with our id of the request. */
export function cancelling<M extends Cancelling>(message: M, { ownId }: Numbered): M {
  return { ...message, params: { ...Object(message.params), requestId: ownId } };
}
