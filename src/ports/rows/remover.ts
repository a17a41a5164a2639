/** Takes documents out of a target that they were loaded into. */
import type { TargetLoad } from './target-load.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';

export interface RemovalPlan {
  readonly model: RelationalModel;
  /** name of the documents when they were loaded: all with that name are removed */
  readonly documentName: string;
  /** these six as in `SinkPlan` */
  readonly idJob: number;
  readonly jobUuid: string;
  readonly installation: string;
  readonly idSch: number;
  readonly idLschma: number;
  readonly modelHash: string;
  /** count only */
  readonly dryRun: boolean;
}

export interface Removed {
  readonly documents: number;
  /** removed rows by table; tables without any are left out */
  readonly rows: Readonly<Record<string, number>>;
  /** true: an earlier attempt of this job had done it */
  readonly already: boolean;
}

export interface RowRemover {
  /** Address without secrets. */
  readonly label: string;
  /** The logical schemas that loaded the target, the last one first. */
  loads(): Promise<readonly TargetLoad[]>;
  /**
   * Removes all in one transaction, or nothing. `fence` is called in the last moment before commit, with the counts of removed rows:
   * false rolls back and ends in AppError `conflict`, as does a foreign table that refers to the rows.
   */
  removeDocuments(plan: RemovalPlan, fence: (removed: Removed) => Promise<boolean>): Promise<Removed>;
  close(): Promise<void>;
}
