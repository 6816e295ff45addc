/**
 * Results that are available now or as a promise. A result available now is not deferred: the SDK sets the
 * HTTP status of an error only during delivery.
 */

/** Continues with a value, now or when its promise resolves. */
export function after<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Continues with the result of an application's function, or with the value that it throws. */
export function attempt<T, R>(
  work: () => T | PromiseLike<T>,
  next: (value: T) => R,
  failed: (cause: unknown) => R,
): R | Promise<R> {
  try {
    const done = after(work(), next);
    return isPromiseLike(done) ? done.catch(failed) : done;
  } catch (cause) {
    return failed(cause);
  }
}

/** No answer came in time. */
export class TimeoutError extends Error {}

/**
 * Asks, and waits for the answer for so many milliseconds.
 *
 * @throws the answer's error; {@link TimeoutError} when the time is over, also if the answer was made meanwhile
 */
export function within<T>(ms: number, ask: () => T | PromiseLike<T>): T | Promise<T> {
  const from = performance.now();
  const answer = ask();
  const late = () => new TimeoutError('expected an answer in time');
  if (!isPromiseLike(answer)) {
    if (performance.now() - from > ms) throw late();
    return answer;
  }
  return new Promise((resolve, reject) => {
    const give = () => reject(late());
    // An answer that arrived while this process was busy is read before the second timer.
    let timer = setTimeout(() => {
      timer = setTimeout(give, 0);
    }, ms);
    Promise.resolve(answer)
      .then(resolve, reject)
      .then(() => clearTimeout(timer));
  });
}

export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function';
}
