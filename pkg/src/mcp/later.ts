/**
 * Results that are available now or as a promise. A result available now is not deferred: the SDK sets the
 * HTTP status of an error only during delivery.
 */

/** Continues with a value, now or when its promise resolves. */
export function after<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Continues with the result of an application's function, or with the value that it throws. */
export function attempt<T, R>(
  work: () => T | PromiseLike<T>,
  next: (value: T) => R,
  failed: (cause: unknown) => R,
): R | Promise<R> {
  try {
    const value = work();
    return isPromiseLike(value) ? Promise.resolve(value).then(next).catch(failed) : next(value);
  } catch (cause) {
    return failed(cause);
  }
}

/** No answer came in time. */
export class TimeoutError extends Error {}

/**
 * Waits for an answer for so many milliseconds.
 *
 * @throws the answer's error; {@link TimeoutError} when the time is over
 */
export async function within<T>(ms: number, answer: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const give = () => reject(new TimeoutError('expected an answer in time'));
    // An answer that arrived while this process was busy is read before the second timer.
    const read = () => {
      timer = setTimeout(give, 0);
    };
    timer = setTimeout(read, ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time limit for all questions of one request together. */
export class TimeLimit {
  #left: number;

  constructor(seconds: number) {
    this.#left = seconds * 1000;
  }

  async wait<T>(asked: PromiseLike<T>): Promise<T> {
    const from = performance.now();
    try {
      return await within(this.#left, asked);
    } finally {
      this.#left = Math.max(0, this.#left - (performance.now() - from));
    }
  }
}

export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function';
}
