/** A job's log in its three media types (docs/decisions/service/job-queue.md). */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { followJobLog, readJobLog, streamJobLog } from '../../../jobs/log.ts';
import type { LogEvent } from '../../../jobs/log.ts';
import { statusLetters } from '../../../jobs/status-letters.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import { negotiate } from '../../answers/accept.ts';
import { connectionOf, type AppEnv } from '../../env.ts';
import type { Followers } from '../../middleware/followers.ts';
import { JobLog } from '../../schemas/jobs.ts';
import { byteCount, int32 } from '../../requests/parameters.ts';

const pollMs = 250;
/** a comment now and then keeps proxies from closing a quiet connection */
const keepAliveMs = 15_000;

export const jobLogQuery = z.object({
  offset: byteCount('Bytes to leave out at the front.').optional(),
  limit: byteCount('At most so many bytes.', 65536).optional(),
  tail: int32('The last lines instead.', 100).optional(),
});

export const jobLogHeaders = z.object({
  'last-event-id': byteCount('Byte offset at which an event stream resumes; wins over `offset`.').optional(),
});

const contents: Record<string, { schema: z.ZodType }> = {
  'application/json': { schema: JobLog },
  'text/plain': {
    schema: z.string().openapi({ description: 'The raw bytes.', example: 'documents: 1 read ok\n' }),
  },
  'text/event-stream': {
    schema: z.string().openapi({
      description: 'Server-sent events.',
      example:
        'id: 21\ndata: documents: 1 read ok\ndata: \n\nid: 21\nevent: end\ndata: {"id_job":7,"status":"C"}\n\n',
    }),
  },
};

export const jobLogResponses = { 200: { description: 'The log, or a part of it.', content: contents } };

export interface LogQuestion {
  readonly idOrg: number;
  readonly idJob: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly tail?: number;
  readonly lastEventId?: number;
}

type LogAdapters = Pick<Adapters, 'jobs' | 'files'> & { readonly followers: Followers };

export async function jobLogHandler(
  adapters: LogAdapters,
  c: Context<AppEnv>,
  question: LogQuestion,
): Promise<Response> {
  const type = negotiate(c.req.header('Accept'), ['application/json', 'text/plain', 'text/event-stream']);
  c.header('Vary', 'Accept');
  if (type === 'text/plain') return await asText(adapters, c, question);
  if (type === 'text/event-stream') return await asEvents(adapters, c, question);
  const slice = await readJobLog(adapters, question.idOrg, question.idJob, question);
  return c.json(
    {
      id_job: question.idJob,
      status: statusLetters[slice.status],
      offset: slice.offset,
      next_offset: slice.nextOffset,
      total_size: slice.totalSize,
      completed: slice.completed,
      log: new TextDecoder('utf-8', { ignoreBOM: true }).decode(slice.bytes),
    },
    200,
  );
}

async function asText(adapters: LogAdapters, c: Context<AppEnv>, question: LogQuestion): Promise<Response> {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  if (question.tail !== undefined) {
    const { bytes } = await readJobLog(adapters, question.idOrg, question.idJob, question);
    return c.body(new Uint8Array(bytes), 200, headers);
  }
  const pieces = streamJobLog(adapters, question.idOrg, question.idJob, question, c.get('mayGoOn'));
  // Requested before the answer starts: a missing job is 404, not a broken body.
  const first = await pieces.next();
  if (first.done) return c.body('', 200, headers);
  return c.body(toStream(pieces, first.value), 200, headers);
}

async function asEvents(adapters: LogAdapters, c: Context<AppEnv>, question: LogQuestion): Promise<Response> {
  const { idOrg, idJob } = question;
  const range = question.lastEventId === undefined ? question : { offset: question.lastEventId };
  const { offset } = await readJobLog(adapters, idOrg, idJob, { ...range, limit: 0 });
  const headers = {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);

  const leave = adapters.followers.enter(c.get('principal'));
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, c.req.raw.signal]);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave);
  connectionOf(c)?.followedUntil(() => ending.abort());
  const events = followJobLog(adapters, idOrg, idJob, {
    offset,
    pollMs,
    signal,
    mayGoOn: c.get('mayGoOn'),
  });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await nextOrQuiet(events, waiting).catch((error: unknown) => {
          leave();
          throw error;
        });
        waiting = next.waiting;
        if (next.event === null) controller.enqueue(encoder.encode(': \n\n'));
        else if (next.event.done) {
          leave();
          controller.close();
        } else controller.enqueue(encoder.encode(formatEvent(idJob, next.event.value)));
      },
      cancel() {
        ending.abort();
      },
    },
    { highWaterMark: 0 },
  );
  let waiting: Promise<IteratorResult<LogEvent, void>> | null = null;
  return c.body(body, 200, headers);
}

/** The next event, or null after a while without one; the question that is still open is handed on. */
async function nextOrQuiet(
  events: AsyncGenerator<LogEvent, void, undefined>,
  open: Promise<IteratorResult<LogEvent, void>> | null,
): Promise<{
  readonly event: IteratorResult<LogEvent, void> | null;
  readonly waiting: Promise<IteratorResult<LogEvent, void>> | null;
}> {
  const waiting = open ?? events.next();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const quiet = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), keepAliveMs);
  });
  try {
    const event = await Promise.race([waiting, quiet]);
    return { event, waiting: event === null ? waiting : null };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Formats one `data:` line for each line of the piece, and an empty last one if it ends a line: joined by line ends, they are the
 * piece.
 */
function formatEvent(idJob: number, event: LogEvent): string {
  if (event.kind === 'end') {
    return `id: ${event.offset}\nevent: end\ndata: ${JSON.stringify({ id_job: idJob, status: statusLetters[event.status] })}\n\n`;
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(event.bytes);
  const lines = text.split(/\r\n|[\r\n]/).map((line) => `data: ${line}\n`);
  return `id: ${event.nextOffset}\n${lines.join('')}\n`;
}

function toStream(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  first: Uint8Array,
): ReadableStream<Uint8Array> {
  let pending: Uint8Array | null = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending !== null) {
          controller.enqueue(pending);
          pending = null;
          return;
        }
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
}
