/** The body of a webhook about an ended job. */
import type { JobStatus } from '../jobs/record.ts';
import { withStatusLetter } from '../jobs/status-letters.ts';
import { webhookJson, type JobEvent, type WebhookEvent } from './shapes.ts';

const types: Readonly<Partial<Record<JobStatus, WebhookEvent['type']>>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  killed: 'job.killed',
  expired: 'job.expired',
  lost: 'job.lost',
};

export function webhookBody({ job, occurred }: JobEvent): string {
  return webhookJson({
    type: types[job.status] ?? 'job.ended',
    timestamp: new Date(occurred).toISOString(),
    data: withStatusLetter(job),
  });
}
