/** Reads what a folder of tables contains before a job locks it. */
import type { ExistingZones, ZoneTable, TargetLoad } from '../../../ports/row-sink.ts';
import { AppError } from '../../../errors.ts';
import { loadOf } from '../folder/manifest.ts';
import { PreReleaseFault } from '../../rows/pre-release.ts';
import { canTakeZone, type LakeFormatName } from './table-format.ts';
import { mainFormat } from './formats.ts';
import type { LakePlace, LakeTarget } from './place.ts';

/** Returns the format in which jobs wrote tables into the folder; null for another kind of folder, and if it does not exist. */
export async function lakeFormatOf(target: LakeTarget): Promise<LakeFormatName | null> {
  return target.look(formatOf).catch((error: unknown) => {
    // a folder of another kind
    if (error instanceof AppError && !(error instanceof PreReleaseFault) && error.code === 'conflict')
      return null;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  });
}

async function formatOf(place: LakePlace): Promise<LakeFormatName | null> {
  return (await place.readStep())?.format ?? (await place.readManifest())?.format ?? null;
}

/** Returns the logical schemas that loaded the folder, the latest first; empty if the folder does not exist. */
export async function readLakeLoads(target: LakeTarget): Promise<readonly TargetLoad[]> {
  const manifest = await target.look(
    async (place) => (await place.readStep())?.manifest ?? (await place.readManifest()),
  );
  const found = new Map<string, TargetLoad>();
  for (const job of (manifest?.jobs ?? []).toReversed()) {
    const { key, load } = loadOf(job);
    const holds = job.tables.length > 0 || found.get(key)?.holds === true;
    found.set(key, { ...load, holds });
  }
  return [...found.values()];
}

/** Returns `RowSink.existingZones` for the tables of the target. */
export async function readLakeZones(
  target: LakeTarget,
  tables: readonly ZoneTable[],
): Promise<ExistingZones> {
  const found = new Map<string, ReadonlyMap<string, boolean>>();
  await target.look(async (place) => {
    const manifest = await place.readManifest();
    if (manifest === null) return;
    const known = new Map(manifest.tables.map((table) => [table.name, table]));
    const format = mainFormat(manifest.format);
    for (const { name, columns } of tables) {
      const there = known.get(name);
      const state =
        there === undefined
          ? null
          : await format.readTable(place, there.directory, `${place.label}: ${name}`);
      if (state === null) continue;
      const fields = new Map(state.fields.map((field) => [field.name, field]));
      const kept = new Map<string, boolean>();
      for (const column of columns()) {
        const field = fields.get(column.name);
        if (field?.sqlType?.startsWith('TIMESTAMP') !== true) continue;
        const isZoned = field.sqlType.includes('TIME ZONE');
        if (isZoned || !column.zoned || !canTakeZone(state, field)) kept.set(column.name, isZoned);
      }
      found.set(name, kept);
    }
  });
  return found;
}
