/** Delivers the events of the outbox: again and again, at longer and longer intervals, until they are accepted or given up. */
import type { OutgoingGuard } from '../access/outgoing-guard.ts';
import { AppError } from '../../errors.ts';
import { pause } from '../jobs/worker/waiting.ts';
import type { EventKind, EventOutbox, StoredEvent } from '../../ports/stores/event-outbox.ts';
import type { Logger } from '../../ports/environment.ts';
import type { OutgoingHttp } from '../../ports/network.ts';
import { createTurnShares } from '../watches/turn.ts';
import {
  type JobStatus,
  type JobRecord,
  withStatusLetter,
  withStatusName,
  type StatusLetter,
} from '../jobs/record.ts';
import { z } from 'zod';

/** A receiver of events of one kind, and the form of its requests. */
export interface Receiver {
  readonly kind: EventKind;
  /** may hold secrets in its path and query: only its host is ever shown */
  readonly url: URL;
  render(
    event: JobEvent | WatchEvent,
  ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }>;
}

interface DeliveryOptions {
  readonly outbox: EventOutbox;
  readonly guard: OutgoingGuard;
  readonly http: OutgoingHttp;
  readonly logger: Logger;
  readonly receivers: readonly Receiver[];
  /** deliveries that are tried of one event */
  readonly maxAttempts: number;
  /** until the second delivery; each further pause is four times as long, at most a day */
  readonly retryMs: number;
}

interface EventDelivery {
  start(): void;
  /** Ends pending deliveries; they are repeated later. Idempotent. */
  stop(): Promise<void>;
}

const pollMs = 1000;
/**
 * organisations whose events of one kind are delivered at the same time: a receiver that is slow for one of them delays none of the
 * others
 */
const places = 8;
/** events of one organisation that are claimed together */
const batch = 8;
/** time limit for one delivery */
const timeoutMs = 20_000;
const leaseMs = 60_000;
/** part of a lease that is reserved for the database to record a delivery */
const spareMs = 5000;
const longestPauseMs = 24 * 3_600_000;

export function createEventDelivery(options: DeliveryOptions): EventDelivery {
  const { outbox, logger } = options;
  const stopping = new AbortController();
  let loops: Promise<unknown> | null = null;

  async function loop(receiver: Receiver): Promise<void> {
    const shares = createTurnShares(places);
    // one batch of an organisation after the other, so that its events keep their order
    const busy = new Set<number>();
    const running = new Set<Promise<void>>();
    // aborted, and replaced, when a batch ends
    let batchEnd = new AbortController();

    const deliverBatch = async (idOrg: number, events: readonly StoredEvent[]): Promise<void> => {
      const giveBack = shares.take(idOrg);
      busy.add(idOrg);
      try {
        await deliverEvents(receiver, events);
      } catch (error) {
        tellFailure(receiver, error);
        await pause(pollMs, stopping.signal);
      } finally {
        giveBack();
        busy.delete(idOrg);
        batchEnd.abort();
        batchEnd = new AbortController();
      }
    };

    while (!stopping.signal.aborted) {
      const wake = AbortSignal.any([stopping.signal, batchEnd.signal]);
      try {
        const [first, ...others] = shares.free() === 0 ? [] : await claim();
        if (first !== undefined) {
          const delivery = deliverBatch(first.idOrg, [first, ...others]).finally(() =>
            running.delete(delivery),
          );
          running.add(delivery);
          continue;
        }
      } catch (error) {
        tellFailure(receiver, error);
      }
      await pause(pollMs, wake);
    }
    await Promise.all(running);

    function claim(): Promise<readonly StoredEvent[]> {
      const claims = shares.claims();
      const without = [...new Set([...claims.without, ...busy])];
      return outbox.claimEvents(receiver.kind, batch, leaseMs, { ...claims, without });
    }
  }

  function tellFailure({ kind }: Receiver, error: unknown): void {
    logger.warn('events cannot be delivered now', { kind, error: reasonOf(error) });
  }

  async function deliverEvents(receiver: Receiver, events: readonly StoredEvent[]): Promise<void> {
    const begun = performance.now();
    await Promise.all(
      byJob(await readable(receiver, events)).map(async (ofJob) => {
        for (const [at, event] of ofJob.entries()) {
          // another process would take an event whose lease ends while it is delivered
          if (performance.now() - begun + timeoutMs > leaseMs - spareMs) {
            await outbox.release(ofJob.slice(at).map(({ idEvent }) => idEvent));
            return;
          }
          await deliver(options, receiver, event, stopping.signal);
        }
      }),
    );
  }

  /** An event that cannot be decrypted or parsed is given up at once, so that later events are sent. */
  async function readable(
    receiver: Receiver,
    events: readonly StoredEvent[],
  ): Promise<(JobEvent | WatchEvent)[]> {
    const read: (JobEvent | WatchEvent)[] = [];
    for (const event of events) {
      try {
        read.push(readStoredEvent(event));
      } catch (error) {
        await outbox.failed(event.idEvent, reasonOf(error), null);
        logger.warn('the event will not be delivered', {
          kind: receiver.kind,
          event: event.idEvent,
          reason: reasonOf(error),
        });
      }
    }
    return read;
  }

  return {
    start: () => {
      loops ??= Promise.all(options.receivers.map(loop));
    },
    stop: async () => {
      stopping.abort();
      await loops;
    },
  };
}

/** Groups events so that a job's start is delivered before its end. */
function byJob(events: readonly (JobEvent | WatchEvent)[]): (JobEvent | WatchEvent)[][] {
  return [...Map.groupBy(events, subjectOf).values()];
}

function subjectOf(event: JobEvent | WatchEvent): string {
  return isJobEvent(event) ? `job ${event.job.id_job}` : `watch ${event.subject.id_watch}`;
}

async function deliver(
  options: DeliveryOptions,
  receiver: Receiver,
  event: JobEvent | WatchEvent,
  stopping: AbortSignal,
): Promise<void> {
  const { outbox, logger } = options;
  const { idEvent, attempt } = event;
  const subject = isJobEvent(event) ? { job: event.job.id_job } : { watch: event.subject.id_watch };
  const fields = { kind: receiver.kind, event: idEvent, ...subject, attempt };
  let outcome: Outcome;
  try {
    outcome = await send(options, receiver, event, stopping);
  } catch (error) {
    if (stopping.aborted) return;
    outcome = { failure: reasonOf(error), final: false, afterMs: 0 };
  }
  if (outcome === 'taken') {
    await outbox.delivered(idEvent);
    logger.info('event delivered', fields);
    return;
  }
  const { failure, final, afterMs } = outcome;
  const dead = final || attempt >= options.maxAttempts;
  await outbox.failed(
    idEvent,
    failure,
    dead ? null : Math.max(afterMs, retryPauseMs(attempt, options.retryMs)),
  );
  logger.warn(dead ? 'the event will not be delivered' : 'event not delivered', {
    ...fields,
    reason: failure,
  });
}

type Outcome = 'taken' | { readonly failure: string; readonly final: boolean; readonly afterMs: number };

async function send(
  { guard, http }: DeliveryOptions,
  { url, render }: Receiver,
  event: JobEvent | WatchEvent,
  stopping: AbortSignal,
): Promise<Outcome> {
  const { headers, body } = await render(event);
  const checked = await guard.checkUrl(url);
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
  const bytes = new TextEncoder().encode(body);
  const answer = await http.send(checked, {
    method: 'POST',
    url,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(bytes.byteLength),
      'User-Agent': 'conversion-job-service',
      ...headers,
    },
    body: bytes,
    idleTimeoutMs: timeoutMs,
    signal,
  });
  await answer.body?.cancel();
  if (answer.ok) return 'taken';
  // Gone: the receiver says that it wants no more of them
  return {
    failure: `answered ${answer.status}`,
    final: answer.status === 410,
    afterMs: retryAfterMs(answer),
  };
}

/** Adds a random delay, so that a receiver that was away does not get everything at once. */
function retryPauseMs(attempt: number, firstMs: number): number {
  return Math.min(firstMs * 4 ** (attempt - 1), longestPauseMs) * (1 + Math.random() / 10);
}

/** Parses the header in its form of seconds. */
function retryAfterMs(answer: Response): number {
  const seconds = /^\d{1,6}$/.exec(answer.headers.get('Retry-After') ?? '')?.[0];
  return seconds === undefined ? 0 : Math.min(Number(seconds) * 1000, longestPauseMs);
}

/** Codes and our own words: messages of libraries may hold the address. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  // clients say it in their own way that the signal of the time limit broke the request off
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  if (isLate || code === 'ABORT_ERR') return 'no answer in time';
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown fault';
}

// The body of a webhook: about an ended job, a watch that stalls, or a file that was kept aside.

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

// Signatures of webhooks, as Standard Webhooks 1.0.0 has them: HMAC-SHA256 over id, time and body.

const prefix = 'whsec_';

/** Returns null if the text is not a secret: `whsec_` and the base64 of 24 to 64 bytes. */
export function decodeWebhookSecret(text: string): Uint8Array<ArrayBuffer> | null {
  const base64 = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return bytes.byteLength >= 24 && bytes.byteLength <= 64 ? bytes : null;
}

/** Returns the headers that authenticate the sender of a body, and its time. */
export async function signedHeaders(
  secret: Uint8Array<ArrayBuffer>,
  id: string,
  epochMs: number,
  body: string,
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(epochMs / 1000));
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ]);
  const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${seconds}.${body}`));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signed)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${base64}` };
}

// Zod shapes of the outbox and of sent events: an invalid event is given up alone, and does not hold up any other.

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
type WatchEvent = Omit<StoredEvent, 'job' | 'moment'> &
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
type WebhookJobType = (typeof jobTypes)[number];
type WebhookEvent = { readonly timestamp: string } & (
  | { readonly type: WebhookJobType; readonly data: WireRecord }
  | { readonly type: 'watch.stalled'; readonly data: z.infer<typeof watchRecord> }
  | { readonly type: 'file.rejected'; readonly data: z.infer<typeof rejectedFile> }
);

function webhookJson(event: WebhookEvent): string {
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
