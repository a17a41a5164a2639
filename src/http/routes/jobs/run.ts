/** Running commands: /v2/run. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { sha256Hex } from '../../../access/keys.ts';
import type { Config } from '../../../config/shape.ts';
import { AppError } from '../../../errors.ts';
import { rerunJob } from '../../../jobs/rerun.ts';
import type {
  ExecutionRequest,
  RunCmdResponse as RunAnswer,
} from '../../../jobs/request/execution-request.ts';
import { statusLetters, type StatusLetter } from '../../../jobs/status-letters.ts';
import { requireCommands, submitCommands, type Caller } from '../../../jobs/submit.ts';
import { formatTraceparent } from '../../../jobs/trace-context.ts';
import { waitForJobs } from '../../../jobs/wait.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Guards } from '../../middleware/auth.ts';
import { connectionOf, type AppEnv } from '../../env.ts';
import type { Followers } from '../../middleware/followers.ts';
import { bodyText, jsonBody } from '../../requests/json-body.ts';
import {
  createGroup,
  effectfulGet,
  json,
  notSent,
  operation,
  problems,
  longestWait,
  preferredWait,
} from '../../requests/operation.ts';
import { int64 } from '../../requests/paging.ts';
import { recipes } from '../../schemas/recipes.ts';
import { toolOptionsText, RerunJobResponse, RunCmdResponse, executionRequest } from '../../schemas/run.ts';
import { wire } from '../../answers/wire.ts';

const tags = ['run'];

const runHeaders = z.object({
  prefer: z
    .string()
    .optional()
    .openapi({
      description: `\`wait=N\`: answer when all jobs have ended, or after N seconds (at most ${longestWait}); \`statuses\` tells how far they are then.`,
      example: 'wait=30',
    }),
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable ASCII characters' })
    .optional()
    .openapi({ description: 'The same key and body give the first answer again.', example: 'a8098c1a-f86e' }),
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
        'Each execution names a tool and its options, and becomes a job; jobs of one request run in order, and those after a failed one are not run. Off until `cmd.enabled=true` is set. Nothing is stored unless every execution is in order.\n\n' +
        'The input is `source.file`, the schema `source.origin_id`; all other options stand in any group of `target`.\n\n' +
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
        200: json(RunCmdResponse, 'The jobs are queued.'),
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
    return submitCommands(adapters, config, callerOf(c), request, idempotency);
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
        'Makes a new job in a workflow of its own, which moves rows by the logical schema of the job it repeats (409 where that was deleted). While that has not ended, the same call answers with it again.',
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
