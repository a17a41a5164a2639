/** Rows that have the keys of their children, as seen from the children. */
import { lookedAt } from './packed/reader.ts';
import type { RelationalModel } from './relational-model.ts';

/** A column with keys of rows of another table that are below its own rows. */
export interface KeyHolder {
  readonly table: number;
  /** place in that table */
  readonly column: number;
  /** path of the children in their documents, as in `Column.path` */
  readonly path: string;
}

/** Returns, by table, the columns with keys of its rows, in the order of the tables. */
export function keyHolders({
  tables,
}: Pick<RelationalModel, 'tables'>): ReadonlyMap<number, readonly KeyHolder[]> {
  const holders = new Map<number, KeyHolder[]>();
  for (const [index, table] of tables.entries())
    for (const [column, { role, references, path }] of lookedAt(table, 'columns').entries()) {
      if (role !== 'child_key' || references === null) continue;
      const known = holders.get(references);
      const holder = { table: index, column, path };
      if (known === undefined) holders.set(references, [holder]);
      else known.push(holder);
    }
  return holders;
}
