/**
 * Steps that one row has several of, as `address` where it has a `home_address` and a `work_address`: in a name they say what a value is part of, and not
 * whose it is.
 */
type Steps = readonly string[];

interface ElementsOfRows {
  readonly table: number;
  readonly words: Steps;
}

/** `paths`: by table, the steps of its columns. Worked out when first asked for. */
export function repeatedSteps(paths: () => readonly (readonly Steps[])[]): (step: string) => boolean {
  let elements: ReadonlyMap<string, readonly ElementsOfRows[]> | undefined;
  const known = new Map<string, boolean>();
  const find = (step: string): boolean => {
    elements ??= elementsByWord(paths());
    const words = step.split('_');
    const seen = new Set<number>();
    return (elements.get(words[0]!) ?? []).some(({ table, words: own }) => {
      if (!hasInOrder(own, words)) return false;
      if (seen.has(table)) return true;
      seen.add(table);
      return false;
    });
  };
  return (step) => {
    let isRepeated = known.get(step);
    if (isRepeated === undefined) known.set(step, (isRepeated = find(step)));
    return isRepeated;
  };
}

/** Elements that hold values, by each word of their names. */
function elementsByWord(
  tables: readonly (readonly Steps[])[],
): ReadonlyMap<string, readonly ElementsOfRows[]> {
  const found = new Map<string, ElementsOfRows[]>();
  for (const [table, paths] of tables.entries()) {
    const read = new Set<string>();
    for (const path of paths)
      for (let length = path.length - 1; length > 0; length -= 1) {
        const key = path.slice(0, length).join('/');
        if (read.has(key)) break;
        read.add(key);
        const words = path[length - 1]!.split('_');
        for (const word of new Set(words)) {
          const known = found.get(word);
          if (known === undefined) found.set(word, [{ table, words }]);
          else known.push({ table, words });
        }
      }
  }
  return found;
}

/** Whether the words are among those of a name, in their order. */
export function hasInOrder(words: Steps, wanted: Steps): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at >= wanted.length;
}
