/** Zod shapes of the outbox and of sent events: an invalid event is given up alone, and does not hold up any other. */
import { z } from 'zod';
import { AppError } from '../errors.ts';
import type { JobRecord } from '../jobs/record.ts';
import { withStatusName, type StatusLetter } from '../jobs/status-letters.ts';
import type { StoredEvent } from '../ports/stores/event-outbox.ts';

type WireRecord = Omit<JobRecord, 'status'> & { readonly status: StatusLetter };

const id = z.int().positive();
const epochMs = z.number();
const text = z.string().nullable();

/** Members that a later version adds are kept. */
const jobRecord = z.looseObject({
  id_job: id,
  id_parent_job: id.nullable(),
  id_org: id,
  id_sch: id.nullable(),
  id_lschma: id.nullable(),
  id_app: text,
  job_type: z.enum(['Schema', 'Parse', 'Write', 'Unload', 'Export', 'Import']),
  status: z.enum(['Q', 'R', 'W', 'T', 'C', 'F', 'K', 'E', 'L']),
  params: z.string(),
  params_json: z.string(),
  host: text,
  os_user: text,
  base_path: text,
  parm_path_input: text,
  parm_path_output: text,
  msg_proc_qty: z.number(),
  log_file: text,
  start_date: epochMs.nullable(),
  end_date: epochMs.nullable(),
  id_workflow: id,
  attempt: z.int(),
  progress: z.number().nullable(),
  failure: text,
  // the database stores null for a job without a watch
  id_watch: id.nullish().transform((idWatch) => idWatch ?? undefined),
  trace_id: z.string(),
}) satisfies z.ZodType<WireRecord>;

/** An event of the outbox with the record of its job. */
export type JobEvent = Omit<StoredEvent, 'job' | 'moment'> & {
  readonly moment: 'started' | 'ended';
  readonly job: JobRecord;
};

const watchRecord = z.looseObject({ id_watch: id, id_org: id, name: z.string(), stalled: z.string() });
const rejectedFile = z.looseObject({
  id_watch: id,
  id_org: id,
  watch: z.string(),
  name: z.string(),
  version: z.string(),
  id_job: id.nullable(),
  reason: text,
});

/** An event of a watch, or of a file that it has kept aside. */
export type WatchEvent = Omit<StoredEvent, 'job' | 'moment'> &
  (
    | { readonly moment: 'stalled'; readonly subject: z.infer<typeof watchRecord> }
    | { readonly moment: 'rejected'; readonly subject: z.infer<typeof rejectedFile> }
  );

/** Whether it is about a job. */
export function isJobEvent(event: JobEvent | WatchEvent): event is JobEvent {
  return 'job' in event;
}

/** AppError `internal_error` if the stored record is invalid. */
export function readStoredEvent(stored: StoredEvent): JobEvent | WatchEvent {
  const { job, moment, ...event } = stored;
  if (moment === 'stalled')
    return { ...event, moment, subject: read(watchRecord, parsed(job), 'the stored event') };
  if (moment === 'rejected')
    return { ...event, moment, subject: read(rejectedFile, parsed(job), 'the stored event') };
  return {
    ...event,
    moment,
    job: withStatusName<WireRecord>(read(jobRecord, parsed(stored.job), 'the stored event')),
  };
}

const jobTypes = [
  'job.completed',
  'job.failed',
  'job.killed',
  'job.expired',
  'job.lost',
  'job.ended',
] as const;
const timestamp = z.iso.datetime();

/**
 * An event of Standard Webhooks: `data` is the record as GET /v2/executions/get/{id} returns it, or GET /v2/watches/{id} and its files.
 */
const webhookEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(jobTypes), timestamp, data: jobRecord }),
  z.strictObject({ type: z.literal('watch.stalled'), timestamp, data: watchRecord }),
  z.strictObject({ type: z.literal('file.rejected'), timestamp, data: rejectedFile }),
]);
export type WebhookJobType = (typeof jobTypes)[number];
export type WebhookEvent = { readonly timestamp: string } & (
  | { readonly type: WebhookJobType; readonly data: WireRecord }
  | { readonly type: 'watch.stalled'; readonly data: z.infer<typeof watchRecord> }
  | { readonly type: 'file.rejected'; readonly data: z.infer<typeof rejectedFile> }
);

export function webhookJson(event: WebhookEvent): string {
  return JSON.stringify(read(webhookEvent, event, 'the webhook'));
}

const facet = z.looseObject({ _producer: z.string(), _schemaURL: z.url() });
const facets = z.record(z.string(), facet);
export type Facet = z.infer<typeof facet>;

const dataset = z.strictObject({
  namespace: z.string(),
  name: z.string(),
  facets: facets.optional(),
  outputFacets: facets.optional(),
});
export type Dataset = z.infer<typeof dataset>;

/** A run event of OpenLineage 2-0-2. */
const runEvent = z.strictObject({
  eventType: z.enum(['START', 'COMPLETE', 'FAIL', 'ABORT', 'OTHER']),
  eventTime: z.iso.datetime(),
  producer: z.string(),
  schemaURL: z.url(),
  run: z.strictObject({ runId: z.uuid(), facets }),
  job: z.strictObject({ namespace: z.string(), name: z.string(), facets }),
  inputs: z.array(dataset).readonly(),
  outputs: z.array(dataset).readonly(),
});
export type RunEvent = z.infer<typeof runEvent>;

export function runEventJson(event: RunEvent): string {
  return JSON.stringify(read(runEvent, event, 'the lineage event'));
}

/** The part of `params_json` from which names of jobs are made. */
const shownParameters = z.looseObject({ action: z.record(z.string(), z.unknown()).default({}) });

/** The options of a job by their long names. */
export function actionOf({ params_json: json }: JobRecord): Readonly<Record<string, unknown>> {
  return read(shownParameters, parsed(json), 'params_json').action;
}

const runSummary = z.looseObject({ tables: z.record(z.string(), z.number()).default({}) });

/** Returns rows by table from the summary of a run; none if it has no summary. */
export function rowsByTable(summary: unknown): Readonly<Record<string, number>> {
  return summary === null ? {} : read(runSummary, summary, 'the summary of the run').tables;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** Values are not repeated: some are addresses with a secret. */
function read<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<S>;
  const [issue] = error.issues;
  throw new AppError('internal_error', [what, ...issue!.path.map(String)].join('/') + `: ${issue!.message}`);
}
