/** Jobs and their logs: /v2/executions. */
import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../errors.ts';
import { removeJob } from '../../service/jobs/retention.ts';
import { killJob } from '../../service/jobs/submit.ts';
import { withStatusLetter, statusLetters } from '../../service/jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { ListPosition } from '../../ports/stores/jobs.ts';
import type { Guards } from '../auth.ts';
import type { Followers } from '../middleware.ts';
import { ExecutionsResponse, Job, jobFilter, jobListQuery, JobLog, jobPageQuery } from './job-shapes.ts';
import { acceptedType, createGroup, json, operation, problems, removed } from '../operation.ts';
import {
  defaultPageSize,
  mapPage,
  pageParam,
  sizeQuery,
  cursorPage,
  linkedPage,
  linkHeader,
  int64,
  byteCount,
  int32,
} from '../paging.ts';
import type { Context } from 'hono';
import { followJobLog, readJobLog, streamJobLog, type LogEvent } from '../../service/jobs/log.ts';
import { connectionOf, type AppEnv } from '../env.ts';

const tags = ['executions'];
const workflowParam = z.object({ id: int64('The workflow.', 1) });
const jobParam = z.object({ id_job: int64('The job.') });

export function createExecutionRoutes(
  adapters: Pick<Adapters, 'jobs' | 'logs' | 'catalog'>,
  guards: Guards,
  followers: Followers,
) {
  const shared = sharedOf(adapters, guards, followers);
  return createGroup([
    removeOperation(shared),
    allOperation(shared),
    allPageOperation(shared),
    getOperation(shared),
    logOperation(shared),
    killOperation(shared),
    ofWorkflowOperation(shared),
    ofWorkflowPageOperation(shared),
  ]);
}

/** Returns the dependencies that the operations of this group share. */
function sharedOf(
  adapters: Pick<Adapters, 'jobs' | 'logs' | 'catalog'>,
  guards: Guards,
  followers: Followers,
) {
  const guard = guards.require('jobs:read');
  const killGuard = guards.require('jobs:run');

  /** A page of the jobs of an organisation that meet the conditions of a query. */
  async function listAll(
    idOrg: number,
    query: z.infer<typeof jobPageQuery>,
    page: number,
    size: number,
    position?: ListPosition,
  ) {
    const filter = await jobFilter(adapters.catalog, idOrg, query);
    const selection = { filter, ...(position === undefined ? {} : { position }) };
    return mapPage(await adapters.jobs.listJobs(idOrg, page, size, selection), withStatusLetter);
  }

  async function listOfWorkflow(idOrg: number, idWorkflow: number, page: number, size = defaultPageSize) {
    const found = await adapters.jobs.listWorkflowJobs(idOrg, idWorkflow, page, size);
    if (found === null) throw new AppError('not_found', 'there is no such workflow');
    return mapPage(found, withStatusLetter);
  }

  return { adapters, guards, followers, guard, killGuard, listAll, listOfWorkflow };
}

type Shared = ReturnType<typeof sharedOf>;

function allOperation({ guard, listAll }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/all',
      operationId: 'listExecutions',
      summary: 'List jobs, newest first: the first page',
      description:
        'Twenty records per page by default (`size`); the `Link` header leads to the next page, and shows each job once while others are submitted. The list includes jobs of tools that were run on the command line.',
      tags,
      ...guard,
      request: { query: jobListQuery('jobs') },
      responses: {
        200: { ...json(ExecutionsResponse, 'A page of jobs.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const query = c.req.valid('query');
      const { idOrg } = c.get('principal');
      return c.json(
        await cursorPage(
          c,
          'jobs',
          query,
          (job) => job.id_job,
          (page, size, position) => listAll(idOrg, query, page, size, position),
        ),
        200,
      );
    },
  );
}

function allPageOperation({ guard, listAll }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/all/{page}',
      operationId: 'listExecutionsPage',
      summary: 'List jobs, newest first: one page',
      description:
        'Pages count from 0. A job that is submitted between two calls moves the others down by one; cursors, which the first page links to, show each job once.',
      tags,
      ...guard,
      request: { params: pageParam, query: jobPageQuery },
      responses: {
        200: { ...json(ExecutionsResponse, 'A page of jobs, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const query = c.req.valid('query');
      const { page } = c.req.valid('param');
      const found = await listAll(c.get('principal').idOrg, query, page, query.size ?? defaultPageSize);
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );
}

function getOperation({ adapters, guard }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/get/{id}',
      operationId: 'getExecution',
      summary: 'Get one job',
      description:
        'Its state, progress and, once it has ended, its result. To wait for the end, follow the log, or submit with `Prefer: wait=N`.',
      tags,
      ...guard,
      request: { params: z.object({ id: int64('The job.') }) },
      responses: { 200: json(Job, 'The job record.'), ...problems(400) },
    }),
    async (c) => {
      const job = await adapters.jobs.findJob(c.get('principal').idOrg, c.req.valid('param').id);
      if (job === null) throw new AppError('not_found', 'there is no such job');
      return c.json(withStatusLetter(job), 200);
    },
  );
}

function logOperation({ adapters, followers, guard }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/log/{id_job}',
      operationId: 'getExecutionLog',
      summary: "Read or follow a job's log",
      description:
        'By `Accept`: JSON (default) with one part of the log; `text/plain` with its raw bytes; `text/event-stream`, which follows ' +
        'the log: each event is a piece of it (the pieces, put together, are the log), its `id` the byte offset behind it, and a ' +
        'last event `end` carries the status.',
      tags,
      ...guard,
      request: { params: jobParam, query: jobLogQuery, headers: jobLogHeaders },
      responses: { ...jobLogResponses, ...problems(400) },
    }),
    async (c) =>
      await jobLogHandler({ ...adapters, followers }, c, {
        idOrg: c.get('principal').idOrg,
        idJob: c.req.valid('param').id_job,
        ...c.req.valid('query'),
        lastEventId: c.req.valid('header')['last-event-id'],
      }),
  );
}

function killOperation({ adapters, killGuard }: Shared) {
  return operation(
    createRoute({
      method: 'post',
      path: '/v2/executions/kill/{id_job}',
      operationId: 'killExecution',
      summary: 'Kill a job',
      description: 'Idempotent: a job that has ended stays as it is.',
      tags,
      ...killGuard,
      request: { params: jobParam },
      responses: {
        202: json(Job, 'The job record after the request.'),
        ...problems(400),
      },
    }),
    async (c) => {
      const job = await killJob(adapters, c.get('principal'), c.req.valid('param').id_job);
      return c.json(withStatusLetter(job), 202);
    },
  );
}

function ofWorkflowOperation({ guard, listOfWorkflow }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/{id}',
      operationId: 'listWorkflowExecutions',
      summary: 'List the jobs of a workflow in their order: the first page',
      description:
        'The executions of one request in the order in which they run; a job that waits for a failed one before it is never run.',
      tags,
      ...guard,
      request: { params: workflowParam, query: sizeQuery },
      responses: {
        200: { ...json(ExecutionsResponse, 'A page of jobs.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = await listOfWorkflow(c.get('principal').idOrg, id, 0, c.req.valid('query').size);
      return c.json(linkedPage(c, 'further step', found), 200);
    },
  );
}

function ofWorkflowPageOperation({ guard, listOfWorkflow }: Shared) {
  return operation(
    createRoute({
      method: 'get',
      path: '/v2/executions/{id}/{page}',
      operationId: 'listWorkflowExecutionsPage',
      summary: 'List the jobs of a workflow in their order: one page',
      description: 'Pages count from 0; the order is that in which the jobs run.',
      tags,
      ...guard,
      request: { params: workflowParam.extend(pageParam.shape), query: sizeQuery },
      responses: {
        200: { ...json(ExecutionsResponse, 'A page of jobs, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const { id, page } = c.req.valid('param');
      const found = await listOfWorkflow(c.get('principal').idOrg, id, page, c.req.valid('query').size);
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );
}

function removeOperation({ adapters, guards }: Shared) {
  return operation(
    createRoute({
      method: 'delete',
      path: '/v2/executions/{id}',
      operationId: 'removeExecution',
      summary: 'Remove the record and the log of an ended job',
      description: 'Refused while a job of the same workflow has not ended.',
      tags,
      ...guards.require('jobs:run'),
      request: { params: z.object({ id: int64('The job.') }) },
      responses: { ...removed, ...problems(400, 409) },
    }),
    async (c) => {
      await removeJob(adapters, c.get('principal').idOrg, c.req.valid('param').id);
      return c.body(null, 204);
    },
  );
}

// A job's log in its three media types (docs/decisions/service/job-queue.md).

const pollMs = 250;
/** a comment now and then keeps proxies from closing a quiet connection */
const keepAliveMs = 15_000;

const jobLogQuery = z.object({
  offset: byteCount('Number of bytes to skip at the beginning.').optional(),
  limit: byteCount('Maximum number of bytes.', 65536).optional(),
  tail: int32('Number of last lines to return instead.', 100).optional(),
});

const jobLogHeaders = z.object({
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

const jobLogResponses = {
  200: {
    description: 'The log, or a part of it.',
    content: contents,
    headers: {
      'X-Accel-Buffering': {
        description: 'Of an event stream: proxies do not hold it back.',
        schema: { type: 'string' as const },
        example: 'no',
      },
    },
  },
};

interface LogQuestion {
  readonly idOrg: number;
  readonly idJob: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly tail?: number;
  readonly lastEventId?: number;
}

type LogAdapters = Pick<Adapters, 'jobs' | 'logs'> & { readonly followers: Followers };

async function jobLogHandler(
  adapters: LogAdapters,
  c: Context<AppEnv>,
  question: LogQuestion,
): Promise<Response> {
  const type = acceptedType(c, ['application/json', 'text/plain', 'text/event-stream']);
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
