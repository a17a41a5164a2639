/** The place of a folder of files, such as a disk or a bucket, and how several of its files change in one step. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { TargetManifest } from '../contents/manifest.ts';

/** The change from one manifest to the next. */
export interface FolderStep {
  readonly jobUuid: string;
  /** the staging folder, which new files and scripts lie in */
  readonly staging: string;
  /** names of new files: they come over older ones of that name */
  readonly files: readonly string[];
  /** names of scripts, as `files` */
  readonly scripts: readonly string[];
  /** names of files that are there and go */
  readonly remove: readonly string[];
  readonly manifest: TargetManifest;
  /** the model of the new files */
  readonly model: RelationalModel;
}

/** The lock of one writer, on all machines. */
export interface FolderLock {
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** A folder before a job holds it. */
export interface FolderPlace {
  /** the name of the folder in messages */
  readonly label: string;
  /** the name in messages of the folder of this machine where files are made */
  readonly localLabel: string;
  /** Returns the manifest as it is once a step that a dead process decided is done; null: nothing was loaded there. Changes nothing. */
  look(): Promise<TargetManifest | null>;
  /** Waits for other writers, ends the step that a dead one decided, and removes what dead ones staged. */
  hold(): Promise<HeldFolder>;
  /** Removes what was made on this machine, whether the folder was held or not. */
  close(): Promise<void>;
}

/** A folder that no other job writes into. */
export interface HeldFolder {
  /** folder of this machine that new files are staged in, and files that were fetched are read in */
  readonly local: string;
  readManifest(): Promise<TargetManifest | null>;
  /** Returns the first of the names that is there already, or null. */
  findFirst(names: Iterable<string>): Promise<string | null>;
  /** Makes a file that the manifest lists readable below `local`, under its name. */
  fetch(name: string): Promise<void>;
  /** Makes a folder of that name below `local`. It goes with `release` unless a step of it was decided. */
  stage(name: string): Promise<void>;
  /** New files are where whoever finishes the step finds them. */
  prepare(step: FolderStep): Promise<void>;
  /** Whether no other job has taken the folder over. */
  isHeld(): Promise<boolean>;
  /**
   * Commits the step. If this process dies afterwards, the next writer that holds the folder finishes it. Calls `mayDecide` immediately before the commit, and commits
   * nothing if it rejects.
   */
  decide(step: FolderStep, mayDecide: () => Promise<void>): Promise<void>;
  /** Carries out the step that was decided; may be repeated at any point. */
  finish(step: FolderStep): Promise<void>;
  release(): Promise<void>;
}
