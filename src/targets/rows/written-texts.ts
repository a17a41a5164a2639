/**
 * Columns that are text in a target although the model has another type. Each row says what its document says: where the typed value did not give that
 * back, as for dates and times with an offset, `_lexical` has it, and it is written into the column.
 */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { Column, RelationalModel } from '../../engine/model/relational-model.ts';
import { doubleQuoted } from '../../engine/sql/dialect.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';

/** A column whose values may be text in a target that could not hold one of them otherwise. */
export function isTypedValue({ role, type }: Pick<Column, 'role' | 'type'>): boolean {
  return role === 'value' && type.kind !== 'text';
}

export interface TextColumn {
  /** names of the model, by which `_lexical` tells of values */
  readonly of: { readonly table: string; readonly column: string };
  readonly table: string;
  readonly key: string;
  readonly column: string;
  /** rows of earlier jobs had another type until now, too */
  readonly isTurned: boolean;
}

/**
 * Those that are to be written. `textOf`: of a column of a table that has rows of the job: whether it is text in the target, and was turned into it now;
 * `hasWritten`: the job has rows for `_lexical`.
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

/** How a database updates a table by the rows of another one. */
export interface TextUpdates {
  literal(text: string): string;
  /** Returns a table's name as statements write it. */
  relation(table: string): string;
  /** by `UPDATE … JOIN`, as MySQL does, or by `UPDATE … FROM` */
  readonly joins: boolean;
}

/** Of what stands in `_lexical` as `l`, the values of the column: those of this job alone where others say already what documents say. */
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
