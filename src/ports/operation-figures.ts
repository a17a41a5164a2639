/** Figures of the whole installation for its operator: waiting work, and its waiting times. */

export interface OperationFigures {
  readonly outbox: readonly {
    /** `webhook`, `openlineage` */
    readonly kind: string;
    readonly waiting: number;
    /** given up after the last attempt, and not removed yet */
    readonly dead: number;
    /** milliseconds since the event that waits longest occurred; 0 if none waits */
    readonly oldestMs: number;
  }[];
  /** connections to the metadata database from all its clients */
  readonly connections: number;
  /** connections that the server accepts */
  readonly maxConnections: number;
  /** overdue time of the oldest record of ended jobs that should have been removed, in milliseconds; 0: none is due */
  readonly retentionLagMs: number;
  /** the organisations whose oldest queued job has waited longest, at most 20, longest first */
  readonly queues: readonly { readonly idOrg: number; readonly ageMs: number }[];
  /** jobs that wait for a server or for room on a disk */
  readonly outageJobs: number;
  /** milliseconds that the job among them that waits longest has waited; 0 if none waits */
  readonly outageMs: number;
}

export interface OperationFigureSource {
  read(): Promise<OperationFigures>;
  /** open connections of this process by pool, without asking the database */
  pools(): Readonly<Record<string, { readonly open: number; readonly max: number }>>;
}
