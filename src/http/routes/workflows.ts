/** Workflows: /v2/workflow. */
import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../errors.ts';
import { withStatusLetter } from '../../service/jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Guards } from '../auth.ts';
import { GetWorkflowNameResponse, Workflow, WorkflowsResponse } from './job-shapes.ts';
import { createGroup, json, operation, problems } from '../operation.ts';
import { defaultPageSize, mapPage, pageParam, sizeQuery, toWirePage, int64 } from '../paging.ts';
import { wire } from '../problem.ts';

const tags = ['workflows'];
const workflowParam = z.object({ id: int64('The workflow.', 4) });

export function createWorkflowRoutes(adapters: Pick<Adapters, 'jobs'>, guards: Guards) {
  const guard = guards.require('jobs:read');

  async function listedWorkflows(idOrg: number, page: number, size = defaultPageSize) {
    return wire(toWirePage(mapPage(await adapters.jobs.listWorkflows(idOrg, page, size), withStatusLetter)));
  }

  async function foundWorkflow(idOrg: number, idWorkflow: number) {
    const workflow = await adapters.jobs.findWorkflow(idOrg, idWorkflow);
    if (workflow === null) throw new AppError('not_found', 'there is no such workflow');
    return wire({ ...withStatusLetter(workflow), jobs: workflow.jobs.map(withStatusLetter) });
  }

  const all = operation(
    createRoute({
      method: 'get',
      path: '/v2/workflow/all',
      operationId: 'listWorkflows',
      summary: 'List workflows, newest first: the first page',
      description:
        'Each request to run commands is a workflow; its jobs are given by their ids. Page 0 of twenty a page.',
      tags,
      ...guard,
      request: { query: sizeQuery },
      responses: { 200: json(WorkflowsResponse, 'A page of workflows.'), ...problems(400) },
    }),
    async (c) => c.json(await listedWorkflows(c.get('principal').idOrg, 0, c.req.valid('query').size), 200),
  );

  const allPage = operation(
    createRoute({
      method: 'get',
      path: '/v2/workflow/all/{page}',
      operationId: 'listWorkflowsPage',
      summary: 'List workflows, newest first: one page',
      description: 'Pages count from 0; the newest workflow comes first.',
      tags,
      ...guard,
      request: { params: pageParam, query: sizeQuery },
      responses: {
        200: json(WorkflowsResponse, 'A page of workflows, empty past the end.'),
        ...problems(400),
      },
    }),
    async (c) =>
      c.json(
        await listedWorkflows(c.get('principal').idOrg, c.req.valid('param').page, c.req.valid('query').size),
        200,
      ),
  );

  const getName = operation(
    createRoute({
      method: 'get',
      path: '/v2/workflow/getName/{id}',
      operationId: 'readWorkflowName',
      summary: 'Get the name of a workflow',
      description: 'As the request gave it; where it gave none, the service made one.',
      tags,
      ...guard,
      request: { params: workflowParam },
      responses: { 200: json(GetWorkflowNameResponse, 'The name.'), ...problems(400) },
    }),
    async (c) => {
      const workflow = await foundWorkflow(c.get('principal').idOrg, c.req.valid('param').id);
      return c.json({ id: workflow.id_workflow, name: workflow.name }, 200);
    },
  );

  const get = operation(
    createRoute({
      method: 'get',
      path: '/v2/workflow/{id}',
      operationId: 'getWorkflow',
      summary: 'Get a workflow with its jobs',
      description:
        'Its state, how many of its jobs have completed or failed, and the records of all of them.',
      tags,
      ...guard,
      request: { params: workflowParam },
      responses: { 200: json(Workflow, 'The workflow.'), ...problems(400) },
    }),
    async (c) => c.json(await foundWorkflow(c.get('principal').idOrg, c.req.valid('param').id), 200),
  );

  return createGroup([all, allPage, getName, get]);
}
