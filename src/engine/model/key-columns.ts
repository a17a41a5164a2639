/** Whether the tables of a target have the same key columns as a model. */
import { fileKeyName } from './side-tables.ts';
import type { Column, RelationalModel } from './relational-model.ts';

type Rooted = Pick<RelationalModel, 'tables' | 'roots' | 'nodes'>;

/**
 * True of a model that has the document's key in all of its tables; those of earlier releases have it in tables of root elements. Of a large
 * model, which is read as it is needed, few tables are looked at.
 */
export function everyRowNamesDocument(model: Rooted): boolean {
  const { tables } = model;
  const roots = rootTables(model);
  const others = Array.from({ length: tables.length }, (_, index) => index).filter(
    (index) => !roots.has(index),
  );
  return [...others.slice(0, 1), ...others.slice(-1)].every((index) =>
    tables[index]!.columns.some(({ role }) => role === 'document'),
  );
}

/** The tables, by index, in which rows of root elements lie. */
export function rootTables({ roots, nodes }: Omit<Rooted, 'tables'>): ReadonlySet<number> {
  return new Set(roots.map(({ node }) => nodes[node]!.table));
}

/**
 * True for a table that another logical schema made, in which the key of the row or of the file has another name, or the file's is not:
 * early ones called the row's key `document_key` where the table is `document`, and the file's then `_document_key`; and had the file's in
 * tables of root elements only. Rows of both would be mixed there. `has`: whether the table has a column, by the name that the model gives it.
 */
export function hasOtherKeys(
  model: Rooted,
  columns: readonly Column[],
  has: (name: string) => boolean,
): boolean {
  const rowKey = columns.find(({ role }) => role === 'row_key');
  const fileKey = columns.find(({ role }) => role === 'document');
  if (rowKey !== undefined && !has(rowKey.name)) return true;
  if (fileKey === undefined) return false;
  if (!has(fileKey.name) && everyRowNamesDocument(model)) return true;
  if (rowKey?.name.toLowerCase() === fileKeyName && !has(fileKey.name)) return true;
  const early = `_${fileKey.name}`;
  return (
    fileKey.name.toLowerCase() === fileKeyName && !columns.some(({ name }) => name === early) && has(early)
  );
}

/** `place`: the target, for people. */
export function otherKeysMessage(target: string, table: string): string {
  return `${target}: ${table} was made by another logical schema, which gives the keys of its rows other names. Take that one (-l; _loads, or manifest.json in a folder, tells its id_lschma), or another target.`;
}
