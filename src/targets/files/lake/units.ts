/**
 * Files that executors write for tables: Parquet with the types and field ids of the tables, and the statistics that tables store about
 * files.
 */
import {
  type UnitRules,
  type FileUnitToken,
  digitsOf,
  tableName,
  typingOf,
  type SettledColumns,
  openFileUnit,
} from '../units.ts';
import { type NamedColumn, tableColumns } from '../folder/table-columns.ts';
import { storedTypeIn } from './formats.ts';
import { type LakeFormatName, type FieldIds, type LakeField, fieldOf } from './table-format.ts';
import { typeToWrite } from './next-files.ts';
import { type PartitionField, typeFault } from './partition-fields.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { sideTables, type SideTable, type UnitFile, type UnitSink } from '../../../ports/row-sink.ts';
import { typesOf } from '../parquet/writing.ts';
import { derivedColumns, splitFiles } from './partitioning.ts';
import { fileStatistics, recordedRows, type TypedName, openDataFiles } from './data-files.ts';
import { AppError } from '../../../errors.ts';

/** The properties of a table that its new files depend on. */
export interface LakeUnitTable {
  /** the types of existing columns, by name */
  readonly there: readonly (readonly [column: string, sqlType: string])[];
  /** null if columns have no field ids */
  readonly fieldIds: FieldIds | null;
  /** empty: a file may have any rows */
  readonly partitioning: readonly PartitionField[];
}

export interface LakeUnitToken extends FileUnitToken {
  readonly kind: 'lake';
  readonly lakeFormat: LakeFormatName;
  readonly tables: readonly (readonly [key: number | string, table: LakeUnitTable])[];
}

/** Returns `ColumnTyping.typeOf`: the table's type if it can hold the values, otherwise the type that the values need. */
function lakeTypeOf(
  { lakeFormat }: Pick<LakeUnitToken, 'lakeFormat'>,
  { there }: Pick<LakeUnitTable, 'there'>,
): (column: NamedColumn, sqlType: string) => Promise<string> {
  const types = new Map(there);
  return ({ name }, sqlType) => typeToWrite(types.get(name) ?? null, storedTypeIn(lakeFormat, sqlType));
}

export interface LakeUnitsOptions {
  readonly model: RelationalModel;
  readonly lakeFormat: LakeFormatName;
  /** see ParquetSettings (src/targets/files/parquet/writing.ts) */
  readonly deltas: boolean;
  /** Returns the columns of a table whose rows remain, by name; null if all rows of the table will be this job's. */
  readonly existingColumns: (
    table: string,
    isSide: boolean,
  ) => Promise<ReadonlyMap<string, LakeField> | null>;
  readonly fieldIds: (table: string, fields: readonly LakeField[]) => Promise<FieldIds | null>;
  /** returns the partition fields that the table has or is to have; empty if there are none */
  readonly partitioning: (table: string) => Promise<readonly PartitionField[]>;
}

export function lakeUnitRules(options: LakeUnitsOptions): UnitRules {
  const { model, lakeFormat, deltas } = options;
  const tokenFor = async (settled: SettledColumns): Promise<LakeUnitToken> => {
    const tables: [number | string, LakeUnitTable][] = [];
    for (const key of keysOf(model)) {
      const name = tableName(model, key);
      const partitioning = await options.partitioning(name);
      const fields = (await options.existingColumns(name, typeof key === 'string')) ?? [];
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
  return {
    tokenFor,
    rulesFor: async (settled) => {
      const tables = new Map((await tokenFor(settled)).tables);
      return {
        typingFor: (key) => ({ typeOf: lakeTypeOf({ lakeFormat }, tables.get(key)!) }),
        numbered: async ({ table, fieldIds = null }) =>
          JSON.stringify(fieldIds) === JSON.stringify(tables.get(table)!.fieldIds),
      };
    },
  };
}

/** Returns the keys of all tables that documents have rows in. */
function keysOf({ tables }: RelationalModel): (number | SideTable)[] {
  return [...tables.keys(), ...(Object.keys(sideTables) as SideTable[])];
}

/** `folder`: used by this attempt only. */
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

/** the name of executors' files, because executors do not know their job; the target renames the files */
const anyJob = 'unit';

interface PartsOfUnit {
  readonly table: string;
  readonly format: LakeFormatName;
  readonly fields: readonly PartitionField[];
  /** the columns of the file */
  readonly columns: readonly TypedName[];
  readonly fieldIds: FieldIds | null;
  /** the folder of the file */
  readonly folder: string;
}

/**
 * Splits a file by partition. A file that cannot be split stays whole: the machine that publishes finds the same fault, and reports it once
 * for all units.
 */
async function partsOfUnit(file: UnitFile, unit: PartsOfUnit): Promise<readonly UnitFile[]> {
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
    return split.map((part) => ({ ...file, ...part, rows: recordedRows(part.stats), sha256: '' }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable_input') return [file];
    throw error;
  } finally {
    await files.close();
  }
}
