/** Removes records past their retention time. Ages are measured with the database's clock. */
export interface RetentionStore {
  /** Runs `work` if no other process of this database does; otherwise returns false without running it. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** epoch milliseconds */
  nowMs(): Promise<number>;
  /**
   * Examines at most `limit` workflows that are older than `ageMs`, in the order of their ids from the one behind `afterWorkflow` on,
   * and removes those whose jobs all ended longer ago than that. `forget` receives the ids of their jobs before the records are
   * deleted; if it fails, the records stay. Returns null if there was no workflow left to examine.
   */
  removeEndedJobs(
    ageMs: number,
    afterWorkflow: number,
    limit: number,
    forget: (idJobs: readonly number[]) => Promise<void>,
  ): Promise<RemovedJobs | null>;
  removeIdempotencyKeys(ageMs: number): Promise<number>;
  /** Removes events that were delivered or given up that long ago, and events of kinds that nobody receives any more. */
  removeSettledEvents(ageMs: number): Promise<number>;
  /** Returns the inputs of jobs that have not ended. */
  inputsInUse(): Promise<readonly { readonly idOrg: number; readonly path: string }[]>;
}

/** One batch of removed jobs. */
export interface RemovedJobs {
  readonly jobs: number;
  /** the last workflow that the batch examined: the next one begins behind it */
  readonly lastWorkflow: number;
}
