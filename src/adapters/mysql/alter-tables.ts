/** A table that was there before, made able to take the rows that come. Each statement leaves a table that has lost nothing. */
import { commentLine } from '../../engine/sql/comment-text.ts';
import { mysql } from '../../engine/sql/dialects/mysql.ts';
import type { Mysql } from './connection.ts';
import type { MysqlStagedTable } from './staging.ts';
import { foldedName, type MysqlTable } from './tables.ts';
import { isText, plainType, settledType, textOf, turnToText } from './types.ts';

const { quote } = mysql;

/** Columns are added, types widened, NOT NULL dropped; answers the expressions that make the staged rows `s` rows of it. */
export async function adaptTable(
  { database, changes }: { readonly database: Mysql; readonly changes: string[] },
  table: MysqlStagedTable,
  known: MysqlTable,
): Promise<string[]> {
  const clauses: string[] = [];
  const values: string[] = [];
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
      continue;
    }
    const type = plainType(there.type);
    const settled = settledType(type, incoming);
    values.push(isText(settled) ? textOf(staged, incoming, column.type) : staged);
    const isKey = table.physical.primaryKey.includes(column.name);
    const drops = there.notNull && !isKey && (nullable || table.isNullable(at));
    const keptNull = there.notNull && !drops ? 'NOT NULL' : 'NULL';
    if (settled !== type) {
      changes.push(`${table.physical.name}.${column.name}: ${type} widened to ${settled}`);
      if (isText(settled) && !isText(type)) {
        await turnToText(database, known.name, there, textOf(quote(there.name), type, column.type));
        continue;
      }
    }
    if (drops) changes.push(`${table.physical.name}.${column.name}: NOT NULL dropped`);
    if (drops || settled !== type)
      clauses.push(
        `MODIFY ${quote(there.name)} ${settled} ${keptNull} COMMENT ${mysql.literal(there.comment)}`,
      );
  }
  const ours = new Set(table.columns.map(({ name }) => foldedName(name)));
  for (const [folded, { name, type, notNull, hasDefault, comment }] of known.columns) {
    if (ours.has(folded) || !notNull || hasDefault) continue;
    clauses.push(`MODIFY ${quote(name)} ${type} NULL COMMENT ${mysql.literal(comment)}`);
    changes.push(`${table.physical.name}.${name}: NOT NULL dropped`);
  }
  if (clauses.length > 0) await database.run(`ALTER TABLE ${quote(known.name)} ${clauses.join(', ')}`);
  return values;
}
