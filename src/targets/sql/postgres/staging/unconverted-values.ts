/** Values that their columns cannot hold, staged beside the rows until the columns are widened. */
import type { UnconvertedValue } from '../../../../ports/rows/sink.ts';

/** Key of the staged values that were not converted. */
export const unconvertedValues = 'unconvertedValues';

export const unconvertedColumns = [
  { name: 'table_index', sqlType: 'integer' },
  { name: 'column_index', sqlType: 'integer' },
  { name: 'row_key', sqlType: 'bigint' },
  { name: 'content', sqlType: 'text' },
];

/** One row for COPY. */
export function unconvertedRow({ table, column, rowKey, text }: UnconvertedValue): Uint8Array {
  const content = text.replaceAll(/[\\\t\n\r]/g, (character) => copyEscapes[character]!);
  return Buffer.from(`${table}\t${column}\t${rowKey}\t${content}\n`);
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
