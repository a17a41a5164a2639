/** The place of a target of tables: a folder of this machine, a bucket, or a namespace of a catalogue. */
import { diskTarget, type DiskOptions } from '../place/disk.ts';
import type { HeldPlace, PlaceTarget, TargetPlace } from '../place/journal.ts';
import { lakeRecords, type LakeManifest, type LakeStep } from './manifest.ts';
import type { LakeFiles, TableHolder } from './table-format.ts';

export interface LakePlace extends TargetPlace<LakeStep, LakeManifest>, LakeFiles {}

/** A place that is read without a lock, while writers work. */
export interface SteadyPlace extends LakePlace {
  /** Returns whether no job has begun to write since the manifest was read. */
  isSteady(): Promise<boolean>;
}

/** A place that is locked by one writer. */
export interface HeldLakePlace extends HeldPlace<LakeStep, LakeManifest>, LakePlace {
  remove(path: string): Promise<void>;
  localFile(path: string): Promise<string>;
}

export interface LakeTarget extends PlaceTarget<LakePlace, HeldLakePlace> {
  /** Opens the place for reading without a lock; absent if readers need a lock. */
  openSteady?(): Promise<SteadyPlace>;
}

export function diskLake(options: DiskOptions): LakeTarget {
  return diskTarget(options, lakeRecords);
}

/** Returns the owner of a table that no manifest lists. */
export async function holderOf(place: LakePlace, directory: string): Promise<TableHolder> {
  if (place.catalogue !== undefined) return place.catalogue.holderOf(directory);
  return (await place.has(directory)) ? 'others' : 'nobody';
}
