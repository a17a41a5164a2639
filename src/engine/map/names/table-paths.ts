/** The path that a table of the model has in all its versions. */
import type { TableDraft } from '../tables/model-builder.ts';
import { noPreviousNames, type PreviousNames } from './history/previous.ts';

/**
 * Sets `usePath` of all tables, parents before what stands under them. What is declared under several paths (elements of one type
 * without a name) goes on under the one that an earlier version knew it by; so does what is the only place of a type that had several.
 */
export function settleTablePaths(
  tables: readonly TableDraft[],
  previous: Pick<PreviousNames, 'hasPath'>,
): void {
  const settled = new Set<string>();
  for (const table of tables) {
    const { origin } = table;
    const paths = 'under' in origin ? [origin.under.usePath + origin.steps] : origin.declared;
    const free = paths.filter((path) => !settled.has(path));
    const isKnown = (candidate: string): boolean => !settled.has(candidate) && previous.hasPath(candidate);
    const ofType = (): string | undefined =>
      previous === noPreviousNames ? undefined : origin.ofType?.().find(isKnown);
    let path = free.find(isKnown) ?? ofType() ?? free[0];
    // a type that is redefined has the name of the one that it is made from
    for (let number = 2; path === undefined; number += 1) {
      const numbered = `${paths[0] ?? '/(element)'}~${number}`;
      if (!settled.has(numbered)) path = numbered;
    }
    settled.add(path);
    table.usePath = path;
  }
}
