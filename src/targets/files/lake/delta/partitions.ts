/** Partitions of Delta tables: columns that the log has the values of. What they are parts of, a property of the table tells. */
import { isList, isObject, parsed } from '../../json.ts';
import { isOwnFile } from '../data-files.ts';
import { deltaColumn, type PartitionField, type PartitionValues } from '../partitions/fields.ts';
import type { LakeField, ToldValue } from '../table-format.ts';
import type { AddedFile, Metadata } from './actions.ts';

const property = 'conversion-job-service.partition';

/** Of a new table. */
export function partitionMetadata(
  fields: readonly PartitionField[],
): Pick<Metadata, 'partitionColumns' | 'configuration'> {
  return {
    partitionColumns: fields.map(deltaColumn),
    configuration: fields.length === 0 ? {} : { [property]: JSON.stringify(fields) },
  };
}

/** Null where others partitioned the table. */
export function partitioningOf({
  partitionColumns = [],
  configuration,
}: Metadata): readonly PartitionField[] | null {
  const told = parsed<unknown>(configuration?.[property] ?? '[]');
  const isTold = isList(told, (field) => isObject(field) && typeof field['column'] === 'string');
  const fields = isTold ? (told as PartitionField[]) : [];
  return fields.map(deltaColumn).join('\n') === partitionColumns.join('\n') ? fields : null;
}

/** What the rows of a file have in columns of the partition that other writers leave to the log. */
export function valuesBeside(
  path: string,
  fields: readonly PartitionField[],
  columns: readonly LakeField[],
  told: AddedFile['partitionValues'],
): readonly ToldValue[] {
  if (isOwnFile(path)) return [];
  const values = valuesOf(fields, told);
  return fields.flatMap((field, at) => {
    const name = deltaColumn(field);
    const sqlType = columns.find((column) => column.name === name)?.sqlType;
    return sqlType === null || sqlType === undefined ? [] : [{ name, sqlType, value: values[at]! }];
  });
}

export function valuesOf(
  fields: readonly PartitionField[],
  told: AddedFile['partitionValues'],
): PartitionValues {
  return fields.map((field) => told?.[deltaColumn(field)] ?? null);
}

export function toldValues(
  fields: readonly PartitionField[],
  values: PartitionValues = [],
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(fields.map((field, at) => [deltaColumn(field), values[at] ?? null]));
}
