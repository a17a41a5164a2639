/** The place of a folder of files, such as a disk or a bucket, and the change of several of its files in one step. */
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
