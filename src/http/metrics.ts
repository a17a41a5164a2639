/** Metrics in the text format of Prometheus 0.0.4: requests of this process, jobs of the queue. */
import type { MiddlewareHandler } from 'hono';
import { legalTransitions } from '../jobs/job.ts';
import type { JobStatus } from '../jobs/job.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { AppEnv } from './env.ts';

/** upper bounds in seconds */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export interface Metrics {
  readonly count: MiddlewareHandler<AppEnv>;
  render(adapters: Pick<Adapters, 'jobs' | 'health' | 'build'>): Promise<string>;
}

export function createMetrics(nowMs: () => number): Metrics {
  const requests = new Map<string, number>();
  const inBucket = buckets.map(() => 0);
  let seconds = 0;
  let total = 0;
  const startedMs = nowMs();

  return {
    async count(c, next) {
      const beganMs = nowMs();
      await next();
      const method = knownMethods.has(c.req.method) ? c.req.method : 'other';
      const labels = `method="${method}",status="${c.res.status}"`;
      requests.set(labels, (requests.get(labels) ?? 0) + 1);
      const took = (nowMs() - beganMs) / 1000;
      seconds += took;
      total += 1;
      for (const [at, bound] of buckets.entries()) if (took <= bound) inBucket[at]! += 1;
    },

    async render({ jobs, health, build }) {
      const [counts, worker] = await Promise.all([jobs.countByStatus(), health.worker()]);
      const running = worker.details?.['running'];
      const states = Object.keys(legalTransitions) as JobStatus[];
      const lines = [
        ...family('svc_build_info', 'gauge', 'The program; always 1.', [
          [`version="${escape(build.version)}"`, 1],
        ]),
        ...family('svc_start_time_seconds', 'gauge', 'When this process began, in Unix time.', [
          ['', startedMs / 1000],
        ]),
        ...family(
          'svc_jobs',
          'gauge',
          'Jobs on record, by state.',
          states.map((status) => [`status="${status}"`, counts.get(status) ?? 0]),
        ),
        ...family('svc_worker_running_jobs', 'gauge', 'Jobs that run in this process now.', [
          ['', typeof running === 'number' ? running : 0],
        ]),
        ...family('svc_http_requests_total', 'counter', 'Requests answered.', [...requests].toSorted()),
        '# HELP svc_http_request_duration_seconds Time until the answer began.',
        '# TYPE svc_http_request_duration_seconds histogram',
        ...buckets.map(
          (bound, at) => `svc_http_request_duration_seconds_bucket{le="${bound}"} ${inBucket[at]}`,
        ),
        `svc_http_request_duration_seconds_bucket{le="+Inf"} ${total}`,
        `svc_http_request_duration_seconds_sum ${seconds}`,
        `svc_http_request_duration_seconds_count ${total}`,
      ];
      return `${lines.join('\n')}\n`;
    },
  };
}

function family(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
): string[] {
  const values = samples.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values];
}

function escape(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
