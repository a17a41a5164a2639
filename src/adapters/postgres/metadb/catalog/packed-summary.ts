/** The form in which the summary of a model is stored. */
import { sequenceCount, type ModelSummary, type TableSummary } from '../../../../engine/model/summary.ts';

type PackedTable = readonly [name: string, xpath: string, columnCount: number, rowKey: string | null];

/** The columns of `svc.logical_schema` that hold a summary. */
export interface SummaryColumns {
  readonly table_summaries: string;
  readonly sequence_count: number;
  readonly key_count: number;
}

export function packSummary(summary: ModelSummary): SummaryColumns {
  const tables = summary.tables.map(({ name, xpath, columnCount, rowKey }): PackedTable => [
    name,
    xpath,
    columnCount,
    rowKey,
  ]);
  return {
    table_summaries: JSON.stringify(tables),
    sequence_count: sequenceCount(summary),
    key_count: summary.keyCount,
  };
}

export function unpackTables(text: string): TableSummary[] {
  return (JSON.parse(text) as PackedTable[]).map(([name, xpath, columnCount, rowKey]) => ({
    name,
    xpath,
    columnCount,
    rowKey,
  }));
}
