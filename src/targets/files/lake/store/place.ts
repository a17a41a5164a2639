/** Where a folder of tables lies, on a disk or in a bucket, and what jobs have decided there. */
import type { LakeManifest, LakeStep } from '../manifest.ts';
import type { LakeFiles } from './files.ts';

export interface LakePlace extends LakeFiles {
  /** what it is called in messages */
  readonly label: string;
  /** folder of this machine: all that statements read and write lies in it */
  readonly local: string;
  /** Null where no job wrote there. AppError `conflict` for a folder of another kind. */
  readManifest(): Promise<LakeManifest | null>;
  /** What a job has decided and not done yet; null: nothing. */
  readStep(): Promise<LakeStep | null>;
}

/** For reading beside writers. */
export interface SteadyPlace extends LakePlace {
  /** Whether no job began to write since the manifest was read. */
  isSteady(): Promise<boolean>;
}

/** For one writer at a time. */
export interface HeldPlace extends LakePlace {
  /** A folder of this machine for files that are to come, inside of `local`. */
  stage(name: string): Promise<string>;
  /** Nothing of that name is left, what was handed over included. */
  discard(name: string): Promise<void>;
  /** Files of the step, which lie in its staging folder, are where whoever ends the step finds them. */
  handOver(step: LakeStep): Promise<void>;
  /** From here on the job is published, also if this process dies. AppError `service_unavailable` where another one was first. */
  decide(step: LakeStep): Promise<void>;
  /** What `work` commits is there at once, where the place can do that; null: somebody else’s version of a table came first, and `work` is to be done anew. */
  together<T>(work: () => Promise<T>): Promise<T | null>;
  /** Files that were handed over lie in that folder. */
  settle(step: LakeStep, names: readonly string[], folder: string): Promise<void>;
  /** The step is done. */
  conclude(step: LakeStep, manifest: LakeManifest): Promise<void>;
  /** AppError `service_unavailable` where another writer took the place over. */
  checkHeld(): Promise<void>;
  /** Files of dead attempts go. */
  sweep(): Promise<void>;
  release(): Promise<void>;
}

/** A place before it is opened. */
export interface LakeTarget {
  readonly label: string;
  /** Without a lock; null where there is nothing. What `work` answers must not need the place any more. */
  look<T>(work: (place: LakePlace) => Promise<T>): Promise<T | null>;
  /** For reading without a lock; absent where readers need one. */
  openSteady?(): Promise<SteadyPlace>;
  /** Waits for other writers. `makes`: where there is nothing, it is made, and goes again where nothing was decided. */
  hold(makes: boolean): Promise<HeldPlace>;
}
