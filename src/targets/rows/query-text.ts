/**
 * The text of the one statement that reads the rows of a query. The query is a derived table in it, so that it can only be a single query.
 */
import type { QueryColumn, RowStart } from '../../ports/rows/source.ts';

export interface QueryDialect {
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
