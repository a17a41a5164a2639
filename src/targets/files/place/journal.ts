/**
 * Publishes the files of a job in a target of any kind. Files are staged on this machine and handed over to the place. One write decides
 * that they count, and then the step is carried out. The next process that locks the place finishes a step that a dead process decided, and
 * removes the files that dead processes staged.
 */
import { AppError } from '../../../errors.ts';

// Runs independent requests, several at a time.

/** the number of requests that a store accepts from one job without asking it to slow down */
const maxAtOnce = 8;

/**
 * Returns the results of `work` for all elements, in their order. After a failure no further call begins, and all calls have ended when
 * this throws.
 */
export async function eachAtOnce<One, Answer>(
  all: readonly One[],
  work: (one: One) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < all.length; at += maxAtOnce) {
    const settled = await Promise.allSettled(all.slice(at, at + maxAtOnce).map(work));
    for (const outcome of settled) {
      if (outcome.status === 'rejected') throw outcome.reason;
      answers.push(outcome.value);
    }
  }
  return answers;
}

// The journal.

/** The record of what a target holds. */
export const manifestName = 'manifest.json';
/** The record of a decided step, on a disk. */
export const journalName = '.svc-publish.json';
/** the prefix of the names of staging folders */
export const stagingPrefix = '.svc-staging-';

/** The change that one job makes. */
export interface StagedStep {
  /** the staging folder, which contains new files until they are published */
  readonly staging: string;
}

/** The text forms of a target's manifest, and of the steps that change it. */
export interface StepRecords<Step extends StagedStep, Manifest> {
  /** Parses a manifest. AppError `conflict`: the text is of another kind of target, or of another version. */
  manifestOf(text: string): Manifest;
  manifestText(manifest: Manifest): string;
  /**
   * Parses a step as `manifestOf` parses a manifest. Any user with write access may have written the text: none of its names leads out of
   * the target.
   */
  stepOf(text: string): Step;
  stepText(step: Step): string;
}

/** The lock of one writer, across all machines. */
export interface PlaceLock {
  /** Returns false if another writer took this one for dead. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** A target in its current state. */
export interface TargetPlace<Step extends StagedStep, Manifest> {
  /** the name of the target in messages */
  readonly label: string;
  /** folder of this machine in which new files are staged; statements read and write only there */
  readonly local: string;
  /** Returns null if no job has written. AppError `conflict` for a target of another kind. */
  readManifest(): Promise<Manifest | null>;
  /** Returns the step that a job has decided and not carried out yet; null if there is none. */
  readStep(): Promise<Step | null>;
}

/** A target that this job has locked. */
export interface HeldPlace<Step extends StagedStep, Manifest> extends TargetPlace<Step, Manifest> {
  /** Returns a path of this machine with the content of that file. */
  localFile(path: string): Promise<string>;
  /** Makes a folder of that name below `local`, and returns its path. */
  stage(name: string): Promise<string>;
  /** Removes the staging folder of that name, and the files of it that were handed over. */
  discard(name: string): Promise<void>;
  /** Puts the files of the step where the process that finishes the step can find them. */
  handOver(step: Step): Promise<void>;
  /**
   * Decides the step: from then on it is published, even if this process dies. Calls `mayDecide` immediately before, and decides nothing if
   * it rejects. AppError `service_unavailable` if another job was first.
   */
  decide(step: Step, mayDecide: () => Promise<void>): Promise<void>;
  /** Moves the files that were handed over into that folder; may be repeated. */
  settle(step: Step, names: readonly string[], folder: string): Promise<void>;
  /** Removes a file, if it exists. */
  remove(path: string): Promise<void>;
  /** Marks the step as carried out: writes the manifest, and removes the record of the step. */
  conclude(step: Step, manifest: Manifest): Promise<void>;
  /** AppError `service_unavailable` if another job took over the target. */
  checkHeld(): Promise<void>;
  /** Removes the files of dead attempts. */
  sweep(): Promise<void>;
  release(): Promise<void>;
}

/** Files of a place. Paths are below it, separated by '/'. */
export interface PlaceFiles {
  /** Returns the names in a folder; empty if it does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** Returns whether a file or a folder has that path. */
  has(path: string): Promise<boolean>;
  /** Returns null if there is no such file. */
  read(path: string): Promise<Uint8Array | null>;
  /** Creates a file atomically and durably; returns false, and changes nothing, if one exists. */
  create(path: string, content: string): Promise<boolean>;
  /** Replaces a file atomically and durably. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Moves a finished file of this machine to the path, which must be new. */
  add(local: string, path: string): Promise<void>;
  /** See `HeldPlace.remove`. */
  remove(path: string): Promise<void>;
  /** AppError `target_not_allowed` if the path is not a regular file. */
  checkFile(path: string): Promise<void>;
  /** See `HeldPlace.localFile`; checks as `checkFile` does. */
  localFile(path: string): Promise<string>;
  /** Creates a folder for files. */
  makeFolder(path: string): Promise<void>;
  /** Returns the address by which other programs open the path. */
  locationOf(path: string): Promise<string>;
}

/** A place before it is opened. */
export interface PlaceTarget<Opened, Held> {
  readonly label: string;
  /** Opens the place without a lock; returns null if it does not exist. The result of `work` must not use the place. */
  look<T>(work: (place: Opened) => Promise<T>): Promise<T | null>;
  /** Waits for other writers, and locks the place. `makes`: creates a missing place, which is removed again unless a step was decided. */
  hold(makes: boolean): Promise<Held>;
}

/** Locks a place, finishes the step that a dead process decided (`end`), and removes the files of dead attempts. */
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

/** Hands a step over and decides it. `mayDecide`: rejects if the job may no longer be published. */
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

/** AppError `service_unavailable` if another job has the lock. */
export async function checkLock(lock: PlaceLock, label: string): Promise<void> {
  if (!(await lock.isHeld()))
    throw new AppError('service_unavailable', `${label}: another job has taken over the lock on the target.`);
}
