/** Values that their columns cannot hold, staged beside the rows until the columns are widened. */
import type { MisfitValue } from '../../../../ports/rows/sink.ts';

/** Key of the staged misfits. */
export const misfits = 'misfits';

export const misfitColumns = [
  { name: 'table_index', sqlType: 'integer' },
  { name: 'column_index', sqlType: 'integer' },
  { name: 'row_key', sqlType: 'bigint' },
  { name: 'content', sqlType: 'text' },
];

/** One row for COPY. */
export function misfitRow({ table, column, rowKey, text }: MisfitValue): Uint8Array {
  const content = text.replaceAll(/[\\\t\n\r]/g, (character) => copyEscapes[character]!);
  return Buffer.from(`${table}\t${column}\t${rowKey}\t${content}\n`);
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
