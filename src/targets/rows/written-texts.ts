/**
 * Columns that are text in a target although the model has another type. Each row says what its document says: where the typed value did not give that
 * back, as for dates and times with an offset, `_lexical` has it, and it is written into the column.
 */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { Column, RelationalModel } from '../../engine/model/relational-model.ts';
import { doubleQuoted, standardLiteral } from '../../engine/sql/dialect.ts';
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

/** Of what stands in `_lexical` as `l`, the values of the column: those of this job alone where others say already what documents say. */
export function isWrittenText(
  { of, isTurned }: Pick<TextColumn, 'of' | 'isTurned'>,
  jobUuid: string,
  relation: (table: string) => string,
  literal = standardLiteral,
): string {
  const ofJob = isTurned
    ? ''
    : ` AND l.document_key IN (SELECT document_key FROM ${relation(sideTableNames.documents)} WHERE job_uuid = ${literal(jobUuid)})`;
  return `l.table_name = ${literal(of.table)} AND l.column_name = ${literal(of.column)} AND trim(l.content) <> ''${ofJob}`;
}

/** A statement for databases that update from another table. */
export function writtenTextStatement(
  column: TextColumn,
  jobUuid: string,
  relation: (table: string) => string,
): string {
  return `UPDATE ${relation(column.table)} AS t SET ${doubleQuoted(column.column)} = l.content FROM ${relation(sideTableNames.lexical)} l
    WHERE l.row_key = t.${doubleQuoted(column.key)} AND ${isWrittenText(column, jobUuid, relation)}`;
}
