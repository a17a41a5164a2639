/** The body of a webhook: about an ended job, a watch that stalls, or a file that was kept aside. */
import type { JobStatus } from '../jobs/record.ts';
import { withStatusLetter } from '../jobs/status-letters.ts';
import { isJobEvent, webhookJson, type JobEvent, type WatchEvent, type WebhookJobType } from './shapes.ts';

const types: Readonly<Partial<Record<JobStatus, WebhookJobType>>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  killed: 'job.killed',
  expired: 'job.expired',
  lost: 'job.lost',
};

export function webhookBody(event: JobEvent | WatchEvent): string {
  const timestamp = new Date(event.occurred).toISOString();
  if (!isJobEvent(event))
    return event.moment === 'stalled'
      ? webhookJson({ type: 'watch.stalled', timestamp, data: event.subject })
      : webhookJson({ type: 'file.rejected', timestamp, data: event.subject });
  const { job } = event;
  return webhookJson({ type: types[job.status] ?? 'job.ended', timestamp, data: withStatusLetter(job) });
}
