/** Jobs as tests submit them, and what a job store is opened with. */
import type { JobStore, NewJob, Submission, WorkerIdentity } from '../../../../src/ports/stores/jobs.ts';

export interface JobStoreLimits {
  readonly maxRunningPerOrg?: number;
  readonly maxQueuedPerOrg?: number;
  readonly maxAttempts?: number;
  readonly deadlineMs?: number;
  readonly retryDelayMs?: number;
  readonly idempotencyKeyMs?: number;
}

/** A fresh, empty place for jobs. */
export interface JobStoreFixture {
  store(limits?: JobStoreLimits): JobStore;
  createOrg(): Promise<number>;
  createOrigin(idOrg: number): Promise<number>;
  close(): Promise<void>;
}

export const worker: WorkerIdentity = {
  workerId: 'w-1',
  host: 'etl-1/10.0.0.5',
  osUser: 'svc',
  basePath: '/srv',
};
export const minute = 60_000;

export function newJob(more: Partial<NewJob> = {}): NewJob {
  return {
    jobType: 'Parse',
    tool: 'xml2er',
    params: 'donut.xml -g 3',
    paramsJson: '{"spark":{},"action":{}}',
    request: '{"tool":"xml2er"}',
    inputPath: 'donut.xml',
    outputPath: null,
    idSch: null,
    idParentJob: null,
    ...more,
  };
}

export function submission(idOrg: number, count: number, more: Partial<Submission> = {}): Submission {
  return {
    idOrg,
    workflowName: null,
    jobs: Array.from({ length: count }, () => newJob()),
    idempotency: null,
    ...more,
  };
}
