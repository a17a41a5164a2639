/** Partitions of tables: parses `--partition`, assigns a job's files to partitions, and splits files with rows of several partitions. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { closestWord } from '../../../engine/closest-word.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { PartitionPart, PartitionWish } from '../../../engine/sql/partition-wish.ts';
import { AppError } from '../../../errors.ts';
import { columnSqlType } from '../../sql/duckdb/types.ts';
import { storedTypeIn } from './formats.ts';
import {
  type LakeFormatName,
  type LakeColumn,
  fieldOf,
  type NewFile,
  type FieldIds,
  dataFileName,
} from './table-format.ts';
import {
  deltaColumn,
  typeFault,
  type PartitionField,
  isSamePartitioning,
  partitionText,
  partitionExpression,
  type PartitionValues,
} from './partition-fields.ts';
import { type DataFiles, parquet, type TypedName } from './data-files.ts';
import type { ExistingTables } from './existing-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fieldIdsOption } from '../parquet/writing.ts';
import { syncPath } from '../../../storage/staging/durable-file.ts';

/** the maximum number of columns that a message names */
const maxNamed = 8;

const partTypes: Readonly<Record<PartitionPart, string>> = {
  identity: 'VARCHAR',
  year: 'INTEGER',
  month: 'VARCHAR',
  day: 'DATE',
  hour: 'VARCHAR',
};

/** Returns the columns that Delta tables have in addition to those of the rows. */
export function derivedColumns(
  fields: readonly PartitionField[],
  format: LakeFormatName,
): readonly LakeColumn[] {
  if (format === 'iceberg') return [];
  return fields
    .filter(({ part }) => part !== 'identity')
    .map((field) => ({
      name: deltaColumn(field),
      sqlType: partTypes[field.part],
      nullable: true,
      comment: `${field.part} of ${field.column}, in UTC: what the table is partitioned by`,
    }));
}

/** Returns the partition fields by table. AppError `invalid_option` if no table has such a column, or it cannot be a partition. */
export function partitionsOf(
  model: RelationalModel,
  format: LakeFormatName,
  wishes: readonly PartitionWish[],
): ReadonlyMap<string, readonly PartitionField[]> {
  const found = new Map<string, PartitionField[]>();
  for (const { part, column: wanted } of wishes) {
    let isKnown = false;
    for (const { name, columns } of model.tables) {
      const column = columns.find((one) => one.name === wanted || `${name}.${one.name}` === wanted);
      if (column === undefined) continue;
      isKnown = true;
      const field = { column: column.name, part };
      const fault = typeFault(field, storedTypeIn(format, columnSqlType(column.type)));
      if (fault !== null)
        throw new AppError('invalid_option', `--partition ${wanted}: ${name}.${column.name} ${fault}.`);
      if (part !== 'identity' && columns.some((one) => one.name === deltaColumn(field)))
        throw new AppError(
          'invalid_option',
          `--partition ${part}(${wanted}): ${name} already has a column ${deltaColumn(field)}.`,
        );
      found.set(name, [...(found.get(name) ?? []), field]);
    }
    if (!isKnown) throw unknownColumn(model, format, { part, column: wanted });
  }
  return found;
}

/**
 * Returns the error for an unknown column. It suggests columns with similar names; if there are none, it lists the columns that can
 * partition the named table, or all tables.
 */
function unknownColumn(
  { tables }: RelationalModel,
  format: LakeFormatName,
  { part, column: wanted }: PartitionWish,
): AppError {
  const dot = wanted.lastIndexOf('.');
  const last = wanted.slice(dot + 1);
  const own = tables.filter(({ name }) => dot > 0 && name === wanted.slice(0, dot));
  const labels = new Map<string, string>();
  const fitting = new Set<string>();
  for (const { name, columns } of own.length > 0 ? own : tables)
    for (const column of columns) {
      const label = dot < 0 ? column.name : `${name}.${column.name}`;
      // if the named table exists, only the name of the column is compared
      labels.set(own.length > 0 ? column.name : label, label);
      const type = storedTypeIn(format, columnSqlType(column.type));
      if (column.role === 'value' && typeFault({ part }, type) === null) fitting.add(label);
    }
  const other = tables.find(({ columns }) => columns.some(({ name }) => name === last));
  const meant =
    other === undefined
      ? labels.get(closestWord(own.length > 0 ? last : wanted, labels.keys()) ?? '')
      : `${other.name}.${last}`;
  const named = [...fitting].slice(0, maxNamed).join(', ');
  let hint = '.';
  if (meant !== undefined) hint = `; did you mean ${meant}?`;
  else if (fitting.size > 0)
    hint = `. ${part === 'identity' ? 'Columns' : `Columns for ${part}()`}: ${named}${fitting.size > maxNamed ? ` and ${fitting.size - maxNamed} more` : ''}.`;
  const where = own.length > 0 ? `${own[0]!.name} has no column` : 'no table has a column';
  return new AppError('invalid_option', `--partition ${wanted}: ${where} called so${hint}`);
}

/** Checks that the table keeps its partitions. AppError `conflict` if it has other partitions than `wanted`; undefined accepts any. */
export async function checkPartitioning(
  known: ExistingTables,
  label: string,
  table: string,
  wanted: readonly PartitionField[] | undefined,
): Promise<void> {
  const there = wanted === undefined ? null : await known.partitioning(table);
  if (there === null || isSamePartitioning(there, wanted!)) return;
  const words = there.length === 0 ? 'has no partitions' : `is partitioned by ${partitionText(there)}`;
  throw new AppError(
    'conflict',
    `${label}: ${table} ${words}, but the partitioning of a table cannot change: omit --partition, or use another folder.`,
  );
}

interface PartitionedFiles {
  readonly fields: readonly PartitionField[];
  /** the columns of the table, including the ones that Delta has for parts of values */
  readonly columns: readonly LakeColumn[];
  readonly files: readonly NewFile[];
}

interface TableOfJob {
  readonly known: ExistingTables;
  readonly files: DataFiles;
  readonly format: LakeFormatName;
  readonly table: string;
  readonly wanted: readonly PartitionField[] | undefined;
  readonly mark: string;
  readonly staging: string;
}

/** Returns the partition fields that the table has or is to have; empty if there are none. */
export async function partitioningOf({
  known,
  table,
  wanted = [],
}: Pick<TableOfJob, 'known' | 'table' | 'wanted'>): Promise<readonly PartitionField[]> {
  return (await known.partitioning(table)) ?? wanted;
}

/**
 * Splits files by partition. `made`: the files of the job; executors have split some of them already. AppError `conflict` if the type of a
 * partition column would change.
 */
export async function partitionedFiles(
  place: TableOfJob,
  columns: readonly LakeColumn[],
  made: readonly NewFile[],
): Promise<PartitionedFiles> {
  const { known, files, format, table, mark, staging } = place;
  const fields = await partitioningOf(place);
  if (fields.length === 0) return { fields, columns, files: made };
  await checkColumns(known, table, fields, columns);
  const derived = derivedColumns(fields, format);
  const all = [...columns, ...derived];
  const apart = made.filter(({ partition }) => partition !== undefined);
  const names = made.flatMap(({ name, partition }) => (partition === undefined ? [name] : []));
  const splitting = {
    table,
    fields,
    columns,
    derived,
    fieldIds: await known.fieldIds(table, all.map(fieldOf)),
    emptyIsNull: format !== 'iceberg',
    mark,
    staging,
  };
  const split = names.length === 0 ? [] : await splitFiles(files, names, splitting);
  const partitioned = [...apart, ...split];
  checkCount(table, fields, new Set(partitioned.map(({ partition }) => JSON.stringify(partition))).size);
  return { fields, columns: all, files: partitioned };
}

async function checkColumns(
  known: ExistingTables,
  table: string,
  fields: readonly PartitionField[],
  columns: readonly LakeColumn[],
): Promise<void> {
  const there = await known.columns(table);
  for (const field of fields) {
    const type = columns.find(({ name }) => name === field.column)?.sqlType;
    const before = there?.get(field.column)?.sqlType ?? type;
    const fault = type === undefined ? 'would be removed' : typeFault(field, type);
    if (fault === null && before === type) continue;
    throw new AppError(
      'conflict',
      `${table} is partitioned by ${partitionText(fields)}, and ${field.column} ${fault ?? `would become ${type} of ${before}`}: use another folder.`,
    );
  }
}

/** the maximum number of partitions of a table that one job may write to */
const maxPartitions = 2000;
/** small enough that rows of a partition are found without reading all others */
const rowsOfGroup = 20_480;
const keyColumn = '_svc_partition';

interface Splitting {
  readonly table: string;
  readonly fields: readonly PartitionField[];
  /** the columns of the files */
  readonly columns: readonly TypedName[];
  /** the columns that the new files have in addition, with values of the partition fields */
  readonly derived: readonly LakeColumn[];
  /** field ids of all columns; null if they have none */
  readonly fieldIds: FieldIds | null;
  /** whether an empty text cannot be distinguished from NULL */
  readonly emptyIsNull: boolean;
  readonly mark: string;
  readonly staging: string;
}

/** Splits the named files in the staging folder, and removes them. AppError `unprocessable_input` if a partition is impossible. */
export async function splitFiles(
  files: DataFiles,
  names: readonly string[],
  splitting: Splitting,
): Promise<readonly NewFile[]> {
  const { fields, columns, derived, fieldIds, mark, staging, table } = splitting;
  const types = new Map(columns.map(({ name, sqlType }) => [name, sqlType]));
  const values = fields.map((field) =>
    types.has(field.column) ? partitionExpression(field, types.get(field.column)!) : 'NULL::VARCHAR',
  );
  const sources = names.map((name) => join(staging, name));
  const sorted = join(staging, `sorted-${dataFileName(mark)}`);
  await files.run(
    `COPY (SELECT *, to_json([${values.join(', ')}])::VARCHAR AS ${keyColumn} FROM ${parquet(sources)} ORDER BY ${keyColumn}) TO ${standardLiteral(sorted)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsOfGroup})`,
  );
  const groups = await files.read<{ key: string; rows: bigint }>(
    `SELECT ${keyColumn} AS key, count(*) AS rows FROM ${parquet([sorted])} GROUP BY 1 ORDER BY 1 LIMIT ${maxPartitions + 1}`,
  );
  checkCount(table, fields, groups.length);
  const all = [...columns, ...derived];
  const made: NewFile[] = [];
  for (const { key, rows } of groups) {
    const partition = JSON.parse(key) as PartitionValues;
    checkValues(splitting, partition);
    const added = derived.map(({ name, sqlType }) => {
      const value = partition[fields.findIndex((field) => deltaColumn(field) === name)] ?? null;
      return `${value === null ? 'NULL' : standardLiteral(value)}::${sqlType} AS ${doubleQuoted(name)}`;
    });
    const select = [...columns.map(({ name }) => doubleQuoted(name)), ...added];
    const name = dataFileName(mark);
    const path = join(staging, name);
    await files.run(
      `COPY (SELECT ${select.join(', ')} FROM ${parquet([sorted])} WHERE ${keyColumn} = ${standardLiteral(key)}) TO ${standardLiteral(path)} (FORMAT parquet, COMPRESSION zstd${fieldIdsOption(fieldIds)})`,
    );
    await syncPath(path);
    const { size: bytes } = await stat(path);
    const stats = await files.statistics(path, Number(rows), all);
    made.push({ name, bytes, stats, partition, ...(fieldIds === null ? {} : { fieldIds }) });
  }
  for (const path of [...sources, sorted]) await rm(path);
  return made;
}

/** AppError `unprocessable_input` if a job would write to too many partitions of a table. */
function checkCount(table: string, fields: readonly PartitionField[], partitions: number): void {
  if (partitions <= maxPartitions) return;
  throw new AppError(
    'unprocessable_input',
    `--partition: ${table} would have more than ${maxPartitions} partitions by ${partitionText(fields)} from this job alone; use a coarser partitioning, such as month() instead of day().`,
  );
}

function checkValues({ table, fields, emptyIsNull }: Splitting, partition: PartitionValues): void {
  for (const [at, { column, part }] of fields.entries()) {
    const value = partition[at]!;
    if (value === '' && emptyIsNull)
      throw new AppError(
        'unprocessable_input',
        `--partition: ${table}.${column} has an empty string, which Delta cannot distinguish from NULL in a partition; use another column.`,
      );
    if (value !== null && part !== 'identity' && !/^\d{4}(?:-\d\d){0,3}$/.test(value))
      throw new AppError(
        'unprocessable_input',
        `--partition: ${table}.${column} has a date outside the years 0000 to 9999; use another column.`,
      );
  }
}
