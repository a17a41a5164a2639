/** A table that was there before, made able to take the rows that come. Each statement leaves a table that has lost nothing. */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import type { FoundTable } from '../found-tables.ts';
import type { Mysql } from './connection.ts';
import type { MysqlStagedTable } from './staging.ts';
import { foldedName } from './tables.ts';
import { isText, plainType, settledType, textOf, turnToText } from './types.ts';

const { quote } = mysql;

export interface AdaptedTable {
  /** of the columns, expressions over the staged rows `s` */
  readonly values: readonly string[];
  /** types of the columns, in the model's order */
  readonly types: readonly string[];
}

/**
 * Adds columns, widens types and drops NOT NULL, by statements of which each leaves a table that has lost nothing. Returns how the staged rows become
 * rows of it. `written`: of a column of the table that becomes text, a statement that writes into another one what documents say.
 */
export async function adaptTable(
  { database, changes }: { readonly database: Mysql; readonly changes: string[] },
  table: MysqlStagedTable,
  known: FoundTable,
  written: (at: number, into: string) => string | null,
): Promise<AdaptedTable> {
  const clauses: string[] = [];
  const values: string[] = [];
  const types: string[] = [];
  for (const [at, column] of table.columns.entries()) {
    const incoming = table.sqlType(at);
    const there = known.columns.get(foldedName(column.name));
    const staged = `s.${quote(column.name)}`;
    const { comment, nullable } = table.physical.columns[at]!;
    if (there === undefined) {
      clauses.push(
        `ADD COLUMN ${quote(column.name)} ${incoming} NULL COMMENT ${mysql.literal(commentLine(comment, 1000))}`,
      );
      changes.push(`${table.physical.name}.${column.name}: added`);
      values.push(staged);
      types.push(incoming);
      continue;
    }
    const type = plainType(there.type);
    const settled = settledType(type, incoming);
    types.push(settled);
    const offset = table.offsetOf(at);
    values.push(
      isText(settled)
        ? textOf(staged, incoming, column.type, offset === null ? null : `s.${offset}`)
        : staged,
    );
    const isKey = table.physical.primaryKey.includes(column.name);
    const drops = there.notNull && !isKey && (nullable || table.isNullable(at));
    const keptNull = there.notNull && !drops ? 'NOT NULL' : 'NULL';
    if (settled !== type) {
      changes.push(`${table.physical.name}.${column.name}: ${type} widened to ${settled}`);
      if (isText(settled) && !isText(type)) {
        const isThere = (name: string): boolean => known.columns.has(foldedName(name));
        const text = textOf(quote(there.name), type, column.type, table.offsetOf(at, isThere));
        await turnToText(
          database,
          known.name,
          { name: there.name, comment: there.comment ?? '' },
          text,
          (into) => written(at, into),
        );
        continue;
      }
    }
    if (drops) changes.push(`${table.physical.name}.${column.name}: NOT NULL dropped`);
    if (drops || settled !== type)
      clauses.push(
        `MODIFY ${quote(there.name)} ${settled} ${keptNull} COMMENT ${mysql.literal(there.comment ?? '')}`,
      );
  }
  const ours = new Set(table.columns.map(({ name }) => foldedName(name)));
  for (const [folded, { name, type, notNull, hasDefault, comment }] of known.columns) {
    if (ours.has(folded) || !notNull || hasDefault) continue;
    clauses.push(`MODIFY ${quote(name)} ${type} NULL COMMENT ${mysql.literal(comment ?? '')}`);
    changes.push(`${table.physical.name}.${name}: NOT NULL dropped`);
  }
  if (clauses.length > 0) await database.run(`ALTER TABLE ${quote(known.name)} ${clauses.join(', ')}`);
  return { values, types };
}
