/** The partitions that a job's files of a table are in: those that the table has, or is to have. */
import { AppError } from '../../../../errors.ts';
import type { DataFiles } from '../data-files.ts';
import { type LakeFormatName, fieldOf, type LakeColumn, type NewFile } from '../table-format.ts';
import type { TablesThere } from '../tables-there.ts';
import { isSamePartitioning, partitionText, typeFault, type PartitionField } from './fields.ts';
import { derivedColumns } from './of-model.ts';
import { checkCount, splitFiles } from './split.ts';

/** A table keeps what it was made with. AppError `conflict`: it has other partitions than those that are asked for; `wanted`: none are. */
export async function checkPartitioning(
  known: TablesThere,
  label: string,
  table: string,
  wanted: readonly PartitionField[] | undefined,
): Promise<void> {
  const there = wanted === undefined ? null : await known.partitioning(table);
  if (there === null || isSamePartitioning(there, wanted!)) return;
  const words = there.length === 0 ? 'has no partitions' : `is partitioned by ${partitionText(there)}`;
  throw new AppError(
    'conflict',
    `${label}: ${table} ${words}, and a table keeps what it was made with: leave --partition away, or take another folder.`,
  );
}

export interface PartitionedFiles {
  readonly fields: readonly PartitionField[];
  /** of the table, with those that Delta has of parts of values */
  readonly columns: readonly LakeColumn[];
  readonly files: readonly NewFile[];
}

export interface TableOfJob {
  readonly known: TablesThere;
  readonly files: DataFiles;
  readonly format: LakeFormatName;
  readonly table: string;
  readonly wanted: readonly PartitionField[] | undefined;
  readonly mark: string;
  readonly staging: string;
}

/** What the table is, or is to be, partitioned by; none: nothing. */
export async function partitioningOf({
  known,
  table,
  wanted = [],
}: Pick<TableOfJob, 'known' | 'table' | 'wanted'>): Promise<readonly PartitionField[]> {
  return (await known.partitioning(table)) ?? wanted;
}

/** `made`: what the job wrote, of which executors kept some apart already. AppError `conflict`: a column that partitions are of would become another one. */
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
  known: TablesThere,
  table: string,
  fields: readonly PartitionField[],
  columns: readonly LakeColumn[],
): Promise<void> {
  const there = await known.columns(table);
  for (const field of fields) {
    const type = columns.find(({ name }) => name === field.column)?.sqlType;
    const before = there?.get(field.column)?.sqlType ?? type;
    const fault = type === undefined ? 'would be gone' : typeFault(field, type);
    if (fault === null && before === type) continue;
    throw new AppError(
      'conflict',
      `${table} is partitioned by ${partitionText(fields)}, and ${field.column} ${fault ?? `would become ${type} of ${before}`}: take another folder.`,
    );
  }
}
