/** Running commands, /v2/run: the shapes of requests and answers, with examples, and the routes (docs/decisions/service/workflows.md). */
import { z, createRoute } from '@hono/zod-openapi';
import { displayName, int64 } from '../paging.ts';
import { JobStatus } from './job-shapes.ts';
import { toolOptions } from '../../service/jobs/option-table.ts';
import { tools, type Tool } from '../../service/jobs/request/tools.ts';
import type { Context, MiddlewareHandler } from 'hono';
import { sha256Hex } from '../../service/access/keys.ts';
import type { Config } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import {
  rerunJob,
  requireCommands,
  submitCommands,
  type Caller,
  waitForJobs,
} from '../../service/jobs/submit.ts';
import type {
  ExecutionRequest,
  RunCmdResponse as RunAnswer,
} from '../../service/jobs/request/execution-request.ts';
import { statusLetters, type StatusLetter } from '../../service/jobs/record.ts';
import { formatTraceparent } from '../../service/jobs/trace-context.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Guards } from '../auth.ts';
import { connectionOf, type AppEnv } from '../env.ts';
import type { Followers } from '../middleware.ts';
import { idempotencyKeyHeader, replayedHeader, setReplayed } from '../idempotency.ts';
import { bodyText, jsonBody } from '../json-body.ts';
import {
  createGroup,
  effectfulGet,
  json,
  notSent,
  operation,
  problems,
  longestWait,
  preferredWait,
} from '../operation.ts';
import { demoFiles } from '../openapi/demo-files.ts';
import { wire } from '../problem.ts';

// Examples beside `POST /v2/run/cmd`. Readers replace their paths and ids.

interface Recipe {
  readonly summary: string;
  readonly description: string;
  readonly value: { readonly name: string; readonly executions: readonly object[] };
}

const file = (path: string) => ({ command: path, enabled: true });
const option = (command: string, value?: string) => ({
  command,
  enabled: true,
  ...(value === undefined ? {} : { value }),
});

export const recipes: Readonly<Record<string, Recipe>> = {
  infer: {
    summary: 'Documents only: the tables are inferred from them',
    description:
      'The schema is inferred in one pass and the rows are loaded in the next, into a SQL schema of the metadata database.',
    value: {
      name: 'orders',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file(demoFiles.documents) },
          target: { path: option('-o', 'metadb:orders') },
        },
      ],
    },
  },
  xsdFirst: {
    summary: 'An XSD set first, then its documents',
    description:
      '`$0` is the schema that execution 0 of the same request makes: the tables are those of the standard, whatever the documents contain.',
    value: {
      name: 'orders of an XSD set',
      executions: [
        {
          app_name: 'xsd2er',
          source: { file: file(demoFiles.xsd) },
          target: { generation: [option('-g', '3')] },
        },
        {
          app_name: 'xml2er',
          source: { file: file(demoFiles.documents), origin_id: option('-x', '$0') },
          target: { path: option('-o', 'metadb:orders') },
        },
      ],
    },
  },
  parquet: {
    summary: 'Parquet files for a warehouse',
    description:
      'A folder below the files of the organisation: a file for each table, a manifest, and scripts that load them.',
    value: {
      name: 'orders as Parquet',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file(demoFiles.documents), origin_id: option('-x', '1') },
          target: { path: option('-o', 'out/orders'), format: [option('-f', 'parquet')] },
        },
      ],
    },
  },
  evolve: {
    summary: 'The next version of a standard',
    description:
      '`--parent` keeps the names of tables and columns, and new columns are added to the target of the earlier version.',
    value: {
      name: 'orders, version 2',
      executions: [
        {
          app_name: 'xsd2er',
          source: { file: file(demoFiles.xsd) },
          target: { generation: [option('--parent', '1')] },
        },
        {
          app_name: 'xml2er',
          source: { file: file(demoFiles.documents), origin_id: option('-x', '$0') },
          target: { path: option('-o', 'metadb:orders') },
        },
      ],
    },
  },
  spark: {
    summary: 'A large load on Spark',
    description:
      'Executors read and convert, one machine publishes. The operator has set `svc.spark.submit`; row elements of a large file are documents.',
    value: {
      name: 'a year of orders',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file(`${demoFiles.documents}/*.xml`), origin_id: option('-x', '1') },
          target: {
            path: option('-o', 'metadb:orders'),
            generation: [
              option('--engine', 'spark'),
              option('--row-tag', 'order'),
              option('--keys', 'hash'),
              option('--spark-conf', 'spark.executor.memory=4g'),
            ],
          },
        },
      ],
    },
  },
};

// The shapes of bodies.

const enabled = z
  .union([z.boolean(), z.enum(['true', 'false'])], { error: 'must be true, false, "true" or "false"' })
  .openapi({
    description: 'An item that is not enabled is ignored. A boolean or its name is accepted.',
    example: true,
  })
  .optional()
  .transform((value) => value === undefined || value === true || value === 'true');

const CommandItem = z
  .strictObject({
    command: z
      .string()
      .min(1)
      .openapi({ description: 'The option flag; for `source.file` the path of the input.', example: '-g' }),
    enabled,
    value: z
      .string()
      .optional()
      .openapi({ description: 'Value of the option; absent or empty for none.', example: '3' }),
  })
  .openapi('CommandItem', { example: { command: '-g', enabled: 'true', value: '3' } });

const ExecutionSource = z
  .strictObject({ file: CommandItem.optional(), origin_id: CommandItem.optional() })
  .openapi('ExecutionSource', {
    description: 'The inputs. `origin_id`: the schema, by its id or as `$N`.',
    example: { file: { command: demoFiles.document, enabled: true } },
  });

const ExecutionTarget = z
  .strictObject({
    generation: z.array(CommandItem).optional(),
    path: CommandItem.optional(),
    format: z.array(CommandItem).optional(),
    writing_mode: z.array(CommandItem).optional(),
  })
  .openapi('ExecutionTarget', {
    description: 'Options. The groups have no meaning: an option may be in any of them.',
    example: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
  });

const Execution = z
  .strictObject({
    app_name: z.string().min(1).openapi({ description: 'Name of the tool.', example: 'xml2er' }),
    source: ExecutionSource.optional().transform((source) => source ?? {}),
    target: ExecutionTarget.optional().transform((target) => target ?? {}),
  })
  .openapi('Execution', {
    example: {
      app_name: 'xml2er',
      source: { file: { command: demoFiles.document, enabled: true } },
      target: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
    },
  });

/** `maxExecutions`: limit of the configuration. */
export function executionRequest(maxExecutions: number) {
  return z
    .strictObject({
      name: displayName(200).optional().openapi({ description: 'Name of the workflow.', example: 'orders' }),
      executions: z.array(Execution).min(1).max(maxExecutions),
    })
    .openapi('ExecutionRequest', {
      description:
        'The jobs of one workflow, run in this order. An `origin_id` of `$N` is the schema that execution N (from 0) makes.',
      example: {
        executions: [
          {
            app_name: 'xml2er',
            source: { file: { command: demoFiles.document, enabled: true } },
            target: { generation: [{ command: '-g', enabled: 'true', value: '3' }] },
          },
          {
            app_name: 'xml2er',
            source: {
              file: { command: demoFiles.document },
              origin_id: { command: '-x', enabled: true, value: '$0' },
            },
            target: {
              path: { command: '-o', enabled: true, value: 'metadb:orders' },
              writing_mode: [{ command: '-S', enabled: 'true', value: 'o' }],
            },
          },
        ],
      },
    });
}

const jobIds = z.array(z.int().openapi({ format: 'int64' }));

export const RunCmdResponse = z
  .object({
    error: z.boolean(),
    logPath: z.string().nullable(),
    cmds: z.array(z.string()),
    jobs: jobIds,
    id_workflow: z.int().openapi({ format: 'int64' }),
    statuses: z.array(JobStatus).optional().openapi({
      description: 'With `Prefer: wait=N`: the states of `jobs`, in their order, when the answer was made.',
    }),
  })
  .openapi('RunCmdResponse', {
    example: {
      error: false,
      logPath: null,
      cmds: ['xml2er -j 7', 'xml2er -j 8'],
      jobs: [7, 8],
      id_workflow: 4,
    },
  });

export const RerunJobResponse = z
  .object({
    error: z.boolean(),
    id_job: z.int().openapi({ format: 'int64' }),
    id_parent_job: z.int().openapi({ format: 'int64' }),
    cmds: z.array(z.string()),
    jobs: jobIds,
  })
  .openapi('RerunJobResponse', {
    example: { error: false, id_job: 9, id_parent_job: 7, cmds: ['xml2er -j 9'], jobs: [9] },
  });

// Describes the options of `POST /v2/run/cmd` as Markdown, from the tools' own table of options.

const doings: Readonly<Record<Tool, string>> = {
  xsd2er: 'makes the tables of an XSD set, or of the documents of `--from`',
  xml2er: 'loads documents into tables, and makes missing tables',
  er2xml: 'writes documents back from tables',
  unload: 'removes documents and their rows from a target',
};

/** A heading and a list for each tool. Options that exist at the command line alone are left out. */
const toolOptionsText = tools
  .map((tool) => {
    const lines = toolOptions
      .filter(({ overRest, tools: of }) => overRest && of.includes(tool))
      .map(({ short, long, usage: [form, meaning], repeatable }) => {
        const names = [short, long].filter((name) => name !== null).join(', ');
        return `- \`${names}${form === '' ? '' : ` ${form}`}\`: ${meaning}${repeatable ? '; may be repeated' : ''}`;
      });
    return `**${tool}** ${doings[tool]}:\n\n${lines.join('\n')}`;
  })
  .join('\n\n');

// The routes.

const tags = ['run'];

const runHeaders = z.object({
  prefer: z
    .string()
    .optional()
    .openapi({
      description: `\`wait=N\`: answer when all jobs have ended, or after N seconds (at most ${longestWait}); \`statuses\` has their states.`,
      example: 'wait=30',
    }),
  ...idempotencyKeyHeader,
});

export function createRunRoutes(adapters: Adapters, config: Config, guards: Guards, followers: Followers) {
  const guard = guards.require('jobs:run');
  /** Before the body is read: switched off means that nothing of the request is looked at. */
  const commandsOn: MiddlewareHandler<AppEnv> = async (_, next) => {
    requireCommands(config);
    if (!adapters.runtime.capabilities.commands) {
      throw new AppError('runtime_unsupported', 'commands cannot be run from this runtime');
    }
    await next();
  };

  const run = operation(
    createRoute({
      method: 'post',
      path: '/v2/run/cmd',
      operationId: 'runCommands',
      summary: 'Run commands as jobs of one workflow',
      description:
        'Each execution names a tool and its options, and becomes a job; jobs of one request run in order, and those after a failed one are not run. Off until `cmd.enabled=true` is set. Nothing is stored unless every execution is valid.\n\n' +
        'The input is `source.file`, the schema `source.origin_id`; all other options may be in any group of `target`.\n\n' +
        toolOptionsText,
      tags,
      security: guard.security,
      middleware: [...guard.middleware, commandsOn, jsonBody(config.limits.jsonBodyBytes)],
      request: {
        headers: runHeaders,
        body: {
          required: true,
          content: {
            'application/json': { schema: executionRequest(config.limits.executions), examples: recipes },
          },
        },
      },
      responses: {
        200: {
          ...json(RunCmdResponse, 'The jobs are queued.'),
          headers: {
            ...replayedHeader,
            'Preference-Applied': {
              description: 'The waiting time that applied, if `Prefer` asked for one.',
              schema: { type: 'string' },
              example: 'wait=30',
            },
          },
        },
        201: notSent,
        ...problems(400, 409, 413, 415, 422, 501),
      },
    }),
    async (c) => {
      const seconds = preferredWait(c.req.header('Prefer'));
      if (seconds === null)
        return c.json(wire(await submitted(c, c.req.valid('header'), c.req.valid('json'))), 200);
      // a waiting request occupies a slot like one that follows a log: if none is free, nothing is stored
      const leave = followers.enter(c.get('principal'));
      try {
        const answer = await submitted(c, c.req.valid('header'), c.req.valid('json'));
        const statuses = await statusesAfter(c, answer, seconds);
        c.header('Preference-Applied', `wait=${seconds}`);
        return c.json(wire({ ...answer, statuses }), 200);
      } finally {
        leave();
      }
    },
  );

  async function submitted(
    c: Context<AppEnv>,
    headers: z.infer<typeof runHeaders>,
    request: ExecutionRequest,
  ): Promise<RunAnswer> {
    const key = headers['idempotency-key'];
    const idempotency = key === undefined ? null : { key, bodyHash: await sha256Hex(await bodyText(c)) };
    const { answer, replayed } = await submitCommands(adapters, config, callerOf(c), request, idempotency);
    if (replayed) setReplayed(c);
    return answer;
  }

  /** Ends early, with the facts known so far, if connections run short. */
  async function statusesAfter(
    c: Context<AppEnv>,
    { jobs, id_workflow: idWorkflow }: RunAnswer,
    seconds: number,
  ): Promise<readonly StatusLetter[]> {
    const ending = new AbortController();
    connectionOf(c)?.followedUntil(() => ending.abort());
    const statuses = await waitForJobs(adapters.jobs, c.get('principal').idOrg, idWorkflow, jobs, {
      forMs: seconds * 1000,
      signal: AbortSignal.any([ending.signal, c.req.raw.signal]),
    });
    return statuses.map((status) => statusLetters[status]);
  }

  const rerun = operation(
    createRoute({
      ...effectfulGet,
      method: 'get',
      path: '/v2/run/rerun/{id_job}',
      operationId: 'rerunExecution',
      summary: 'Run an ended job again',
      description:
        'Makes a new job in a workflow of its own, which uses the logical schema of the original job (409 if that was deleted). Until the new job has ended, the same call returns it again.',
      tags,
      security: guard.security,
      middleware: [...guard.middleware, commandsOn],
      request: { params: z.object({ id_job: int64('The job to run again.') }) },
      responses: { 200: json(RerunJobResponse, 'The new job is queued.'), ...problems(400, 409, 501) },
    }),
    async (c) => {
      const answer = await rerunJob(adapters, config, callerOf(c), c.req.valid('param').id_job);
      return c.json(wire(answer), 200);
    },
  );

  return createGroup([run, rerun]);
}

/** The organisation that asks, and the span of its request, which the jobs belong to. */
function callerOf(c: Context<AppEnv>): Caller {
  return { idOrg: c.get('principal').idOrg, traceparent: formatTraceparent(c.get('trace')) };
}
