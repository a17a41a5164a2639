/** Jobs as tests submit them, and what a job store is opened with. */
import { afterAll, beforeAll } from 'vitest';
import type {
  Claim,
  JobStore,
  NewJob,
  Submission,
  WorkerIdentity,
} from '../../../../src/ports/stores/jobs.ts';

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

/** The store of a group of tests, opened before them, and what they do with it again and again. */
export interface JobStoreUse {
  readonly fixture: JobStoreFixture;
  readonly jobs: JobStore;
  submitOne(idOrg: number, more?: Partial<NewJob>): Promise<number>;
  /** Claims until it gets the job: other tests may have left some that wait. */
  claimJob(idJob: number, leaseMs?: number, store?: JobStore): Promise<Claim>;
  statusOf(idOrg: number, idJob: number): Promise<string | undefined>;
  /** Ends what other tests left queued, so that claims are this test's alone. */
  drain(): Promise<void>;
}

export function useJobStore(open: () => Promise<JobStoreFixture>): JobStoreUse {
  let fixture: JobStoreFixture;
  let store: JobStore;
  beforeAll(async () => {
    fixture = await open();
    store = fixture.store();
  });
  afterAll(() => fixture.close());

  const submitOne = async (idOrg: number, more: Partial<NewJob> = {}): Promise<number> => {
    const { idJobs } = await store.submit(submission(idOrg, 1, { jobs: [newJob(more)] }));
    return idJobs[0] ?? 0;
  };
  /** Claims until it gets the job: other tests of this file may have left some that wait. */
  const claimJob = async (idJob: number, leaseMs = minute, from = store): Promise<Claim> => {
    for (;;) {
      const claim = await from.claimJob(worker, leaseMs);
      if (claim === null) throw new Error(`job ${idJob} cannot be claimed`);
      if (claim.idJob === idJob) return claim;
      await from.finish(claim, 'completed', null);
    }
  };
  const statusOf = async (idOrg: number, idJob: number): Promise<string | undefined> =>
    (await store.findJob(idOrg, idJob))?.status;
  /** Ends what other tests left queued, so that claims are this test's alone. */
  const drain = async (): Promise<void> => {
    for (
      let claim = await store.claimJob(worker, minute);
      claim !== null;
      claim = await store.claimJob(worker, minute)
    ) {
      await store.finish(claim, 'completed', null);
    }
  };
  return {
    get fixture() {
      return fixture;
    },
    get jobs() {
      return store;
    },
    submitOne,
    claimJob,
    statusOf,
    drain,
  };
}
