/** One attempt at a unit of a folder of tables: Parquet files with the types and numbers of these, and what tables tell of files. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { UnitSink } from '../../../../ports/rows/unit-sink.ts';
import { openFileUnit } from '../../folder/units/executor.ts';
import { tableName } from '../../folder/units/token.ts';
import { tableColumns } from '../../folder/contents/table-columns.ts';
import { fileStatistics } from '../file-statistics.ts';
import type { TypedName } from '../data-files.ts';
import { partsOfUnit } from './parts.ts';
import { lakeTypeOf, type LakeUnitTable, type LakeUnitToken } from './token.ts';

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
