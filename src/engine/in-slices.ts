/** Long lists worked through in slices, so that whatever else waits in the process has its turn between them. */

/** ms; somebody who waits hardly notices it */
const sliceMs = 20;

/** As `items.map(make)`. What is made one after the other may depend on it; others may run in between. */
export async function mapInSlices<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item, index: number) => Made,
): Promise<Made[]> {
  const made: Made[] = [];
  let until = performance.now() + sliceMs;
  for (const item of items) {
    made.push(make(item, made.length));
    if (made.length % 64 !== 0 || performance.now() < until) continue;
    await new Promise((resolve) => setTimeout(resolve));
    until = performance.now() + sliceMs;
  }
  return made;
}
