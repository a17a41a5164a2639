/** Partitions of Delta tables: columns that the log has the values of. What they are parts of, a property of the table tells. */
import { isList, isObject, parsed } from '../../folder/contents/manifest.ts';
import { isOwnFile } from '../data-files.ts';
import { deltaColumn, type PartitionField, type PartitionValues } from '../partitions/fields.ts';
import type { DeltaState, Metadata } from './actions.ts';

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

/** Whether a file of the table has rows that lack the columns of the partition, as those of other writers do. */
export function hasPartFiles({ metadata, files }: DeltaState): boolean {
  return (metadata.partitionColumns ?? []).length > 0 && [...files.keys()].some((path) => !isOwnFile(path));
}

export function valuesOf(
  fields: readonly PartitionField[],
  told: Readonly<Record<string, string | null>> | undefined,
): PartitionValues {
  return fields.map((field) => told?.[deltaColumn(field)] ?? null);
}

export function toldValues(
  fields: readonly PartitionField[],
  values: PartitionValues = [],
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(fields.map((field, at) => [deltaColumn(field), values[at] ?? null]));
}
