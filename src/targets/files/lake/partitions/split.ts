/** Files with rows of many partitions become one file for each: sorted once, on the disk where memory ends, so that one is open at a time. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import { fieldIdsOption } from '../../folder/parquet.ts';
import { syncPath } from '../../../../adapters/file-staging/durable-file.ts';
import { dataFileName, parquet, type DataFiles, type TypedName } from '../data-files.ts';
import type { FieldIds, LakeColumn, NewFile } from '../table-format.ts';
import {
  deltaColumn,
  partitionExpression,
  partitionText,
  type PartitionField,
  type PartitionValues,
} from './fields.ts';

/** partitions of a table that one job may give rows */
const mostPartitions = 2000;
/** so that rows of a partition are found without those of all others */
const rowsOfGroup = 20_480;
const keyColumn = '_svc_partition';

export interface Splitting {
  readonly table: string;
  readonly fields: readonly PartitionField[];
  /** of the files */
  readonly columns: readonly TypedName[];
  /** those that the new files have beside them, with values of the fields */
  readonly derived: readonly LakeColumn[];
  /** numbers of all columns; null: none */
  readonly fieldIds: FieldIds | null;
  /** whether a value of no characters cannot be told from none */
  readonly emptyIsNull: boolean;
  readonly mark: string;
  readonly staging: string;
}

/** `names`: of files in the staging folder, which go. AppError `unprocessable_input`: partitions that cannot be. */
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
    `SELECT ${keyColumn} AS key, count(*) AS rows FROM ${parquet([sorted])} GROUP BY 1 ORDER BY 1 LIMIT ${mostPartitions + 1}`,
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

/** AppError `unprocessable_input`: a job would give rows to too many partitions of a table. */
export function checkCount(table: string, fields: readonly PartitionField[], partitions: number): void {
  if (partitions <= mostPartitions) return;
  throw new AppError(
    'unprocessable_input',
    `--partition: ${table} would have more than ${mostPartitions} partitions by ${partitionText(fields)} of this job alone; take fewer, such as month() in place of day().`,
  );
}

function checkValues({ table, fields, emptyIsNull }: Splitting, partition: PartitionValues): void {
  for (const [at, { column, part }] of fields.entries()) {
    const value = partition[at]!;
    if (value === '' && emptyIsNull)
      throw new AppError(
        'unprocessable_input',
        `--partition: ${table}.${column} has a value without characters, which Delta cannot tell from none in a partition; take another column.`,
      );
    if (value !== null && part !== 'identity' && !/^\d{4}(?:-\d\d){0,3}$/.test(value))
      throw new AppError(
        'unprocessable_input',
        `--partition: ${table}.${column} has a date that is not of the years 0000 to 9999; take another column.`,
      );
  }
}
