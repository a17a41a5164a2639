/** Whether the tables of a target have the same key columns as a model. */
import { fileKeyName } from './side-tables.ts';
import type { Column } from './relational-model.ts';

/**
 * True for a table that another logical schema made, in which the key of the row or of the file has another name: early ones called the
 * row's key `document_key` where the table is `document`, and the file's then `_document_key`. Rows of both would be mixed there.
 * `has`: whether the table has a column, by the name that the model gives it.
 */
export function hasOtherKeys(columns: readonly Column[], has: (name: string) => boolean): boolean {
  const rowKey = columns.find(({ role }) => role === 'row_key');
  const fileKey = columns.find(({ role }) => role === 'document');
  if (rowKey !== undefined && !has(rowKey.name)) return true;
  if (fileKey === undefined) return false;
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
