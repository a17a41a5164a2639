/** Merges many small files of tables into few large ones with the same rows, in one version of each table. */
import { randomBytes, randomUUID } from 'node:crypto';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import { decideStep, stagingPrefix } from '../place/journal.ts';
import type { HeldLakePlace, LakePlace, LakeTarget } from './place.ts';
import { finishStep, type FinishedStep, holdPlace } from './finish-step.ts';
import { formatsOf, mainFormat } from './formats.ts';
import type { LakeManifest, LakeStep, TableStep } from './manifest.ts';
import { type LakeFile, isOwnFile } from './table-format.ts';

/** a file with fewer bytes is small */
const smallBytes = 32 * 1024 * 1024;
/** the maximum size of a file that small files are compacted into */
const maxBytesOfFile = 128 * 1024 * 1024;
/** the maximum that a job rewrites for later readers; `compactLake` rewrites the rest */
const maxBytesOfJob = 256 * 1024 * 1024;
/** the number of files of a table above which the next job compacts it */
export const defaultMaxFiles = 64;
/** replaces the installation in a commit of a compaction */
const compactor = 'compaction';

/**
 * Compacts the tables, and returns the changes in words; none if no table has two small files. AppErrors as for a job; `conflict` if some
 * files cannot be read: these remain as they are, and all others are compacted.
 */
export async function compactLake(target: LakeTarget): Promise<readonly string[]> {
  const place = await holdPlace(target, false);
  try {
    const { changes, left } = await compactTables(place, null, Infinity);
    if (left.length === 0) return changes;
    const rest = changes.length === 0 ? [] : ['All others were compacted:', ...changes];
    throw new AppError('conflict', [...left, ...rest].join('\n'));
  } finally {
    await place.release();
  }
}

/** Compacts tables after a job. `tables`: names. */
export async function compactSome(
  place: HeldLakePlace,
  tables: ReadonlySet<string>,
): Promise<readonly string[]> {
  const { changes, left } = await compactTables(place, tables, maxBytesOfJob);
  return [...changes, ...left];
}

/** `tables`: names; null: all. */
async function compactTables(
  place: HeldLakePlace,
  tables: ReadonlySet<string> | null,
  maxBytes: number,
): Promise<Pick<FinishedStep, 'changes' | 'left'>> {
  const manifest = await place.readManifest();
  if (manifest === null) throw new AppError('not_found', `${place.label}: no documents were loaded there.`);
  const steps = await mergesOf(place, manifest, tables, maxBytes);
  if (steps.length === 0) return { changes: [], left: [] };
  const staging = `${stagingPrefix}${compactor}-${randomBytes(4).toString('hex')}`;
  await place.stage(staging);
  const step: LakeStep = {
    format: manifest.format,
    staging,
    // a number greater than that of any earlier compaction
    job: Date.now(),
    jobUuid: randomUUID(),
    installation: compactor,
    tables: steps,
    manifest,
  };
  try {
    await decideStep(place, step, () => Promise.resolve());
  } catch (error) {
    await place.discard(staging);
    throw error;
  }
  return finishStep(place, { isRecovery: false });
}

/** Returns the merges, `_loads` last, because its version records those of the others. */
async function mergesOf(
  place: LakePlace,
  { format, tables }: LakeManifest,
  wanted: ReadonlySet<string> | null,
  maxBytes: number,
): Promise<readonly TableStep[]> {
  let left = maxBytes;
  const steps: TableStep[] = [];
  const ordered = tables.toSorted(
    (a, b) => Number(a.name === sideTableNames.loads) - Number(b.name === sideTableNames.loads),
  );
  for (const { name, directory } of ordered) {
    if (wanted !== null && !wanted.has(name)) continue;
    const label = `${place.label}: ${name}`;
    for (const one of formatsOf(format)) (await one.readTable(place, directory, label))?.checkWritable();
    const state = await mainFormat(format).readTable(place, directory, label);
    const groups = groupsOf(state?.files ?? new Map());
    const merges: (readonly string[])[] = [];
    for (const { paths, bytes } of groups) {
      if (bytes > left) continue;
      merges.push(paths);
      left -= bytes;
    }
    if (merges.length === 0) continue;
    const nothing = { comment: '', columns: [], files: [], replace: false, keptJobs: [], without: [] };
    steps.push({ name, directory, ...nothing, merges });
  }
  return steps;
}

/**
 * Returns lists of two or more small files, in the order of the table. Files of other programs are not merged, because keys that these may
 * have given to rows are searched in their files.
 */
function groupsOf(
  files: ReadonlyMap<string, LakeFile>,
): readonly { readonly paths: readonly string[]; readonly bytes: number }[] {
  const groups: { paths: string[]; bytes: number }[] = [];
  /** the last list of each partition */
  const lasts = new Map<string, { paths: string[]; bytes: number }>();
  for (const [path, file] of files) {
    if (!isOwnFile(path) || !(file.bytes < smallBytes) || Number.isNaN(file.rows)) continue;
    const partition = JSON.stringify(file.partition);
    const last = lasts.get(partition);
    if (last === undefined || last.bytes + file.bytes > maxBytesOfFile) {
      const group = { paths: [path], bytes: file.bytes };
      groups.push(group);
      lasts.set(partition, group);
    } else {
      last.paths.push(path);
      last.bytes += file.bytes;
    }
  }
  return groups.filter(({ paths }) => paths.length > 1);
}
