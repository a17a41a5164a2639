/** Delivers the events of the outbox: again and again, at longer and longer intervals, until they are accepted or given up. */
import type { OutgoingGuard } from '../access/outgoing-guard.ts';
import { AppError } from '../errors.ts';
import { pause } from '../jobs/worker/waiting.ts';
import type { EventKind, EventOutbox, StoredEvent } from '../ports/stores/event-outbox.ts';
import type { Logger } from '../ports/logger.ts';
import type { OutgoingHttp } from '../ports/network/outgoing.ts';
import { createTurnShares } from '../watches/scheduler/shares.ts';
import { isJobEvent, readStoredEvent, type JobEvent, type WatchEvent } from './shapes.ts';

/** A receiver of events of one kind, and the form of its requests. */
export interface Receiver {
  readonly kind: EventKind;
  /** may hold secrets in its path and query: only its host is ever shown */
  readonly url: URL;
  render(
    event: JobEvent | WatchEvent,
  ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }>;
}

export interface DeliveryOptions {
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

export interface EventDelivery {
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
        logger.warn('event given up', {
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
  logger.warn(dead ? 'event given up' : 'event not delivered', { ...fields, reason: failure });
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
