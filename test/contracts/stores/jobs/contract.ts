/** What every job store does. */
import { describeKilling } from './killing.ts';
import { describeRecords } from './kept-records.ts';
import { describeRunning } from './running.ts';
import type { JobStoreFixture } from './submissions.ts';

export { newJob, submission, worker } from './submissions.ts';
export type { JobStoreFixture, JobStoreLimits } from './submissions.ts';

export function describeJobStore(name: string, open: () => Promise<JobStoreFixture>): void {
  describeRunning(name, open);
  describeKilling(name, open);
  describeRecords(name, open);
}
