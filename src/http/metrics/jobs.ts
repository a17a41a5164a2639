/**
 * Metrics of ended jobs, counted from the start of this process. They come from the queue, which all processes share: each reports the
 * same for jobs that ended while it ran, wherever those ran. No label names a job, an organisation or a schema.
 */
import { failureReason } from '../../jobs/record.ts';
import { statusLetters } from '../../jobs/status-letters.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';
import { createCounter, createHistogram, gauge, type Family } from './families.ts';

/** upper bounds in seconds */
const bounds = [0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
/** the end of a job may be seen so much later than it is dated */
const overlapMs = 60_000;

export interface JobMetrics {
  families(jobs: Pick<JobStore, 'listEnded' | 'queueAgeMs' | 'countWaitingOrganisations'>): Promise<Family[]>;
}

export function createJobMetrics(startedMs: number): JobMetrics {
  const ended = createCounter();
  const failures = createCounter();
  const documents = createCounter();
  const rows = createCounter();
  const bytes = createCounter();
  const seconds = createHistogram(bounds);
  let latestMs = startedMs;
  /** counted already, with the times of their ends */
  let counted = new Map<number, number>();

  async function catchUp(jobs: Pick<JobStore, 'listEnded'>): Promise<void> {
    const sinceMs = Math.max(startedMs, latestMs - overlapMs);
    for (const job of await jobs.listEnded(sinceMs)) {
      if (counted.has(job.idJob)) continue;
      counted.set(job.idJob, job.endMs);
      latestMs = Math.max(latestMs, job.endMs);
      const { type } = job;
      const status = statusLetters[job.status];
      ended.add({ type, status });
      const reason = failureReason(job.status, job.failure);
      if (reason !== null) failures.add({ type, reason });
      if (job.startMs !== null)
        seconds.observe({ type, status }, Math.max(0, job.endMs - job.startMs) / 1000);
      documents.add({ type }, job.documents);
      rows.add({ type }, job.rows);
      bytes.add({ type }, job.bytes);
    }
    counted = new Map([...counted].filter(([, endMs]) => endMs >= latestMs - overlapMs));
  }

  let last: Promise<void> = Promise.resolve();
  return {
    async families(jobs) {
      // one at a time: two readers would count a job twice
      const mine = last.then(() => catchUp(jobs));
      // this request awaits `mine` and reports the failure; the next request starts afresh
      last = mine.catch(() => undefined);
      const [age, waiting] = await Promise.all([jobs.queueAgeMs(), jobs.countWaitingOrganisations(), mine]);
      return [
        gauge('svc_queue_age_seconds', 'How long the job that waits longest has waited.', age / 1000),
        gauge(
          'svc_waiting_tenants',
          'Tenants that run nothing and whose jobs wait because others hold all places.',
          waiting,
        ),
        ended.family('svc_jobs_ended_total', 'Jobs that ended, by kind and state.'),
        failures.family('svc_job_failures_total', 'Jobs that did not complete, by kind and reason.'),
        seconds.family('svc_job_duration_seconds', 'From the first start of a job to its end.'),
        documents.family('svc_job_documents_total', 'Documents that completed jobs loaded, read or wrote.'),
        rows.family('svc_job_rows_total', 'Rows that completed jobs moved.'),
        bytes.family('svc_job_bytes_total', 'Bytes that completed jobs read.'),
      ];
    },
  };
}
