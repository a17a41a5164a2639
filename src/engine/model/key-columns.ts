/** Tests if the tables of a target have the same key columns as a model. */
import type { Column, RelationalModel } from './relational-model.ts';

type Rooted = Pick<RelationalModel, 'tables' | 'roots' | 'nodes'>;

/** Returns the indexes of the tables that have rows of root elements. */
export function rootTables({ roots, nodes }: Omit<Rooted, 'tables'>): ReadonlySet<number> {
  return new Set(roots.map(({ node }) => nodes[node]!.table));
}

/**
 * True for a table that another logical schema made, in which the key of the row or of the document has another name: rows of both would be
 * mixed there. `has`: whether the table has a column, by the name that the model gives it.
 */
export function hasOtherKeys(columns: readonly Column[], has: (name: string) => boolean): boolean {
  return columns.some(({ role, name }) => (role === 'row_key' || role === 'document') && !has(name));
}

/** `place`: the target, for people. */
export function otherKeysMessage(target: string, table: string): string {
  return `${target}: ${table} was made by another logical schema, which gives the keys of its rows other names. Take that one (-l; _loads, or manifest.json in a folder, tells its id_lschma), or another target.`;
}
