/** Workflows: /v2/workflow. */
import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../errors.ts';
import { withStatusLetter } from '../../service/jobs/record.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { ListPosition } from '../../ports/stores/jobs.ts';
import type { Guards } from '../auth.ts';
import {
  GetWorkflowNameResponse,
  jobFilter,
  jobListQuery,
  jobPageQuery,
  Workflow,
  WorkflowsResponse,
} from './job-shapes.ts';
import { createGroup, json, operation, problems } from '../operation.ts';
import { cursorPage, defaultPageSize, int64, linkedPage, linkHeader, mapPage, pageParam } from '../paging.ts';
import { wire } from '../problem.ts';

const tags = ['workflows'];
const workflowParam = z.object({ id: int64('The workflow.', 1) });

export function createWorkflowRoutes(adapters: Pick<Adapters, 'jobs' | 'catalog'>, guards: Guards) {
  const guard = guards.require('jobs:read');

  /** A page of the workflows of an organisation that meet the conditions of a query. */
  async function listedWorkflows(
    idOrg: number,
    query: z.infer<typeof jobPageQuery>,
    page: number,
    size: number,
    position?: ListPosition,
  ) {
    const filter = await jobFilter(adapters.catalog, idOrg, query);
    const selection = { filter, ...(position === undefined ? {} : { position }) };
    return wire(mapPage(await adapters.jobs.listWorkflows(idOrg, page, size, selection), withStatusLetter));
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
        'Each request to run commands is a workflow; its jobs are given by their ids. `job_type` and `cfxml` select workflows with such a job. The `Link` header leads to the next page, and shows each workflow once while others are added.',
      tags,
      ...guard,
      request: { query: jobListQuery('workflows') },
      responses: {
        200: { ...json(WorkflowsResponse, 'A page of workflows.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const query = c.req.valid('query');
      const { idOrg } = c.get('principal');
      return c.json(
        await cursorPage(
          c,
          'workflows',
          query,
          (workflow) => workflow.id_workflow,
          (page, size, position) => listedWorkflows(idOrg, query, page, size, position),
        ),
        200,
      );
    },
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
      request: { params: pageParam, query: jobPageQuery },
      responses: {
        200: { ...json(WorkflowsResponse, 'A page of workflows, empty past the end.'), headers: linkHeader },
        ...problems(400),
      },
    }),
    async (c) => {
      const query = c.req.valid('query');
      const { page } = c.req.valid('param');
      const found = await listedWorkflows(
        c.get('principal').idOrg,
        query,
        page,
        query.size ?? defaultPageSize,
      );
      return c.json(linkedPage(c, 'step', found), 200);
    },
  );

  const getName = operation(
    createRoute({
      method: 'get',
      path: '/v2/workflow/getName/{id}',
      operationId: 'readWorkflowName',
      summary: 'Get the name of a workflow',
      description: 'The name from the request, or a name made by the service if the request had none.',
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
      description: 'Its state, the numbers of completed and failed jobs, and the records of all jobs.',
      tags,
      ...guard,
      request: { params: workflowParam },
      responses: { 200: json(Workflow, 'The workflow.'), ...problems(400) },
    }),
    async (c) => c.json(await foundWorkflow(c.get('principal').idOrg, c.req.valid('param').id), 200),
  );

  return createGroup([all, allPage, getName, get]);
}
