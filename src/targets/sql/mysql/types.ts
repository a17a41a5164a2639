/** Column types of MySQL as `information_schema` writes them: the type that a column needs. */
import { ownPrefix } from '../../../engine/model/side-tables.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { lexicalText, textAtOffset } from '../../../engine/sql/mysql-values.ts';
import type { Mysql } from './connection.ts';

export const anyText = 'longtext';

/** the name of a column while it replaces another one */
export const spareColumn = `${ownPrefix}text`;

/** Returns one spelling of a type, whichever server reports it. */
export function plainType(type: string): string {
  const lower = type.toLowerCase();
  if (lower === 'boolean') return 'tinyint';
  return lower.replace(/^(tinyint|smallint|int|bigint)\(\d+\)/, '$1');
}

export function columnSqlType(type: ColumnType): string {
  return plainType(mysql.typeName(type));
}

export function isText(type: string): boolean {
  return /char|text/.test(type);
}

/** Returns the type that holds values of both: one of them, a wider one, or text. */
export function settledType(there: string, incoming: string): string {
  if (there === incoming) return there;
  if (isText(there) && isText(incoming)) return textRoom(there) >= textRoom(incoming) ? there : incoming;
  const whole = ['smallint', 'int', 'bigint'];
  const [ours, theirs] = [whole.indexOf(there), whole.indexOf(incoming)];
  if (ours >= 0 && theirs >= 0) return whole[Math.max(ours, theirs)]!;
  const [a, b] = [digits(there), digits(incoming)];
  if (a !== null && b !== null) {
    const [before, behind] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    return before + behind <= 65 && behind <= 30 ? `decimal(${before + behind},${behind})` : anyText;
  }
  return anyText;
}

function textRoom(type: string): number {
  const length = /\((\d+)\)/.exec(type);
  if (length !== null) return Number(length[1]) + (type.startsWith('var') ? 0.5 : 0);
  return { text: 16_383, mediumtext: 4_194_303 }[type] ?? Number.POSITIVE_INFINITY;
}

/** Returns the digits before and after the point; null for a type that is not an exact number. */
function digits(type: string): readonly [number, number] | null {
  const whole = { smallint: 5, int: 10, bigint: 19 }[type];
  if (whole !== undefined) return [whole, 0];
  const match = /^decimal\((\d+),(\d+)\)$/.exec(type);
  return match === null ? null : [Number(match[1]) - Number(match[2]), Number(match[2])];
}

/**
 * Converts a column that holds values to text, in the form that the values have in documents. The column exists at every moment: one
 * statement replaces it with the new one next to it.
 */
export async function turnToText(
  database: Mysql,
  table: string,
  column: { readonly name: string; readonly comment: string },
  value: string,
  /** returns a statement that writes values of documents that differ into the new column */
  written: (column: string) => string | null = () => null,
): Promise<void> {
  const [of, name, beside] = [table, column.name, spareColumn].map((each) => mysql.quote(each)) as [
    string,
    string,
    string,
  ];
  const comment = column.comment === '' ? '' : ` COMMENT ${mysql.literal(column.comment)}`;
  await database.run(`ALTER TABLE ${of} ADD COLUMN ${beside} LONGTEXT${comment} AFTER ${name}`);
  await database.run(`UPDATE ${of} SET ${beside} = ${value}`);
  const statement = written(spareColumn);
  if (statement !== null) await database.run(statement);
  await database.run(`ALTER TABLE ${of} DROP COLUMN ${name}, CHANGE ${beside} ${name} LONGTEXT${comment}`);
}

/**
 * Returns the value of a column of the type `there` in the form of documents. `modelled`: the column's type in the model; `offset`: for an
 * instant, an expression for the minutes ahead of UTC with which it is written.
 */
export function textOf(
  expression: string,
  there: string,
  modelled: ColumnType,
  offset: string | null = null,
): string {
  if (isText(there)) return expression;
  if (offset !== null && modelled.kind === 'timestamptz' && there === columnSqlType(modelled))
    return textAtOffset(expression, offset);
  return lexicalText(there === columnSqlType(modelled) ? modelled : typeOf(there), expression);
}

function typeOf(there: string): ColumnType {
  // in whole numbers, trailing zeros count
  if (there.startsWith('decimal')) return { kind: digits(there)?.[1] === 0 ? 'bigint' : 'numeric' };
  if (there.startsWith('datetime')) return { kind: 'timestamp' };
  if (there.startsWith('time')) return { kind: 'time' };
  return { kind: there === 'tinyint' ? 'boolean' : 'bigint' };
}
