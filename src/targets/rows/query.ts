/** The queries of `--from`: the one statement that reads their rows, and a check for parameters, which have no values there. */
import { AppError } from '../../errors.ts';
import type { QueryColumn, RowStart } from '../../ports/row-source.ts';

// Finds parameters in queries that come from programs; `--query` has no values for them.

/** The first characters of parameters: `?`, `$1`, `$name`, `:name`, `@name`. */
export type ParameterMark = '?' | '$' | ':' | '@';

const rest = String.raw`--[^\n]*|/\*[\s\S]*?\*/|\$(\w*)\$[\s\S]*?\$\1\$|[A-Za-z_][\w$]*|\d+|::|:=|@@\w+|(\?\d*|\$\w+|:[A-Za-z_]\w*|@[A-Za-z_]\w*)`;
/** Texts, quoted names, comments, words, numbers, casts and assignments; then parameters. */
const parts = {
  standard: new RegExp(String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|${rest}`, 'g'),
  mysql: new RegExp(String.raw`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|${'`[^`]*`'}|#[^\n]*|${rest}`, 'g'),
};

/** Returns the first parameter of a query that begins with one of the marks; null if it has none. */
export function findParameter(
  query: string,
  marks: readonly ParameterMark[],
  syntax: keyof typeof parts = 'standard',
): string | null {
  for (const [, , parameter] of query.matchAll(parts[syntax]))
    if (parameter !== undefined && marks.includes(parameter[0] as ParameterMark)) return parameter;
  return null;
}

export function parameterFault(parameter: string, label: string): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: the query has the parameter ${parameter}, and --query cannot give it a value: write the value into the query`,
  );
}

// The statement that reads the rows of a query. The query is a derived table in it, so that it can only be a single query.

interface QueryDialect {
  readonly quote: (name: string) => string;
  readonly literal: (text: string) => string;
  /** condition: the column is equal to the text or greater; absent: the literal adopts the column's type */
  readonly isFrom?: (column: string, text: string) => string;
}

const alias = 'svc_rows';

/** `query`: as the user wrote it. */
export function tableOf(query: string): string {
  // the line break ends a comment at the end of the query
  return `(${query.trim().replace(/;+$/, '')}\n) AS ${alias}`;
}

/** `expressions`: of the columns, from `columnOf`. */
export function selectRows(
  { quote, literal, isFrom }: QueryDialect,
  from: string,
  expressions: readonly string[],
  order: RowStart | null,
): string {
  const selection = `SELECT ${expressions.join(', ')} FROM ${from}`;
  if (order === null) return selection;
  const column = columnOf(quote, order.column);
  const condition =
    order.from === null
      ? ''
      : ` WHERE ${isFrom === undefined ? `${column} >= ${literal(order.from)}` : isFrom(column, order.from)} OR ${column} IS NULL`;
  return `${selection}${condition} ORDER BY ${column}`;
}

/** The columns cast to `type`, for a database that returns cast values as text. Columns of bytes are not cast. */
export function textsOf(
  columns: readonly QueryColumn[],
  quote: QueryDialect['quote'],
  type: string,
): string[] {
  return columns.map(({ name, holds }) => {
    const column = columnOf(quote, name);
    return holds === 'bytes' ? column : `${column}::${type}`;
  });
}

export function columnOf(quote: QueryDialect['quote'], name: string): string {
  return `${alias}.${quote(name)}`;
}
