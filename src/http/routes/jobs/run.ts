/** Running commands: /v2/run. */
import { createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { sha256Hex } from '../../../access/credential.ts';
import type { Config } from '../../../config/shape.ts';
import { AppError } from '../../../errors.ts';
import { rerunJob } from '../../../jobs/rerun.ts';
import { requireCommands, submitCommands } from '../../../jobs/submit.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { Guards } from '../../middleware/auth.ts';
import type { AppEnv } from '../../env.ts';
import { bodyText, jsonBody } from '../../requests/json-body.ts';
import { createGroup, effectfulGet, json, notSent, operation, problems } from '../../requests/operation.ts';
import { int64 } from '../../requests/parameters.ts';
import { RerunJobResponse, RunCmdResponse, executionRequest } from '../../schemas/run.ts';
import { wire } from '../../answers/wire.ts';

const tags = ['run'];

const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable ASCII characters' })
    .optional()
    .openapi({ description: 'The same key and body give the first answer again.', example: 'a8098c1a-f86e' }),
});

export function createRunRoutes(adapters: Adapters, config: Config, guards: Guards) {
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
      tags,
      security: guard.security,
      middleware: [...guard.middleware, commandsOn, jsonBody(config.limits.jsonBodyBytes)],
      request: {
        headers: idempotencyHeader,
        body: {
          required: true,
          content: { 'application/json': { schema: executionRequest(config.limits.executions) } },
        },
      },
      responses: {
        200: json(RunCmdResponse, 'The jobs are queued.'),
        201: notSent,
        ...problems(400, 409, 413, 415, 422, 501),
      },
    }),
    async (c) => {
      const key = c.req.valid('header')['idempotency-key'];
      const idempotency = key === undefined ? null : { key, bodyHash: await sha256Hex(await bodyText(c)) };
      const answer = await submitCommands(
        adapters,
        config,
        c.get('principal'),
        c.req.valid('json'),
        idempotency,
      );
      return c.json(wire(answer), 200);
    },
  );

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
      const answer = await rerunJob(adapters, config, c.get('principal'), c.req.valid('param').id_job);
      return c.json(wire(answer), 200);
    },
  );

  return createGroup([run, rerun]);
}
