/**
 * Finds elements that a row has several of, under one name or under several. They determine what names of columns must say about the owner
 * of a value.
 */
type Steps = readonly string[];

interface ElementOfRows {
  readonly table: number;
  /** the steps to it */
  readonly path: string;
  /** the words of the element's name */
  readonly words: Steps;
}

/**
 * Returns a test for steps that occur several times in one row, such as `address` if the row has a `home_address` and a `work_address`:
 * such a step says which part a value belongs to, but not whose it is. `paths`: by table, the steps of its columns; called when a step is
 * first tested.
 */
export function repeatedSteps(paths: () => readonly (readonly Steps[])[]): (step: string) => boolean {
  let elements: ReadonlyMap<string, readonly ElementOfRows[]> | undefined;
  const known = new Map<string, boolean>();
  const find = (step: string): boolean => {
    elements ??= elementsByWord(paths());
    const words = step.split('_');
    const seen = new Map<number, readonly ElementOfRows[]>();
    for (const element of elements.get(words[0]!) ?? []) {
      if (!hasInOrder(element.words, words)) continue;
      const others = seen.get(element.table) ?? [];
      if (others.some(({ path }) => areApart(element.path, path))) return true;
      seen.set(element.table, [...others, element]);
    }
    return false;
  };
  return (step) => {
    let isRepeated = known.get(step);
    if (isRepeated === undefined) known.set(step, (isRepeated = find(step)));
    return isRepeated;
  };
}

/** An element within another is not a second one: `witness` within `witness_statement`. */
function areApart(one: string, other: string): boolean {
  return !one.startsWith(`${other}/`) && !other.startsWith(`${one}/`);
}

/** Elements that hold values, by each word of their names. */
function elementsByWord(
  tables: readonly (readonly Steps[])[],
): ReadonlyMap<string, readonly ElementOfRows[]> {
  const found = new Map<string, ElementOfRows[]>();
  for (const [table, paths] of tables.entries())
    for (const [path, steps] of elementsOf(paths.map(holderOf))) {
      const words = steps.at(-1)!.split('_');
      for (const word of new Set(words)) {
        const known = found.get(word);
        if (known === undefined) found.set(word, [{ table, path, words }]);
        else known.push({ table, path, words });
      }
    }
  return found;
}

/**
 * Returns the paths of elements for which the row has another element, of another name, that holds half as much or more of the same
 * content, as sellers and buyers do. `paths`: the steps of the table's columns.
 */
export function twinElements(paths: readonly Steps[]): ReadonlySet<string> {
  const parts = new Map<string, string[]>();
  const wholes = new Map<string, string[]>();
  for (const steps of elementsOf(paths.map(holderOf)).values()) {
    const [whole, part] = [holderOf(steps).join('/'), steps.at(-1)!];
    if (whole === '') continue;
    parts.set(whole, [...(parts.get(whole) ?? []), part]);
    wholes.set(part, [...(wholes.get(part) ?? []), whole]);
  }
  const found = new Set<string>();
  for (const [whole, own] of parts) {
    const shared = new Map<string, number>();
    for (const other of own.flatMap((part) => wholes.get(part)!))
      shared.set(other, (shared.get(other) ?? 0) + 1);
    for (const [other, count] of shared) {
      const isAlike = count * 2 >= Math.min(own.length, parts.get(other)!.length);
      if (isAlike && areApart(whole, other) && lastStep(other) !== lastStep(whole)) found.add(whole);
    }
  }
  return found;
}

function lastStep(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function holderOf(steps: Steps): Steps {
  return steps.slice(0, -1);
}

/** Returns the elements on the paths, those at their ends as well, by their steps joined by slashes. */
export function elementsOf(paths: readonly Steps[]): ReadonlyMap<string, Steps> {
  const found = new Map<string, Steps>();
  for (const path of paths)
    for (let { length } = path; length > 0; length -= 1) {
      const steps = path.slice(0, length);
      const key = steps.join('/');
      if (found.has(key)) break;
      found.set(key, steps);
    }
  return found;
}

/** Returns whether the words are among those of a name, in their order. */
export function hasInOrder(words: Steps, wanted: Steps): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at >= wanted.length;
}
