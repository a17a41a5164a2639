/** The body of a webhook about an ended job. */
import type { JobStatus } from '../jobs/record.ts';
import { webhookJson, type JobEvent, type WebhookEvent } from './shapes.ts';

const types: Readonly<Partial<Record<JobStatus, WebhookEvent['type']>>> = {
  C: 'job.completed',
  F: 'job.failed',
  K: 'job.killed',
  E: 'job.expired',
  L: 'job.lost',
};

export function webhookBody({ job, occurred }: JobEvent): string {
  return webhookJson({
    type: types[job.status] ?? 'job.ended',
    timestamp: new Date(occurred).toISOString(),
    data: job,
  });
}
