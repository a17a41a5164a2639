/** Versions of tables of a catalogue that a job was given after its own, where the catalogue had passed over one (docs/iceberg.md, "Catalogues"). */
import type { LakePlace } from '../place.ts';
import { jobMember, currentSnapshot, readMetadata } from './metadata.ts';
import type { Snapshot } from './shape.ts';
import { IcebergVersion } from './version.ts';

/**
 * By table, what the version of `_loads` tells, and of tables that the catalogue passed over in its change, the version that has the job's rows.
 * `loads`: that version.
 */
export async function versionsPutRight(
  place: LakePlace,
  tables: readonly { readonly name: string; readonly directory: string }[],
  loads: unknown,
  told: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  if (place.catalogue === undefined || !(loads instanceof IcebergVersion)) return told;
  const made = currentSnapshot(loads.found.metadata)?.summary;
  if (made === undefined) return told;
  const right = new Map(told);
  for (const { name, directory } of tables) {
    const version = told.get(name);
    if (version === undefined) continue;
    const found = await readMetadata(place, directory, `${place.label}: ${name}`);
    const own = (found?.metadata.snapshots ?? []).filter((snapshot) => isOfJob(snapshot, made));
    for (const { 'sequence-number': number } of own) if (number > right.get(name)!) right.set(name, number);
  }
  return right;
}

/** Compaction, which a job may end with, changes no rows. */
function isOfJob({ summary }: Snapshot, made: Snapshot['summary']): boolean {
  return summary['operation'] !== 'replace' && summary[jobMember] === made[jobMember];
}
