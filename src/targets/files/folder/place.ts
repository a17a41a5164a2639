/** The place of a folder of files, such as a disk or a bucket, and the change of several of its files in one step. */
import { createHash } from 'node:crypto';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { AppError } from '../../../errors.ts';
import { isList, isObject, isOwnName, parsed } from '../json.ts';
import { diskTarget, type DiskOptions } from '../place/disk.ts';
import {
  holdRecovered,
  journalName,
  stagingPrefix,
  type HeldPlace,
  type StagedStep,
  type StepRecords,
} from '../place/journal.ts';
import { isManifest, manifestText, parseManifest, type TargetManifest } from './manifest.ts';

// Names of the files that tables are written into.

const maxNameBytes = 180;

/**
 * Returns a table's name as part of a file's name. Letters, digits, `_` and `-` are unchanged, all other characters are percent-encoded. So
 * `NAME.csv` and `NAME.JOB.csv` are the files of one table, and `NAME.*csv` matches only them.
 */
export function fileNamePart(table: string): string {
  const name = table.replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const hash = createHash('sha256').update(table).digest('hex').slice(0, 12);
  return `${Buffer.from(name)
    .subarray(0, maxNameBytes)
    .toString()
    .replace(/\u{FFFD}+$/u, '')
    .replace(/%.?$/, '')}-${hash}`;
}

/** Returns a job's mark in file names: its number and the start of its UUID, which distinguish it from all other jobs. */
export function jobMark(idJob: number, jobUuid: string): string {
  return `${idJob}-${jobUuid.slice(0, 8)}`;
}

/** Returns the first free name of `PART.EXT`, `PART.JOB.EXT`, `PART.JOB-2.EXT` … */
export function freeFileName(
  part: string,
  job: number,
  extension: string,
  taken: ReadonlySet<string>,
): string {
  let name = `${part}.${extension}`;
  for (let n = 1; taken.has(name); n += 1) name = `${part}.${job}${n === 1 ? '' : `-${n}`}.${extension}`;
  return name;
}

// The place, and its changes.

/** The change from one manifest to the next. */
export interface FolderStep extends StagedStep {
  /** names of new files; they replace older files of the same name */
  readonly files: readonly string[];
  /** names of scripts; they replace older ones as `files` do */
  readonly scripts: readonly string[];
  /** names of existing files that are removed */
  readonly remove: readonly string[];
  readonly manifest: TargetManifest;
  /** the model of the new files; absent in a step that was read from its journal */
  readonly model?: RelationalModel;
}

export interface HeldFolder extends HeldPlace<FolderStep, TargetManifest> {
  /** Returns the first of the names that is in use, or null. */
  findFirst(names: readonly string[]): Promise<string | null>;
}

/** A folder before a job locks it. */
export interface FolderTarget {
  /** the name of the folder in messages */
  readonly label: string;
  /** the name, in messages, of the folder of this machine where files are made */
  readonly localLabel: string;
  /** Returns the manifest as it will be after a step that a dead process decided; null if nothing was loaded. Changes nothing. */
  look(): Promise<TargetManifest | null>;
  /** Waits for other writers, carries out a step that a dead writer decided, and removes the files that dead writers staged. */
  hold(): Promise<HeldFolder>;
  /** Removes the files that were made on this machine, whether the folder was locked or not. */
  close(): Promise<void>;
}

/** On a disk, scripts are moved in the same way as other files. */
export const folderRecords: StepRecords<FolderStep, TargetManifest> = {
  manifestOf: parseManifest,
  manifestText,
  stepOf: (text) => {
    const journal = parsed<Journal>(text);
    if (journal !== null && isJournal(journal)) return { ...journal, scripts: [] };
    throw new AppError('conflict', `${journalName} is not a journal of this version.`);
  },
  stepText: ({ staging, files, scripts, remove, manifest }) =>
    JSON.stringify({ staging, files: [...files, ...scripts], remove, manifest } satisfies Journal),
};

type Journal = Pick<FolderStep, 'staging' | 'files' | 'remove' | 'manifest'>;

/** Checks a journal. It is as untrusted as a manifest, because it names files that are moved and removed. */
function isJournal({ staging, files, remove, manifest }: Partial<Journal>): boolean {
  return (
    typeof staging === 'string' &&
    staging.startsWith(stagingPrefix) &&
    isOwnName(staging.slice(stagingPrefix.length)) &&
    isList(files, isOwnName) &&
    isList(remove, isOwnName) &&
    isObject(manifest) &&
    isManifest(manifest)
  );
}

export function diskFolder(options: DiskOptions): FolderTarget {
  const disk = diskTarget(options, folderRecords);
  const { label } = disk;
  return {
    label,
    localLabel: label,
    look: () => disk.look(async (place) => (await readDecided(place))?.manifest ?? place.readManifest()),
    hold: () => holdRecovered(disk, true, endStep),
    // no file is made outside the folder
    close: () => Promise.resolve(),
  };
}

/** Returns the decided step. A journal of another kind is rejected when the folder is locked. */
async function readDecided(place: Pick<HeldFolder, 'readStep'>): Promise<FolderStep | null> {
  return place.readStep().catch((error: unknown) => {
    if (error instanceof AppError) return null;
    throw error;
  });
}

/** Carries out the decided step, if there is one. */
export async function endStep(held: HeldPlace<FolderStep, TargetManifest>): Promise<void> {
  const step = await held.readStep();
  if (step !== null) await carryOut(held, step);
}

/** Carries out a step. May be repeated at any point. */
export async function carryOut(held: HeldPlace<FolderStep, TargetManifest>, step: FolderStep): Promise<void> {
  await held.settle(step, [...step.files, ...step.scripts], '');
  for (const name of step.remove) await held.remove(name);
  await held.conclude(step, step.manifest);
}
