/** The options of a worker: ports, times and the number of jobs that it runs. */
import type { JobStore, WorkerIdentity } from '../../ports/stores/jobs.ts';
import type { Logger } from '../../ports/log.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { ProcessRunner } from '../../ports/processes.ts';

export interface WorkerOptions {
  readonly jobs: JobStore;
  readonly runner: ProcessRunner;
  readonly logger: Logger;
  readonly identity: WorkerIdentity;
  /** jobs at the same time, beside one extra job for an organisation that runs nothing else */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** longest wait for a notification of new work */
  readonly pollMs: number;
  /** time from SIGTERM to SIGKILL of a job's process group */
  readonly killGraceMs: number;
  /** a job whose process ended without a reason is given up after so many */
  readonly maxAttempts: number;
  /** time that a job waits for a server or for room on a disk; absent: none */
  readonly outageWaitMs?: number;
  /** Whether the database has the version of this program, checked now; absent: it always has. */
  readonly fitsDatabase?: () => Promise<boolean>;
  /** running time of a job, all its attempts together; absent: none */
  readonly runLimitMs?: number;
  /** exports the spans of jobs and their steps; absent: nobody wants them */
  readonly tracer?: Tracer;
}
