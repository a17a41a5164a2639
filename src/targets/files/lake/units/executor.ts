/** One attempt at a unit of a folder of tables: Parquet files with the types and numbers of these, and what tables tell of files. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { UnitSink } from '../../../../ports/rows/unit-sink.ts';
import { openFileUnit } from '../../folder/units/executor.ts';
import { tableName } from '../../folder/units/token.ts';
import { tableColumns } from '../../folder/contents/table-columns.ts';
import { fileStatistics, rowsTold } from '../file-statistics.ts';
import { type TypedName, openDataFiles } from '../data-files.ts';
import { lakeTypeOf, type LakeUnitTable, type LakeUnitToken } from './driver.ts';
import { AppError } from '../../../../errors.ts';
import type { UnitFile } from '../../../../ports/rows/units.ts';
import type { FieldIds, LakeFormatName } from '../table-format.ts';
import { typeFault, type PartitionField } from '../partitions/fields.ts';
import { derivedColumns } from '../partitions/of-model.ts';
import { splitFiles } from '../partitions/split.ts';

/** `folder`: of the attempt, nobody else’s. */
export function openLakeUnit(token: LakeUnitToken, model: RelationalModel, folder: string): UnitSink {
  const tables = new Map(token.tables);
  const tableOf = (key: number | string): LakeUnitTable => tables.get(key)!;
  const columnsOf = (key: number | string, types: readonly string[]): TypedName[] =>
    tableColumns(model, tableName(model, key)).map(({ name }, at) => ({ name, sqlType: types[at]! }));
  return openFileUnit(token, model, folder, {
    typing: (key) => {
      const table = tableOf(key);
      return { typeOf: lakeTypeOf(token, table), fieldIdsOf: async () => table.fieldIds };
    },
    told: (key, { file, facts, fieldIds }) => {
      const stats = fileStatistics(file.rows, columnsOf(key, file.types), facts);
      return { stats, ...(fieldIds === null ? {} : { fieldIds }) };
    },
    apart: (file) => {
      const { partitioning, fieldIds } = tableOf(file.table);
      return partsOfUnit(file, {
        table: tableName(model, file.table),
        format: token.lakeFormat,
        fields: partitioning,
        columns: columnsOf(file.table, file.types ?? []),
        fieldIds,
        folder,
      });
    },
  });
}

/** names files of executors, which do not know their job: the target gives the files names of its own */
const anyJob = 'unit';

export interface PartsOfUnit {
  readonly table: string;
  readonly format: LakeFormatName;
  readonly fields: readonly PartitionField[];
  /** of the file */
  readonly columns: readonly TypedName[];
  readonly fieldIds: FieldIds | null;
  /** that the file lies in */
  readonly folder: string;
}

/** What cannot be kept apart stays one file: the machine that publishes finds the same fault, and tells it once for all units. */
export async function partsOfUnit(file: UnitFile, unit: PartsOfUnit): Promise<readonly UnitFile[]> {
  const { table, format, fields, columns, fieldIds, folder } = unit;
  const types = new Map(columns.map(({ name, sqlType }) => [name, sqlType]));
  const isFaulty = (field: PartitionField): boolean => {
    const type = types.get(field.column);
    return type === undefined || typeFault(field, type) !== null;
  };
  if (fields.length === 0 || fields.some(isFaulty)) return [file];
  const files = openDataFiles(folder, folder);
  try {
    const split = await splitFiles(files, [file.name], {
      table,
      fields,
      columns,
      derived: derivedColumns(fields, format),
      fieldIds,
      emptyIsNull: format !== 'iceberg',
      mark: anyJob,
      staging: folder,
    });
    return split.map((part) => ({ ...file, ...part, rows: rowsTold(part.stats), sha256: '' }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable_input') return [file];
    throw error;
  } finally {
    await files.close();
  }
}
