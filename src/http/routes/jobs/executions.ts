/** Jobs and their logs: /v2/executions. */
import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../../errors.ts';
import { removeJob } from '../../../jobs/remove.ts';
import { killJob } from '../../../jobs/kill.ts';
import { withStatusLetter } from '../../../jobs/status-letters.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Guards } from '../../middleware/auth.ts';
import type { Followers } from '../../middleware/followers.ts';
import { jobLogHandler, jobLogHeaders, jobLogQuery, jobLogResponses } from './log.ts';
import { ExecutionsResponse, Job } from '../../schemas/jobs.ts';
import { createGroup, json, operation, problems, removed } from '../../requests/operation.ts';
import { defaultPageSize, mapPage, pageParam, sizeQuery, toWirePage } from '../../requests/paging.ts';
import { int64 } from '../../requests/parameters.ts';
import { wire } from '../../answers/wire.ts';

const tags = ['executions'];
const workflowParam = z.object({ id: int64('The workflow.', 4) });
const jobParam = z.object({ id_job: int64('The job.') });

export function createExecutionRoutes(
  adapters: Pick<Adapters, 'jobs' | 'files'>,
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
function sharedOf(adapters: Pick<Adapters, 'jobs' | 'files'>, guards: Guards, followers: Followers) {
  const guard = guards.require('jobs:read');
  const killGuard = guards.require('jobs:run');

  async function listAll(idOrg: number, page: number, size = defaultPageSize) {
    return wire(toWirePage(mapPage(await adapters.jobs.listJobs(idOrg, page, size), withStatusLetter)));
  }

  async function listOfWorkflow(idOrg: number, idWorkflow: number, page: number, size = defaultPageSize) {
    const found = await adapters.jobs.listWorkflowJobs(idOrg, idWorkflow, page, size);
    if (found === null) throw new AppError('not_found', 'there is no such workflow');
    return wire(toWirePage(mapPage(found, withStatusLetter)));
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
        'Twenty records a page, page 0; `/v2/executions/all/{page}` has the others. Jobs that tools run by hand are among them.',
      tags,
      ...guard,
      request: { query: sizeQuery },
      responses: { 200: json(ExecutionsResponse, 'A page of jobs.'), ...problems(400) },
    }),
    async (c) => c.json(await listAll(c.get('principal').idOrg, 0, c.req.valid('query').size), 200),
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
        'Pages count from 0. A job that is submitted between two calls moves the others down by one: what must see each once goes by `id_job`.',
      tags,
      ...guard,
      request: { params: pageParam, query: sizeQuery },
      responses: { 200: json(ExecutionsResponse, 'A page of jobs, empty past the end.'), ...problems(400) },
    }),
    async (c) =>
      c.json(
        await listAll(c.get('principal').idOrg, c.req.valid('param').page, c.req.valid('query').size),
        200,
      ),
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
        'Its state, progress and, once it has ended, what came of it. To wait for the end, follow the log, or submit with `Prefer: wait=N`.',
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
      summary: 'Ask for the end of a job',
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
      responses: { 200: json(ExecutionsResponse, 'A page of jobs.'), ...problems(400) },
    }),
    async (c) =>
      c.json(
        await listOfWorkflow(c.get('principal').idOrg, c.req.valid('param').id, 0, c.req.valid('query').size),
        200,
      ),
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
      responses: { 200: json(ExecutionsResponse, 'A page of jobs, empty past the end.'), ...problems(400) },
    }),
    async (c) => {
      const { id, page } = c.req.valid('param');
      return c.json(await listOfWorkflow(c.get('principal').idOrg, id, page, c.req.valid('query').size), 200);
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
