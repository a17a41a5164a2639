/** What a table's properties say of our writing. */
import { ownNamespace } from '../table-format.ts';
import type { TableMetadata } from './shape.ts';

/** Of a table that was made in a catalogue for a job to come. */
export const madeProperty = 'conversion-job-service.made';

/** The last job that wrote into the table, by its UUID. */
export const lastJobProperty = `${ownNamespace}last-job`;

/** The UUID of a snapshot's job, in its summary. */
export const jobMember = 'svc.job-uuid';

/** Whether that job has not come. */
export function isOfAttempt({ properties = {} }: TableMetadata): boolean {
  return properties[madeProperty] !== undefined && properties[lastJobProperty] === undefined;
}

/** Whether nobody else has given it rows, either. */
export function isUnused(metadata: TableMetadata): boolean {
  return isOfAttempt(metadata) && (metadata.snapshots ?? []).length === 0;
}

/** Numbers of columns that a job took out of the table with all files that had them. */
const retiredProperty = 'conversion-job-service.retired-field-ids';

export function retiredIds(properties: Readonly<Record<string, string>> | undefined): ReadonlySet<number> {
  const text = properties?.[retiredProperty] ?? '';
  return new Set(text === '' ? [] : text.split(',').map(Number));
}

export function withRetired(
  properties: Readonly<Record<string, string>>,
  ids: readonly number[],
): Record<string, string> {
  if (ids.length === 0) return { ...properties };
  return { ...properties, [retiredProperty]: [...new Set([...retiredIds(properties), ...ids])].join(',') };
}
