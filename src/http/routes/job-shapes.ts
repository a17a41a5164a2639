/** Jobs and workflows as they go over the wire (docs/decisions/service/job-queue.md). */
import { demoFiles } from '../openapi/demo-files.ts';
import { z } from '@hono/zod-openapi';
import { cursorParam, epochMs as epochMsParam, pageOf, sizeQuery } from '../paging.ts';
import type { CatalogStore } from '../../ports/stores/catalog.ts';
import type { JobFilter } from '../../ports/stores/jobs.ts';
import { originsOfFeed } from '../../service/catalog/run-feed.ts';
import { statusLetters, withStatusName } from '../../service/jobs/record.ts';

const epochMs = z.int().openapi({ format: 'int64' });
const id = z.int().openapi({ format: 'int64' });

const statusMeaning =
  'Q queued, R running, W waiting for its next attempt, T terminating, C completed, F failed, K killed, E expired, L lost.';
export const JobStatus = z.enum(['Q', 'R', 'W', 'T', 'C', 'F', 'K', 'E', 'L']).openapi('JobStatus', {
  description: statusMeaning,
  example: 'C',
});

const jobTypes = ['Schema', 'Parse', 'Write', 'Unload', 'Export', 'Import'] as const;

const conditions = sizeQuery.extend({
  status: z
    .enum(Object.values(statusLetters))
    .optional()
    .openapi({ description: `Only records with this state: ${statusMeaning}`, example: 'F' }),
  job_type: z.enum(jobTypes).optional().openapi({ description: 'Only jobs of this type.', example: 'Parse' }),
  cfxml: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .openapi({ description: 'Only jobs of this feed: of a schema family, by its name.', example: 'orders' }),
  since: epochMsParam('Only records submitted at this time or later.').optional(),
  until: epochMsParam('Only records submitted before this time.').optional(),
});

const isOrdered = ({ since, until }: { readonly since?: number; readonly until?: number }): boolean =>
  since === undefined || until === undefined || since <= until;
const unordered = { path: ['until'], error: 'must not be before since' };

/** Query parameters of a page of a list of jobs or workflows. */
export const jobPageQuery = conditions.refine(isOrdered, unordered);

/** Query parameters of a list of jobs or workflows that cursors continue. */
export function jobListQuery(list: 'jobs' | 'workflows' | 'runs') {
  return conditions.extend({ cursor: cursorParam(list) }).refine(isOrdered, unordered);
}

/** Returns the conditions of a query on the jobs of a list; an unknown feed has no jobs. */
export async function jobFilter(
  catalog: CatalogStore,
  idOrg: number,
  { status, job_type: jobType, cfxml, since, until }: z.infer<typeof jobPageQuery>,
): Promise<JobFilter> {
  return {
    ...(status === undefined ? {} : { status: withStatusName({ status }).status }),
    ...(jobType === undefined ? {} : { jobType }),
    ...(cfxml === undefined ? {} : { idSchs: await originsOfFeed(catalog, idOrg, cfxml) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

export const exampleJob = {
  id_job: 7,
  id_parent_job: null,
  id_org: 1,
  id_sch: 11,
  id_lschma: 4,
  id_app: 'local-1790000000306',
  job_type: 'Parse' as const,
  status: 'C' as const,
  params: `${demoFiles.document} -g 3`,
  params_json: `{"spark":{"master":"local[*]"},"action":{"in":"${demoFiles.document}","map":3}}`,
  host: 'etl-1/10.0.0.5',
  os_user: 'svc',
  base_path: '/',
  parm_path_input: demoFiles.document,
  parm_path_output: null,
  msg_proc_qty: 1,
  log_file: 'logs/job-7.log',
  start_date: 1790000000996,
  end_date: 1790000001301,
  id_workflow: 4,
  attempt: 1,
  progress: 1,
  failure: null,
};

export const Job = z
  .object({
    id_job: id,
    id_parent_job: id.nullable(),
    id_org: id,
    id_sch: id.nullable(),
    id_lschma: id.nullable(),
    id_app: z.string().nullable(),
    job_type: z.enum(jobTypes),
    status: JobStatus,
    params: z.string().openapi({
      description: 'The given options as a command line, without the name of the tool; secrets are `***`.',
    }),
    params_json: z.string().openapi({
      description:
        'The same as JSON: settings of the engine under `spark`, options by their long names under `action`, `in` and `out` ' +
        'among them; only given options. For a job that has ended, `result` is the summary of its tool, as `--json` ' +
        'prints it: the schema chosen and why, documents, rows by table, rejected and unmapped content, and `steps` ' +
        'with the seconds and CPU seconds of each; for a failed job, the known part. It is absent if the tool left none, for example ' +
        'when it was killed.',
    }),
    host: z.string().nullable(),
    os_user: z.string().nullable(),
    base_path: z.string().nullable(),
    parm_path_input: z.string().nullable(),
    parm_path_output: z.string().nullable(),
    msg_proc_qty: z.int().openapi({ format: 'int64' }),
    log_file: z.string().nullable(),
    start_date: epochMs.nullable(),
    end_date: epochMs.nullable(),
    id_workflow: id,
    attempt: z.int(),
    progress: z.number().min(0).max(1).nullable(),
    failure: z.string().nullable(),
    id_watch: id.optional(),
    trace_id: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional(),
  })
  .openapi('Job', {
    description: 'A job record; times are epoch milliseconds, secrets are masked.',
    example: exampleJob,
  });

export const ExecutionsResponse = pageOf(Job).openapi('ExecutionsResponse', {
  example: { content: [exampleJob], page: 0, size: 20, total_elements: 1, total_pages: 1 },
});

export const JobLog = z
  .object({
    id_job: id,
    status: JobStatus,
    offset: id,
    next_offset: id,
    total_size: id,
    completed: z.boolean(),
    log: z.string(),
  })
  .openapi('JobLog', {
    description:
      "A part of a job's log. `offset` and `next_offset` are bytes; `completed`: the job has ended and its log is final.",
    example: {
      id_job: 7,
      status: 'C',
      offset: 0,
      next_offset: 21,
      total_size: 21,
      completed: true,
      log: 'documents: 1 read ok\n',
    },
  });

const workflowMembers = {
  id_workflow: id,
  name: z.string(),
  status: JobStatus,
  start_date: epochMs.nullable(),
  end_date: epochMs.nullable(),
  job_count: z.int(),
  completed_count: z.int(),
  failed_count: z.int(),
};

const exampleWorkflow = {
  id_workflow: 4,
  name: 'donuts',
  status: 'C' as const,
  start_date: 1790000000996,
  end_date: 1790000001301,
  job_count: 1,
  completed_count: 1,
  failed_count: 0,
};

export const Workflow = z.object({ ...workflowMembers, jobs: z.array(Job) }).openapi('Workflow', {
  example: { ...exampleWorkflow, jobs: [exampleJob] },
});

const WorkflowShort = z.object({ ...workflowMembers, jobs: z.array(id) }).openapi('WorkflowShort', {
  description: 'A workflow in a list, with the ids of its jobs.',
  example: { ...exampleWorkflow, jobs: [7] },
});

export const WorkflowsResponse = pageOf(WorkflowShort).openapi('WorkflowsResponse', {
  example: {
    content: [{ ...exampleWorkflow, jobs: [7] }],
    page: 0,
    size: 20,
    total_elements: 1,
    total_pages: 1,
  },
});

export const GetWorkflowNameResponse = z.object({ id, name: z.string() }).openapi('GetWorkflowNameResponse', {
  example: { id: 4, name: 'donuts' },
});
