/** Waiting that ends early: by a signal, or by the awaited event. None of these functions throws. */

/** Resolves after `ms`, when aborted, or when `until` settles. */
export function pause(ms: number, signal: AbortSignal, until?: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    until?.then(done, done);
  });
}

/** Resolves when one of them settles, or when aborted. */
export function race(promises: readonly Promise<unknown>[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    for (const promise of promises) promise.then(done, done);
  });
}

/** Doubles from `firstMs` at attempt 1 up to `maxMs`. */
export function backOffMs(attempt: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
}

/** Resolves to the result of a promise, or to null if it is rejected or takes longer than `ms`. */
export function answerWithin<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    const settle = (answer: T | null): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    promise.then(settle, () => settle(null));
  });
}
