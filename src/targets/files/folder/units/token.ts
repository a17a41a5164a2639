/** What executors write the files of units with, and what the types of Parquet files follow from. */
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { FileLayoutName } from '../../../../ports/rows/layouts.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { SideTable } from '../../../../ports/rows/sink.ts';
import type { UnfitColumn, UnitToken } from '../../../../ports/rows/units.ts';
import { UnfitColumns, usualRoom } from '../../../rows/unfit-columns.ts';
import { tableColumns } from '../contents/table-columns.ts';
import { typesIn } from '../contents/next-manifest.ts';
import type { ColumnDigits, ColumnTyping } from '../parquet.ts';

/** What values in units have decided for the files of all of them. */
export interface SettledColumns {
  readonly unfit: readonly UnfitColumn[];
  /** of tables whose decimals without bounds have more digits than usual, the most of each such column, before and after the point */
  readonly digits: readonly (readonly [
    table: number | string,
    columns: readonly (readonly [column: number, whole: number, fraction: number])[],
  ])[];
}

export const nothingSettled: SettledColumns = { unfit: [], digits: [] };

export interface FileUnitToken extends UnitToken {
  readonly kind: 'folder' | 'lake';
  readonly format: FileLayoutName;
  /** as in ParquetSettings (src/targets/files/folder/parquet.ts) */
  readonly deltas: boolean;
  readonly settled: SettledColumns;
}

/** `key`: the index of a table of the model, or a table beside those. */
export function tableName(model: RelationalModel, key: number | string): string {
  return typeof key === 'number' ? model.tables[key]!.name : sideTableNames[key as SideTable];
}

/** Of a table, as the units have settled it. */
export function typingOf(
  model: RelationalModel,
  key: number | string,
  settled: SettledColumns,
): ColumnTyping {
  const name = tableName(model, key);
  const unfit = new UnfitColumns().addAll(settled.unfit.filter(([table]) => table === key));
  return {
    columns: tableColumns(model, name),
    widened: typesIn(model, unfit.types(model, usualRoom)).get(name) ?? new Map(),
  };
}

export function digitsOf(key: number | string, { digits }: SettledColumns): ColumnDigits {
  const found = digits.find(([table]) => table === key)?.[1] ?? [];
  return new Map(found.map(([column, whole, fraction]) => [column, { whole, fraction }]));
}
