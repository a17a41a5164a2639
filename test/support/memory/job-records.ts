/** Jobs for tests that only need some to be there. */
import type { JobProgress, JobStore, NewJob, Submitted } from '../../../src/ports/stores/jobs.ts';

export const newDonutJob: NewJob = {
  jobType: 'Parse',
  tool: 'xml2er',
  params: 'donut.xml -g 3',
  paramsJson: '{"spark":{"master":"local[*]"},"action":{"map":3}}',
  request: '{"tool":"xml2er","inputs":["donut.xml"]}',
  inputPath: 'donut.xml',
  outputPath: null,
  idSch: null,
  idParentJob: null,
};

const worker = { workerId: 'w1', host: 'etl-1/10.0.0.5', osUser: 'svc', basePath: '/' };

export async function submitJobs(
  jobs: JobStore,
  idOrg: number,
  count: number,
  name: string | null = null,
): Promise<Submitted> {
  return await jobs.submit({
    idOrg,
    workflowName: name,
    jobs: Array.from({ length: count }, () => newDonutJob),
    idempotency: null,
  });
}

/** Claims the oldest job that may run; answers how to end it. */
export async function startNextJob(jobs: JobStore): Promise<{
  idJob: number;
  report(progress: JobProgress): Promise<boolean>;
  end(status: 'completed' | 'failed'): Promise<boolean>;
}> {
  const claim = await jobs.claimJob(worker, 30_000);
  if (claim === null) throw new Error('no job may run');
  return {
    idJob: claim.idJob,
    report: (progress) => jobs.report(claim, progress),
    end: (status) => jobs.finish(claim, status, status === 'failed' ? 'line 3, column 7: broken' : null),
  };
}
