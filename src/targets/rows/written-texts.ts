/**
 * Columns that are text in a target although the model has another type. Their values are as in the documents. If the typed value does not
 * show that, as for dates and times with an offset, the text from `_lexical` is written into the column.
 */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { Column, RelationalModel } from '../../engine/model/relational-model.ts';
import { doubleQuoted } from '../../engine/sql/dialect.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';

/** Returns whether the column has typed values, which may become text if the target cannot hold one of them otherwise. */
export function isTypedValue({ role, type }: Pick<Column, 'role' | 'type'>): boolean {
  return role === 'value' && type.kind !== 'text';
}

export interface TextColumn {
  /** the names in the model, by which `_lexical` identifies values */
  readonly of: { readonly table: string; readonly column: string };
  readonly table: string;
  readonly key: string;
  readonly column: string;
  /** the column had another type until this job, so rows of earlier jobs change, too */
  readonly isTurned: boolean;
}

/**
 * Returns the columns whose texts the job must write. `textOf`: for a column of a table with rows of the job, whether the target has it as
 * text, and whether this job turned it into text; `hasWritten`: the job has rows for `_lexical`.
 */
export function textColumns(
  { tables }: RelationalModel,
  physical: readonly PhysicalTable[],
  hasWritten: boolean,
  textOf: (table: number, column: number) => 'turned' | 'text' | null,
): TextColumn[] {
  const found = tables.flatMap(({ name, columns }, table) =>
    columns.flatMap(({ name: column, ...rest }, at) => {
      if (!isTypedValue(rest)) return [];
      const text = textOf(table, at);
      const { name: there, primaryKey, columns: thereColumns } = physical[table]!;
      if (text === null || primaryKey[0] === undefined) return [];
      return [
        {
          of: { table: name, column },
          table: there,
          key: primaryKey[0],
          column: thereColumns[at]!.name,
          isTurned: text === 'turned',
        },
      ];
    }),
  );
  return hasWritten ? found : found.filter(({ isTurned }) => isTurned);
}

/** The syntax with which a database updates a table from the rows of another one. */
export interface TextUpdates {
  literal(text: string): string;
  /** Returns a table's name as statements write it. */
  relation(table: string): string;
  /** true for `UPDATE … JOIN`, as in MySQL; false for `UPDATE … FROM` */
  readonly joins: boolean;
}

/**
 * Returns the condition that selects the values of the column from `_lexical AS l`. If the column was text before this job, only the values
 * of this job are selected, because earlier values are already as written in the documents.
 */
export function isWrittenText(
  { of, isTurned }: Pick<TextColumn, 'of' | 'isTurned'>,
  jobUuid: string,
  { literal, relation }: TextUpdates,
): string {
  const ofJob = isTurned
    ? ''
    : ` AND l.document_key IN (SELECT document_key FROM ${relation(sideTableNames.documents)} WHERE job_uuid = ${literal(jobUuid)})`;
  return `l.table_name = ${literal(of.table)} AND l.column_name = ${literal(of.column)} AND trim(l.content) <> ''${ofJob}`;
}

export function writtenTextStatement(column: TextColumn, jobUuid: string, updates: TextUpdates): string {
  const [table, lexical] = [column.table, sideTableNames.lexical].map(updates.relation);
  const name = doubleQuoted(column.column);
  const isOfRow = `l.row_key = t.${doubleQuoted(column.key)} AND ${isWrittenText(column, jobUuid, updates)}`;
  return updates.joins
    ? `UPDATE ${table} t JOIN ${lexical} l ON ${isOfRow} SET t.${name} = l.content`
    : `UPDATE ${table} AS t SET ${name} = l.content FROM ${lexical} l WHERE ${isOfRow}`;
}
