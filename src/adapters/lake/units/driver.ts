/** The publishing side of units of a folder of tables: what executors are told of these, and whether their files can be the tables'. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { sideTables, type SideTable } from '../../../ports/rows/sink.ts';
import type { UnitTarget } from '../../../ports/rows/units.ts';
import { createFileUnits, type FileUnitsOptions } from '../../folder/units/driver.ts';
import { typesOf } from '../../folder/parquet.ts';
import { digitsOf, tableName, typingOf, type SettledColumns } from '../../folder/units/token.ts';
import type { LakeFormatName } from '../table-format.ts';
import type { LakeField } from '../table-format.ts';
import { fieldOf, type FieldIds } from '../table-format.ts';
import { lakeTypeOf, type LakeUnitTable, type LakeUnitToken } from './token.ts';

export interface LakeUnitsOptions extends Omit<FileUnitsOptions, 'tokenFor' | 'rulesFor'> {
  readonly lakeFormat: LakeFormatName;
  /** Columns of a table whose rows stay, by name; null: all that it will have is this job's. */
  readonly columnsThere: (table: string, isSide: boolean) => Promise<ReadonlyMap<string, LakeField> | null>;
  readonly fieldIds: (table: string, fields: readonly LakeField[]) => Promise<FieldIds | null>;
}

export function createLakeUnits(options: LakeUnitsOptions): UnitTarget {
  const { model, lakeFormat } = options;
  const tokenFor = async (settled: SettledColumns): Promise<LakeUnitToken> => {
    const tables: [number | string, LakeUnitTable][] = [];
    for (const key of keysOf(model)) {
      const fields = (await options.columnsThere(tableName(model, key), typeof key === 'string')) ?? [];
      const there = [...fields].flatMap(([name, { sqlType }]) =>
        sqlType === null ? [] : [[name, sqlType] as const],
      );
      const table = { there, fieldIds: null };
      const typing = { ...typingOf(model, key, settled), typeOf: lakeTypeOf({ lakeFormat }, table) };
      const types = await typesOf(typing, digitsOf(key, settled));
      const made = typing.columns.map(({ name }, at) =>
        fieldOf({ name, sqlType: types[at]!, nullable: true, comment: '' }),
      );
      tables.push([key, { there, fieldIds: await options.fieldIds(tableName(model, key), made) }]);
    }
    return { kind: 'lake', format: 'parquet', settled, lakeFormat, tables };
  };
  return createFileUnits({
    ...options,
    tokenFor,
    rulesFor: async (settled) => {
      const tables = new Map((await tokenFor(settled)).tables);
      return {
        typingFor: (key) => ({ typeOf: lakeTypeOf({ lakeFormat }, tables.get(key)!) }),
        numbered: async ({ table, fieldIds = null }) =>
          JSON.stringify(fieldIds) === JSON.stringify(tables.get(table)!.fieldIds),
      };
    },
  });
}

/** Of all tables that rows of documents go into. */
function keysOf({ tables }: RelationalModel): (number | SideTable)[] {
  return [...tables.keys(), ...(Object.keys(sideTables) as SideTable[])];
}
