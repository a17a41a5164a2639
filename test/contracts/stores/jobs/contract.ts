/** What every job store does. */
import { describe } from 'vitest';
import { recordsOfJobs } from './kept-records.ts';
import { killedJobs } from './killing.ts';
import { runningJobs } from './running.ts';
import { useJobStore, type JobStoreFixture } from './submissions.ts';

export { newJob, submission, worker } from './submissions.ts';
export type { JobStoreFixture, JobStoreLimits } from './submissions.ts';

export function describeJobStore(name: string, open: () => Promise<JobStoreFixture>): void {
  describe(`${name} as a job store`, () => {
    const given = useJobStore(open);
    runningJobs(given);
    killedJobs(given);
    recordsOfJobs(given);
  });
}
