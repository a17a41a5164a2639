/** Waiting for the jobs of a workflow. */
import { expect, it } from 'vitest';
import type { JobStatus } from '../../../../src/service/jobs/record.ts';
import { waitForJobs } from '../../../../src/service/jobs/submit.ts';
import type { JobStore } from '../../../../src/ports/stores/jobs.ts';
import { createMemoryAdapters } from '../../../support/memory/adapters.ts';

const job = {
  jobType: 'Parse',
  tool: 'xml2er',
  params: '',
  paramsJson: '{}',
  request: '{"tool":"xml2er"}',
  inputPath: null,
  outputPath: null,
  idSch: null,
  idParentJob: null,
} as const;
const worker = { workerId: 'w', host: 'h/1', osUser: 'u', basePath: '/' };

/** Jobs that run until they are told of: nobody who waits is woken by the time. */
function toldJobs(jobs: JobStore): {
  readonly jobs: JobStore;
  looks(): number;
  end(status: Extract<JobStatus, 'completed' | 'failed'>): Promise<void>;
} {
  const waiting = new Set<() => void>();
  let looks = 0;
  return {
    jobs: {
      ...jobs,
      waitForEnd: () => new Promise((resolve) => waiting.add(resolve)),
      listWorkflowJobs: (...asked) => {
        looks += 1;
        return jobs.listWorkflowJobs(...asked);
      },
    },
    looks: () => looks,
    async end(status) {
      await jobs.finish((await jobs.claimJob(worker, 30_000))!, status, null);
      for (const resume of waiting) resume();
    },
  };
}

it('looks once at many that end at about the same time', async () => {
  const { jobs } = createMemoryAdapters();
  const told = toldJobs(jobs);
  const all = Array.from({ length: 20 }, () => job);
  const { idWorkflow, idJobs } = await jobs.submit({
    idOrg: 1,
    workflowName: null,
    jobs: all,
    idempotency: null,
  });
  const { signal } = new AbortController();
  const waiting = waitForJobs(told.jobs, 1, idWorkflow, idJobs, { forMs: 3_600_000, signal });
  for (const _ of all) await told.end('completed');
  expect(await waiting).toEqual(all.map(() => 'completed'));
  expect(told.looks()).toBeLessThan(all.length / 2);
});

it('is told of each end, and looks at no other time', async () => {
  const { jobs } = createMemoryAdapters();
  const told = toldJobs(jobs);
  const { idWorkflow, idJobs } = await jobs.submit({
    idOrg: 1,
    workflowName: null,
    jobs: [job, job],
    idempotency: null,
  });
  const { signal } = new AbortController();
  const waiting = waitForJobs(told.jobs, 1, idWorkflow, idJobs, { forMs: 3_600_000, signal });
  await told.end('completed');
  await told.end('failed');
  expect(await waiting).toEqual(['completed', 'failed']);
  expect(told.looks()).toBeLessThanOrEqual(3);
});
