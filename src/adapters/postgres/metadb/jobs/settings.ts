/** The settings of the job table: times and counts, given when a store is made. */

/** The limits of the job queue (docs/decisions/service/limits.md); times in milliseconds. */
export interface JobStoreSettings {
  /** jobs of one organisation that run at a time, those by hand not counted */
  readonly maxRunningPerOrg: number;
  /** jobs of one organisation that wait */
  readonly maxQueuedPerOrg: number;
  readonly maxAttempts: number;
  /** time from submission to end */
  readonly deadlineMs: number;
  /** pause after a dead worker, times the number of attempts made */
  readonly retryDelayMs: number;
  /** time for which an idempotency key is remembered */
  readonly idempotencyKeyMs: number;
}
