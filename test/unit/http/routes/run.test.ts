/** /v2/run: commands and reruns. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { preferredWait } from '../../../../src/http/operation.ts';
import {
  recipes,
  RerunJobResponse,
  RunCmdResponse,
  executionRequest,
} from '../../../../src/http/routes/run.ts';
import { executionItems } from '../../../../src/service/jobs/request/execution-request.ts';
import { parseExecution } from '../../../../src/service/jobs/request/read-request.ts';
import { isTool } from '../../../../src/service/jobs/request/tools.ts';
import { createTestApp, type TestApp } from '../../../support/memory/adapters.ts';
import { startNextJob, submitJobs } from '../../../support/memory/job-records.ts';

const input = 'uploads/7f3c/donut.xml';

function execution(more: object = {}, file: object = {}) {
  return { app_name: 'xml2er', source: { file: { command: input, ...file } }, ...more };
}

async function createApp(properties?: Record<string, string>): Promise<TestApp> {
  const app = await createTestApp(properties);
  app.adapters.files.put(1, input, new TextEncoder().encode('<items/>'));
  return app;
}

async function run({ send }: TestApp, body: unknown, headers: Record<string, string> = {}) {
  return await send('/v2/run/cmd', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

async function jobCount({ adapters }: TestApp): Promise<number> {
  return (await adapters.jobs.listJobs(1, 0, 1)).totalElements;
}

describe('POST /v2/run/cmd', () => {
  it('makes one workflow with the jobs in their order', async () => {
    const app = await createApp();
    const answer = await run(app, {
      name: 'donuts',
      executions: [
        execution({ target: { generation: [{ command: '-g', enabled: 'true', value: '3' }] } }),
        execution({
          source: { file: { command: input }, origin_id: { command: '-x', enabled: true, value: '$0' } },
          target: { path: { command: '-o', enabled: true, value: 'metadb:donuts' } },
        }),
      ],
    });
    expect(answer.status).toBe(200);
    expect(RunCmdResponse.parse(await answer.json())).toEqual({
      error: false,
      logPath: null,
      cmds: ['xml2er -j 1', 'xml2er -j 2'],
      jobs: [1, 2],
      id_workflow: 1,
    });
    expect(await app.adapters.jobs.findJob(1, 1)).toMatchObject({
      status: 'queued',
      job_type: 'Parse',
      parm_path_input: input,
    });
    expect((await app.adapters.jobs.findWorkflow(1, 1))?.name).toBe('donuts');
  });

  it.each([true, false, 'true', 'false'])('understands enabled: %j', async (enabled) => {
    const app = await createApp();
    const body = {
      executions: [execution({ target: { generation: [{ command: '-g', enabled, value: '1' }] } })],
    };
    expect((await run(app, body)).status).toBe(200);
    const kept = enabled === true || enabled === 'true';
    expect((await app.adapters.jobs.findJob(1, 1))?.params.includes('-g')).toBe(kept);
  });

  it('is refused whole when one execution is wrong', async () => {
    const app = await createApp();
    const answer = await run(app, {
      executions: [
        execution(),
        execution({ target: { generation: [{ command: '--nonsense', enabled: true }] } }),
      ],
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'unknown_option',
      errors: [{ pointer: '/executions/1/target/generation/0/command' }],
    });
    expect(await jobCount(app)).toBe(0);
  });

  it('refuses an input that is not there, and one outside', async () => {
    const app = await createApp();
    for (const [command, code] of [
      ['uploads/none.xml', 'input_not_found'],
      ['../2/secret.xml', 'path_not_allowed'],
    ]) {
      const answer = await run(app, { executions: [execution({}, { command })] });
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, code]);
    }
    expect(await jobCount(app)).toBe(0);
  });

  it('is off by default: 403 whatever the body, and no row', async () => {
    const app = await createApp({});
    for (const body of [{ executions: [execution()] }, '{', '']) {
      const answer = await run(app, body);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'commands_disabled' });
    }
    await submitJobs(app.adapters.jobs, 1, 1);
    await (await startNextJob(app.adapters.jobs)).end('completed');
    expect(await (await app.send('/v2/run/rerun/1')).json()).toMatchObject({
      status: 403,
      code: 'commands_disabled',
    });
    expect(await jobCount(app)).toBe(1);
  });

  it('is 501 where the runtime can start nothing', async () => {
    const { send } = await createTestApp(
      { 'cmd.enabled': 'true' },
      { runtime: { name: 'edge', version: '1', capabilities: { commands: false } } },
    );
    expect((await send('/v2/run/rerun/1')).status).toBe(501);
    const listed = (await (await send('/v2/extensions/list')).json()) as {
      action_params: { commands: boolean };
    };
    expect(listed.action_params.commands).toBe(false);
  });

  it('gives the first answer again for the same idempotency key and body', async () => {
    const app = await createApp();
    const body = { executions: [execution()] };
    const first = await run(app, body, { 'Idempotency-Key': 'once' });
    const again = await run(app, body, { 'idempotency-key': 'once' });
    expect(await again.json()).toEqual(await first.json());
    const replayed = [first, again].map(({ headers }) => headers.get('Idempotency-Replayed'));
    expect(replayed).toEqual([null, 'true']);
    expect(await jobCount(app)).toBe(1);
    const other = await run(app, { ...body, name: 'other' }, { 'Idempotency-Key': 'once' });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' });
    expect((await run(app, body, { 'Idempotency-Key': 'twice' })).status).toBe(200);
    expect(await jobCount(app)).toBe(2);
  });

  it.each(['a b', 'x'.repeat(256)])('refuses the idempotency key %.20j', async (key) => {
    const app = await createApp();
    const answer = await run(app, { executions: [execution()] }, { 'Idempotency-Key': key });
    expect(await answer.json()).toMatchObject({
      status: 400,
      errors: [{ pointer: '/header/idempotency-key' }],
    });
  });

  it('answers 429 when too many jobs wait', async () => {
    const { createMemoryJobStore } = await import('../../../support/memory/jobs.ts');
    const jobs = createMemoryJobStore({ nowMs: () => 0 }, { maxQueuedPerOrg: 1 });
    const app = await createTestApp({ 'cmd.enabled': 'true' }, { jobs });
    app.adapters.files.put(1, input, new Uint8Array(1));
    expect((await run(app, { executions: [execution()] })).status).toBe(200);
    const refused = await run(app, { executions: [execution()] });
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60']);
  });
});

describe('GET /v2/run/rerun/{id_job}', () => {
  it('makes a new job of an ended one, once while that has not ended', async () => {
    const app = await createApp();
    await submitJobs(app.adapters.jobs, 1, 1);
    const early = await app.send('/v2/run/rerun/1');
    expect(await early.json()).toMatchObject({ status: 409, code: 'job_not_terminal' });
    await (await startNextJob(app.adapters.jobs)).end('failed');
    const answer = await app.send('/v2/run/rerun/1');
    expect(answer.status).toBe(200);
    const body = RerunJobResponse.parse(await answer.json());
    expect(body).toEqual({ error: false, id_job: 2, id_parent_job: 1, cmds: ['xml2er -j 2'], jobs: [2] });
    expect(await (await app.send('/v2/run/rerun/1')).json()).toEqual(body);
    expect(await app.adapters.jobs.findJob(1, 2)).toMatchObject({
      id_parent_job: 1,
      id_workflow: 2,
      status: 'queued',
    });
    await (await startNextJob(app.adapters.jobs)).end('completed');
    expect(await (await app.send('/v2/run/rerun/1')).json()).toMatchObject({ id_job: 3, id_parent_job: 1 });
  });

  it('is 404 for a job that is not there', async () => {
    expect((await (await createApp()).send('/v2/run/rerun/77')).status).toBe(404);
  });
});

describe('Prefer: wait', () => {
  const two = { executions: [execution(), execution()] };
  const waiting = async (app: TestApp, prefer: string) => {
    const answer = await run(app, two, { Prefer: prefer });
    const { statuses } = RunCmdResponse.parse(await answer.json());
    return [answer.status, answer.headers.get('Preference-Applied'), statuses];
  };

  it('answers when all jobs have ended, with their states', async () => {
    const app = await createApp();
    const answered = waiting(app, 'respond-async, wait=30');
    while ((await jobCount(app)) < 2) await delay(5);
    const first = await startNextJob(app.adapters.jobs);
    await first.end('completed');
    const second = await startNextJob(app.adapters.jobs);
    expect(await Promise.race([answered, delay(150, 'still waiting')])).toBe('still waiting');
    await second.end('failed');
    expect(await answered).toEqual([200, 'wait=30', ['C', 'F']]);
  });

  it('answers when the time is up, too', async () => {
    const app = await createApp();
    expect(await waiting(app, 'wait=0')).toEqual([200, 'wait=0', ['Q', 'Q']]);
    expect(await waiting(app, 'Wait="1"; strict')).toEqual([200, 'wait=1', ['Q', 'Q']]);
  });

  it.each(['wait', 'wait=', 'wait=soon', 'wait=-1', 'return=minimal', 'wait=1e3'])(
    'passes over what it does not understand: %s',
    async (prefer) => {
      const answer = await run(await createApp(), two, { Prefer: prefer });
      expect(answer.headers.get('Preference-Applied')).toBeNull();
      expect(await answer.json()).not.toHaveProperty('statuses');
    },
  );

  it('waits a minute at most', () => {
    expect(preferredWait('wait=600')).toBe(60);
    expect(preferredWait('wait=5, wait=7')).toBe(5);
    expect(preferredWait(undefined)).toBeNull();
  });

  it('holds a slot of those that follow logs, and gives it back', async () => {
    const app = await createApp({ 'cmd.enabled': 'true', 'svc.limits.followers_per_key': '1' });
    const answered = waiting(app, 'wait=1');
    while ((await jobCount(app)) < 2) await delay(5);
    await delay(20);
    const refused = await run(app, two, { Prefer: 'wait=1' });
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '5']);
    expect(await jobCount(app)).toBe(2);
    expect(await answered).toEqual([200, 'wait=1', ['Q', 'Q']]);
    expect((await waiting(app, 'wait=0'))[0]).toBe(200);
  });
});

describe('the recipes of the reference', () => {
  it.each(Object.entries(recipes))('%s is a request that is taken', async (_, { value }) => {
    const request = executionRequest(10).parse(value);
    for (const [index, execution] of request.executions.entries()) {
      const { app_name: tool } = execution;
      if (!isTool(tool)) throw new Error(tool);
      expect(parseExecution(tool, executionItems(execution, index), index).inputs).toHaveLength(1);
    }
  });
});
