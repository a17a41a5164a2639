/** Texts of several rows as one, in each dialect. */
import type { Dialect } from '../sql/dialect.ts';

/** `text` and `order`: columns, quoted; `length`: characters that a text has at most, null: any number. */
export interface JoinedText {
  readonly text: string;
  readonly order: string;
  readonly length: number | null;
}

/** An aggregate, the texts a line each where the dialect can write a line end; null: long ones would not be taken. */
export function joinedText(dialect: Dialect, { text, order, length }: JoinedText): string | null {
  const lineEnd = dialect.literal('\n');
  switch (dialect.name) {
    case 'postgresql':
    case 'duckdb':
    case 'bigquery':
      return `string_agg(${text}, ${dialect.name === 'bigquery' ? "'\\n'" : lineEnd} ORDER BY ${order})`;
    case 'sqlite':
      // it knows ORDER BY in aggregates since 3.44 alone: its rows come in their order (`orderedRows`)
      return `group_concat(${text}, ${lineEnd})`;
    case 'mysql':
      // cut at group_concat_max_len, which is a setting of the reader's session
      return `GROUP_CONCAT(${text} ORDER BY ${order} SEPARATOR ${lineEnd})`;
    case 'sqlserver':
      return `STRING_AGG(CAST(${text} AS nvarchar(max)), ${lineEnd}) WITHIN GROUP (ORDER BY ${order})`;
    case 'snowflake':
    case 'redshift':
      return `LISTAGG(${text}, ${lineEnd}) WITHIN GROUP (ORDER BY ${order})`;
    case 'databricks':
      return `array_join(transform(array_sort(collect_list(struct(${order} AS o, ${text} AS t))), x -> x.t), '\\n')`;
    default:
      // Oracle: a text without a length is a large object, which LISTAGG does not take
      return length === null ? null : `LISTAGG(${text}, ${lineEnd}) WITHIN GROUP (ORDER BY ${order})`;
  }
}

/** What rows are put together of: those of the table (quoted), in their order where the aggregate cannot say it. */
export function orderedRows({ name }: Dialect, table: string, order: string): string {
  return name === 'sqlite' ? `(SELECT * FROM ${table} ORDER BY ${order})` : table;
}
