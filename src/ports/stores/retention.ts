/** Removing what has been kept long enough. Ages are taken by the database's clock. */
export interface RetentionStore {
  /** Runs `work` while no other process of this database does; false, and not at all, where one does now. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** epoch milliseconds */
  nowMs(): Promise<number>;
  /**
   * Removes workflows, all of whose jobs ended longer ago than `ageMs`: at most `limit` workflows. `forget` is told of their jobs
   * before the records are gone for good: where it fails, they stay. Answers how many jobs were removed.
   */
  removeEndedJobs(
    ageMs: number,
    limit: number,
    forget: (idJobs: readonly number[]) => Promise<void>,
  ): Promise<number>;
  removeIdempotencyKeys(ageMs: number): Promise<number>;
  /** Those that were delivered or given up so long ago, and those of kinds that nobody is told of any more. */
  removeSettledEvents(ageMs: number): Promise<number>;
  /** What jobs that have not ended read. */
  inputsInUse(): Promise<readonly { readonly idOrg: number; readonly path: string }[]>;
}
