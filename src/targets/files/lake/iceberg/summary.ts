/** What a snapshot tells of itself in words and sums (Iceberg table specification, "Snapshots", "Optional Snapshot Summary Fields"). */
import type { TableChange } from '../table-format.ts';
import type { ManifestEntry } from './manifests.ts';
import { jobMember } from './metadata.ts';
import type { IcebergVersion } from './version.ts';

function rowsOf(entries: readonly ManifestEntry[]): bigint {
  return entries.reduce((sum, { data_file: file }) => sum + file.record_count, 0n);
}

export function summaryOf(
  { operation, installation, job, jobUuid, versions }: TableChange,
  before: IcebergVersion | null,
  added: readonly ManifestEntry[],
  removed: ReadonlySet<string>,
): Record<string, string> {
  const there = before?.entries ?? [];
  const gone = there.filter(({ path }) => removed.has(path));
  return {
    operation:
      operation === 'compact'
        ? 'replace'
        : operation === 'append' || operation === 'merge'
          ? gone.length > 0
            ? 'overwrite'
            : 'append'
          : operation,
    'added-data-files': String(added.length),
    'added-records': String(rowsOf(added)),
    'deleted-data-files': String(gone.length),
    'deleted-records': String(rowsOf(gone)),
    'total-data-files': String(there.length + added.length - gone.length),
    'total-records': String(rowsOf(there) + rowsOf(added) - rowsOf(gone)),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
    'engine-name': 'conversion-job-service',
    'svc.installation': installation,
    'svc.job': String(job),
    [jobMember]: jobUuid,
    ...(versions === null ? {} : { 'svc.tables': JSON.stringify(versions) }),
  };
}
