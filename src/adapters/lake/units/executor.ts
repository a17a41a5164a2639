/** One attempt at a unit of a folder of tables: Parquet files with the types and numbers of these, and what tables tell of files. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { UnitSink } from '../../../ports/rows/unit-sink.ts';
import { openFileUnit } from '../../folder/units/executor.ts';
import { tableName } from '../../folder/units/token.ts';
import { tableColumns } from '../../folder/contents/formats.ts';
import { fileStatistics } from '../file-statistics.ts';
import { lakeTypeOf, type LakeUnitTable, type LakeUnitToken } from './token.ts';

/** `folder`: of the attempt, nobody else’s. */
export function openLakeUnit(token: LakeUnitToken, model: RelationalModel, folder: string): UnitSink {
  const tables = new Map(token.tables);
  const tableOf = (key: number | string): LakeUnitTable => tables.get(key)!;
  return openFileUnit(token, model, folder, {
    deltas: token.lakeFormat === 'delta',
    typing: (key) => {
      const table = tableOf(key);
      return { typeOf: lakeTypeOf(token, table), fieldIdsOf: async () => table.fieldIds };
    },
    told: (key, { file, facts, fieldIds }) => {
      const names = tableColumns(model, tableName(model, key));
      const columns = names.map(({ name }, at) => ({ name, sqlType: file.types[at]! }));
      const stats = fileStatistics(file.rows, columns, facts);
      return { stats, ...(fieldIds === null ? {} : { fieldIds }) };
    },
  });
}
