/** One attempt at a job as a span of the trace that its request began, and the steps of its tool as spans below it. */
import type { Claim } from '../../ports/stores/jobs.ts';
import { childOf, formatTraceparent, parseTraceparent } from '../trace-context.ts';
import type { WorkerOptions } from './options.ts';

export interface JobSpan {
  /** handed to the tool */
  readonly traceparent: string;
  /** fields for lines of the log */
  readonly fields: { readonly trace_id: string };
  /** Exports the span and its steps, after the end of the attempt was recorded. Never rejects. */
  end(): Promise<void>;
}

interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly cpu_seconds?: number;
}

export function beginJobSpan(
  { jobs, tracer }: Pick<WorkerOptions, 'jobs' | 'tracer'>,
  claim: Claim,
): JobSpan {
  const parent = parseTraceparent(claim.traceparent);
  const made = childOf(parent);
  const trace = parent === null && claim.traceId !== undefined ? { ...made, traceId: claim.traceId } : made;
  const startMs = Date.now();

  async function record(): Promise<void> {
    if (tracer === undefined || !trace.sampled) return;
    const endMs = Date.now();
    const { record: job, summary, epoch } = await jobs.findStoredJob(claim.idJob);
    // another worker has the job now
    if (epoch !== claim.epoch) return;
    const { traceId } = trace;
    tracer.record({
      name: `job ${claim.tool}`,
      kind: 'consumer',
      traceId,
      spanId: trace.spanId,
      ...(parent === null ? {} : { parentSpanId: parent.spanId }),
      startMs,
      endMs,
      ...(job.status === 'completed' ? {} : { error: job.failure ?? job.status }),
      attributes: {
        'svc.job.id': claim.idJob,
        'svc.job.tool': claim.tool,
        'svc.job.attempt': claim.attempt,
        'svc.job.status': job.status,
        'svc.org.id': claim.idOrg,
      },
    });
    // steps follow one another from the start of the tool
    let from = startMs;
    for (const { name, seconds, cpu_seconds: cpu } of stepsOf(summary)) {
      const until = Math.min(from + seconds * 1000, endMs);
      tracer.record({
        name: `step ${name}`,
        kind: 'internal',
        traceId,
        spanId: childOf(trace).spanId,
        parentSpanId: trace.spanId,
        startMs: from,
        endMs: until,
        attributes: {
          'svc.job.id': claim.idJob,
          ...(cpu === undefined ? {} : { 'svc.step.cpu_seconds': cpu }),
        },
      });
      from = until;
    }
  }

  return {
    traceparent: formatTraceparent(trace),
    fields: { trace_id: trace.traceId },
    // a span that is lost is no fault of the job
    end: () => record().catch(() => undefined),
  };
}

function stepsOf(summary: unknown): readonly Step[] {
  const steps = (summary as { readonly steps?: unknown } | null)?.steps;
  return Array.isArray(steps) ? (steps as readonly Step[]) : [];
}
