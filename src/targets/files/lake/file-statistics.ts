/** What a table tells of a file of rows: how many there are, NULLs, and the least and greatest values that are exact in JSON. */
import type { ColumnFacts } from '../../../engine/parquet/file-writer.ts';
import { compared, isPlain, toldColumns, type TypedName } from './data-files.ts';

const dayMs = 86_400_000;

/** As `DataFiles.statistics`, of what was noted when the file was written; `facts`: by column. */
export function fileStatistics(
  rows: number,
  columns: readonly TypedName[],
  facts: readonly ColumnFacts[],
): string {
  const scalar = toldColumns(columns.map((column, at) => ({ ...column, facts: facts[at]! })));
  const members = (valueOf: (facts: ColumnFacts) => bigint | null): string =>
    scalar
      .flatMap(({ name, sqlType, facts: told }) => {
        const value = compared.has(sqlType) ? valueOf(told) : null;
        if (value === null) return [];
        const text = sqlType === 'DATE' ? dayOf(value) : String(value);
        return isPlain(text) ? [`${JSON.stringify(name)}:${sqlType === 'DATE' ? `"${text}"` : text}`] : [];
      })
      .join(',');
  const nulls = scalar.map(({ name, facts: told }) => `${JSON.stringify(name)}:${told.nulls}`).join(',');
  return `{"numRecords":${rows},"minValues":{${members(({ least }) => least)}},"maxValues":{${members(({ greatest }) => greatest)}},"nullCount":{${nulls}}}`;
}

/** The rows of a file, of its statistics. */
export function rowsTold(stats: string): number {
  return (JSON.parse(stats) as { readonly numRecords: number }).numRecords;
}

/** Days since 1970 as a date, where its year has four digits; else another text. */
function dayOf(days: bigint): string {
  const date = new Date(Number(days) * dayMs);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/T.*/, '');
}
