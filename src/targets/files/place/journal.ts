/**
 * How the files of a job become files of a target, wherever it is. They are staged on this machine and handed over to the place; one write
 * decides that they count, and the step is carried out. Whoever holds the place next ends a step that a dead process decided, and removes
 * the files that dead processes staged.
 */
import { AppError } from '../../../errors.ts';

/** The record of what a target holds. */
export const manifestName = 'manifest.json';
/** The record of a decided step, on a disk. */
export const journalName = '.svc-publish.json';
/** in front of the names of folders that new files wait in */
export const stagingPrefix = '.svc-staging-';

/** The change that one job makes. */
export interface StagedStep {
  /** the staging folder, in which new files wait */
  readonly staging: string;
}

/** How a kind of target writes down what it holds, and the steps that change it. */
export interface StepRecords<Step extends StagedStep, Manifest> {
  /** AppError `conflict`: the text is of another kind of target, or of another version. */
  manifestOf(text: string): Manifest;
  manifestText(manifest: Manifest): string;
  /**
   * Parses a step as `manifestOf` parses a manifest. Any user with write access may have written the text: none of its names leads out of
   * the target.
   */
  stepOf(text: string): Step;
  stepText(step: Step): string;
}

/** The lock of one writer, on all machines. */
export interface PlaceLock {
  /** false when another writer took this one for dead */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** A target as it is now. */
export interface TargetPlace<Step extends StagedStep, Manifest> {
  /** the name of the target in messages */
  readonly label: string;
  /** folder of this machine: new files are staged in it, and statements read and write nothing elsewhere */
  readonly local: string;
  /** Null where no job wrote. AppError `conflict` for a target of another kind. */
  readManifest(): Promise<Manifest | null>;
  /** The step that a job has decided and not carried out yet; null: there is none. */
  readStep(): Promise<Step | null>;
}

/** A target that no other job writes into. */
export interface HeldPlace<Step extends StagedStep, Manifest> extends TargetPlace<Step, Manifest> {
  /** Returns a path of this machine with the content of that file. */
  localFile(path: string): Promise<string>;
  /** Makes a folder of that name below `local`, and returns its path. */
  stage(name: string): Promise<string>;
  /** Removes the staging folder of that name, and what was handed over of it. */
  discard(name: string): Promise<void>;
  /** Files of the step are where whoever ends it finds them. */
  handOver(step: Step): Promise<void>;
  /**
   * Decides the step: from then on it is published, also if this process dies. Calls `mayDecide` immediately before, and decides nothing if it
   * rejects. AppError `service_unavailable` where another job was first.
   */
  decide(step: Step, mayDecide: () => Promise<void>): Promise<void>;
  /** Files that were handed over are in that folder; may be repeated. */
  settle(step: Step, names: readonly string[], folder: string): Promise<void>;
  /** Removes a file; there may be none. */
  remove(path: string): Promise<void>;
  /** The step is carried out: the manifest is there, and nothing is left of the step. */
  conclude(step: Step, manifest: Manifest): Promise<void>;
  /** AppError `service_unavailable` where another job took the target over. */
  checkHeld(): Promise<void>;
  /** Removes the files of dead attempts. */
  sweep(): Promise<void>;
  release(): Promise<void>;
}

/** Files of a place. Paths are below it, separated by '/'. */
export interface PlaceFiles {
  /** Names in a folder; none where it is not there. */
  list(folder: string): Promise<readonly string[]>;
  /** Whether a file or a folder has that path. */
  has(path: string): Promise<boolean>;
  /** Null: there is no such file. */
  read(path: string): Promise<Uint8Array | null>;
  /** Makes a new file, whole and durable; false where there is one, which stays. */
  create(path: string, content: string): Promise<boolean>;
  /** Replaces a file, whole and durable. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** A finished file of this machine becomes that one, which is new. */
  add(local: string, path: string): Promise<void>;
  /** See `HeldPlace.remove`. */
  remove(path: string): Promise<void>;
  /** AppError `target_not_allowed` where the path is of something that is no plain file. */
  checkFile(path: string): Promise<void>;
  /** See `HeldPlace.localFile`; checks as `checkFile` does. */
  localFile(path: string): Promise<string>;
  /** Makes a folder, so that files can be made there. */
  makeFolder(path: string): Promise<void>;
  /** The address by which other programs open it. */
  locationOf(path: string): Promise<string>;
}

/** A place before it is opened. */
export interface PlaceTarget<Opened, Held> {
  readonly label: string;
  /** Opens the place without a lock; null where there is nothing. What `work` returns must not need the place any more. */
  look<T>(work: (place: Opened) => Promise<T>): Promise<T | null>;
  /** Waits for other writers. `makes`: a place that is not there is made, and removed again unless a step was decided. */
  hold(makes: boolean): Promise<Held>;
}

/** Holds a place, ends the step that a dead process decided (`end`), and removes the files of dead attempts. */
export async function holdRecovered<Held extends Pick<HeldPlace<StagedStep, unknown>, 'sweep' | 'release'>>(
  target: Pick<PlaceTarget<unknown, Held>, 'hold'>,
  makes: boolean,
  end: (held: Held) => Promise<unknown>,
): Promise<Held> {
  const held = await target.hold(makes);
  try {
    await end(held);
    await held.sweep();
    return held;
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** Hands a step over and decides it. `mayDecide`: rejects where the job may not be published any more. */
export async function decideStep<Step extends StagedStep>(
  held: Pick<HeldPlace<Step, unknown>, 'handOver' | 'checkHeld' | 'decide'>,
  step: Step,
  mayDecide: () => Promise<void>,
): Promise<void> {
  await held.handOver(step);
  await held.decide(step, async () => {
    await held.checkHeld();
    await mayDecide();
  });
}

/** AppError `service_unavailable` where another job has the lock. */
export async function checkLock(lock: PlaceLock, label: string): Promise<void> {
  if (!(await lock.isHeld()))
    throw new AppError('service_unavailable', `${label}: another job has taken the target over.`);
}
