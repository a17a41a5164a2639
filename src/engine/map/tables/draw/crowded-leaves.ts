/**
 * Finds tables that refer to very many others, or that hold elements with no type in common, and that have no tables below them: each place
 * gets a table of its own instead.
 */
import type { SourceModel } from '../../../model/source-model.ts';
import { hangsFromHead, type Drawing, type TableDraft } from '../model-builder.ts';
import { isUrType } from '../type-graph.ts';

/** the most tables that the keys of one table refer to: with more, a reader can no longer see how they belong together */
const mostParents = 16;

/** Returns the first paths of such tables. A table with rows below it stays one table, because the tables below would multiply as well. */
export function crowdedLeaves({ tables }: Drawing, { types }: SourceModel): string[] {
  const inner = new Set<TableDraft>();
  for (const table of tables)
    for (const { role, parent } of table.columns) {
      if (parent !== null) inner.add(parent);
      if (role === 'child_key') inner.add(table);
    }
  return tables.flatMap((table) => {
    const { origin } = table;
    if (inner.has(table) || !('declared' in origin)) return [];
    const keys = table.columns.filter(({ role }) => role === 'parent_key');
    const parents = new Set(keys.map(({ parent }) => parent));
    const hangs = keys.some(({ via }) => via[0] === hangsFromHead);
    const hasNoType = [...table.openers].some(({ type }) => isUrType(types[type]!));
    return (parents.size > mostParents || hasNoType) && !hangs ? origin.declared.slice(0, 1) : [];
  });
}
