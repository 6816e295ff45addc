/**
 * What the author's functions give at once, or later. What is there at once waits for nothing: the SDK
 * finds an HTTP status for an error only while it delivers.
 */

/** Goes on with a value as soon as it is there. */
export function after<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The same of what a function of the author's gives, or throws. */
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

/** Nobody answered in time. */
export class Late extends Error {}

/** How long all asking of one request may take. */
export class TimeLimit {
  #left: number;

  constructor(seconds: number) {
    this.#left = seconds * 1000;
  }

  /**
   * Waits for what was asked.
   *
   * @throws whatever that throws, and {@link Late} once the time is over
   */
  async wait<T>(asked: PromiseLike<T>): Promise<T> {
    const from = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const give = () => reject(new Late('expected an answer in time'));
      // What came while this process was busy is read before the second one.
      const read = () => {
        timer = setTimeout(give, 0);
      };
      timer = setTimeout(read, this.#left);
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
      this.#left = Math.max(0, this.#left - (performance.now() - from));
    }
  }
}

export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function';
}
