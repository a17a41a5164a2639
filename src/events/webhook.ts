/** The body of a webhook about an ended job. */
import type { JobStatus } from '../jobs/record.ts';
import type { OutboxEvent } from '../ports/stores/event-outbox.ts';

const types: Readonly<Partial<Record<JobStatus, string>>> = {
  C: 'job.completed',
  F: 'job.failed',
  K: 'job.killed',
  E: 'job.expired',
  L: 'job.lost',
};

/** `{type, timestamp, data}`; `data` is the job record, as GET /v2/executions/get/{id} answers it. */
export function webhookBody({ job, occurred }: OutboxEvent): string {
  return JSON.stringify({
    type: types[job.status] ?? 'job.ended',
    timestamp: new Date(occurred).toISOString(),
    data: job,
  });
}
