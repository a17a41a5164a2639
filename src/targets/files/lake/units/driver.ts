/** The publishing side of units of a folder of tables: what executors are told of these, and whether their files can be the tables'. */
import {
  type FileUnitToken,
  digitsOf,
  tableName,
  typingOf,
  type SettledColumns,
} from '../../folder/units/token.ts';
import type { NamedColumn } from '../../folder/contents/table-columns.ts';
import { storedTypeIn } from '../formats.ts';
import { type LakeFormatName, type FieldIds, type LakeField, fieldOf } from '../table-format.ts';
import { typeToWrite } from '../commit/next-files.ts';
import type { PartitionField } from '../partitions/fields.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import { sideTables, type SideTable } from '../../../../ports/rows/sink.ts';
import type { UnitTarget } from '../../../../ports/rows/units.ts';
import { createFileUnits, type FileUnitsOptions } from '../../folder/units/driver.ts';
import { typesOf } from '../../folder/parquet.ts';
import { derivedColumns } from '../partitions/of-model.ts';

/** What a table has of what its files are made by. */
export interface LakeUnitTable {
  /** by column, the types of those that are there */
  readonly there: readonly (readonly [column: string, sqlType: string])[];
  /** null: none */
  readonly fieldIds: FieldIds | null;
  /** none: files have rows of any kind */
  readonly partitioning: readonly PartitionField[];
}

export interface LakeUnitToken extends FileUnitToken {
  readonly kind: 'lake';
  readonly lakeFormat: LakeFormatName;
  readonly tables: readonly (readonly [key: number | string, table: LakeUnitTable])[];
}

/** As `ColumnTyping.typeOf`: the table's type where it holds the values, else the one that they need. */
export function lakeTypeOf(
  { lakeFormat }: Pick<LakeUnitToken, 'lakeFormat'>,
  { there }: Pick<LakeUnitTable, 'there'>,
): (column: NamedColumn, sqlType: string) => Promise<string> {
  const types = new Map(there);
  return ({ name }, sqlType) => typeToWrite(types.get(name) ?? null, storedTypeIn(lakeFormat, sqlType));
}

export interface LakeUnitsOptions extends Omit<FileUnitsOptions, 'tokenFor' | 'rulesFor'> {
  readonly lakeFormat: LakeFormatName;
  /** as in ParquetSettings */
  readonly deltas: boolean;
  /** Columns of a table whose rows stay, by name; null: all that it will have is this job's. */
  readonly columnsThere: (table: string, isSide: boolean) => Promise<ReadonlyMap<string, LakeField> | null>;
  readonly fieldIds: (table: string, fields: readonly LakeField[]) => Promise<FieldIds | null>;
  /** what the table is, or is to be, partitioned by; none: nothing */
  readonly partitioning: (table: string) => Promise<readonly PartitionField[]>;
}

export function createLakeUnits(options: LakeUnitsOptions): UnitTarget {
  const { model, lakeFormat, deltas } = options;
  const tokenFor = async (settled: SettledColumns): Promise<LakeUnitToken> => {
    const tables: [number | string, LakeUnitTable][] = [];
    for (const key of keysOf(model)) {
      const name = tableName(model, key);
      const partitioning = await options.partitioning(name);
      const fields = (await options.columnsThere(name, typeof key === 'string')) ?? [];
      const there = [...fields].flatMap(([column, { sqlType }]) =>
        sqlType === null ? [] : [[column, sqlType] as const],
      );
      const typing = { ...typingOf(model, key, settled), typeOf: lakeTypeOf({ lakeFormat }, { there }) };
      const types = await typesOf(typing, digitsOf(key, settled));
      const own = typing.columns.map((column, at) => ({
        name: column.name,
        sqlType: types[at]!,
        nullable: true,
        comment: '',
      }));
      const made = [...own, ...derivedColumns(partitioning, lakeFormat)].map(fieldOf);
      tables.push([key, { there, fieldIds: await options.fieldIds(name, made), partitioning }]);
    }
    return { kind: 'lake', format: 'parquet', settled, lakeFormat, deltas, tables };
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
