/** Runs long work in slices, so that other tasks of the process run between them. */

/** ms; somebody who waits hardly notices it */
const sliceMs = 20;
/** Items of a list between two looks at the clock. */
const itemsPerLook = 8;

/** Work that may pause wherever it yields. */
export type Steps<T> = Generator<void, T, void>;

/** Does the same as `items.map(make)`, one item at a time, so that an item may depend on earlier ones. Other tasks may run in between. */
export async function mapInSlices<Item, Result>(
  items: Iterable<Item>,
  make: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let until = performance.now() + sliceMs;
  for (const item of items) {
    results.push(make(item, results.length));
    if (results.length % itemsPerLook !== 0 || performance.now() < until) continue;
    await othersTurn();
    until = performance.now() + sliceMs;
  }
  return results;
}

/** Returns the result of the steps. Other tasks may run in between. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + sliceMs;
    do {
      const { done, value } = steps.next();
      if (done === true) return value;
    } while (performance.now() < until);
    await othersTurn();
  }
}

/** Returns the result of the steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
