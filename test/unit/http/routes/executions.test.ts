/** /v2/executions: job records, kills, logs. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ExecutionsResponse,
  GetWorkflowNameResponse,
  Job,
  JobLog,
  Workflow,
  WorkflowsResponse,
} from '../../../../src/http/routes/job-shapes.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';
import type { TestApp } from '../../../support/memory/adapters.ts';
import { startNextJob, submitJobs } from '../../../support/memory/job-records.ts';

/** Reads an event stream as its standard says. */
async function* events(answer: Response): AsyncGenerator<{ id: string; event: string; data: string }> {
  let buffer = '';
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    buffer += piece;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const fields = buffer.slice(0, end).split('\n');
      buffer = buffer.slice(end + 2);
      const values = (name: string) =>
        fields.filter((field) => field.startsWith(`${name}: `)).map((field) => field.slice(name.length + 2));
      if (values('data').length === 0) continue;
      yield {
        id: values('id')[0]!,
        event: values('event')[0] ?? 'message',
        data: values('data').join('\n'),
      };
    }
  }
}

describe('job records', () => {
  it('have exactly the members of the interface', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 1);
    const queued = Job.parse(await (await send('/v2/executions/get/1')).json());
    expect(queued).toMatchObject({
      status: 'Q',
      start_date: null,
      end_date: null,
      host: null,
      attempt: 1,
      progress: null,
    });
    const { end } = await startNextJob(adapters.jobs);
    adapters.time.nowMs += 300;
    await end('failed');
    expect(Job.parse(await (await send('/v2/executions/get/1')).json())).toEqual({
      ...queued,
      status: 'F',
      host: 'etl-1/10.0.0.5',
      os_user: 'svc',
      base_path: '/',
      log_file: 'logs/job-1.log',
      start_date: 1_790_000_000_000,
      end_date: 1_790_000_000_300,
      failure: 'line 3, column 7: broken',
    });
  });

  it('come in pages of their organisation', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 2, 2);
    await submitJobs(adapters.jobs, 1, 2);
    const all = ExecutionsResponse.parse(await (await send('/v2/executions/all')).json());
    expect(all.content.map(({ id_job: idJob }) => idJob)).toEqual([4, 3]);
    const ofWorkflow = ExecutionsResponse.parse(await (await send('/v2/executions/2')).json());
    expect(ofWorkflow.content.map(({ id_job: idJob }) => idJob)).toEqual([3, 4]);
    expect((await send('/v2/executions/1')).status).toBe(404);
  });
});

describe('POST /v2/executions/kill/{id_job}', () => {
  it('asks for the end, as often as one likes', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 2);
    const { end } = await startNextJob(adapters.jobs);
    const kill = async (idJob: number) => {
      const answer = await send(`/v2/executions/kill/${idJob}`, { method: 'POST' });
      return [answer.status, Job.parse(await answer.json()).status];
    };
    expect(await kill(1)).toEqual([202, 'T']);
    expect(await kill(1)).toEqual([202, 'T']);
    expect(await kill(2)).toEqual([202, 'K']);
    await end('failed');
    expect(await kill(1)).toEqual([202, 'K']);
    expect((await send('/v2/executions/kill/3', { method: 'POST' })).status).toBe(404);
  });
});

describe('workflows', () => {
  it('count their jobs, list them as ids, and hold them as records', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 2, 'donuts');
    await submitJobs(adapters.jobs, 1, 1);
    await (await startNextJob(adapters.jobs)).end('failed');
    const list = WorkflowsResponse.parse(await (await send('/v2/workflow/all')).json());
    expect(list.content).toEqual([
      expect.objectContaining({ id_workflow: 2, name: 'workflow-2', jobs: [3], status: 'Q' }),
      expect.objectContaining({
        id_workflow: 1,
        jobs: [1, 2],
        status: 'F',
        job_count: 2,
        completed_count: 0,
        failed_count: 2,
      }),
    ]);
    expect(WorkflowsResponse.parse(await (await send('/v2/workflow/all/0?size=1')).json())).toMatchObject({
      size: 1,
      total_pages: 2,
      content: [{ id_workflow: 2 }],
    });
    const one = Workflow.parse(await (await send('/v2/workflow/1')).json());
    expect(one.jobs.map(({ id_job: idJob, status }) => [idJob, status])).toEqual([
      [1, 'F'],
      [2, 'K'],
    ]);
    expect(GetWorkflowNameResponse.parse(await (await send('/v2/workflow/getName/1')).json())).toEqual({
      id: 1,
      name: 'donuts',
    });
    expect((await send('/v2/workflow/9')).status).toBe(404);
    expect((await send('/v2/workflow/getName/9')).status).toBe(404);
  });
});

describe('GET /v2/executions/log/{id_job}', () => {
  const log = 'start\nsüß: 3 Donuts 🍩\nend\n';
  const size = new TextEncoder().encode(log).byteLength;

  async function createLogged(ended = true): Promise<TestApp & { end(): Promise<unknown> }> {
    const app = await createTestApp();
    await submitJobs(app.adapters.jobs, 1, 1);
    const { end } = await startNextJob(app.adapters.jobs);
    if (ended) await end('completed');
    app.adapters.logs.appendLog(1, log);
    return { ...app, end: () => end('completed') };
  }

  it('gives JSON by default, and empty logs too', async () => {
    const { send } = await createLogged();
    const whole = JobLog.parse(await (await send('/v2/executions/log/1')).json());
    expect(whole).toEqual({
      id_job: 1,
      status: 'C',
      offset: 0,
      next_offset: size,
      total_size: size,
      completed: true,
      log,
    });
    const other = await createTestApp();
    await submitJobs(other.adapters.jobs, 1, 1);
    expect(JobLog.parse(await (await other.send('/v2/executions/log/1')).json())).toEqual({
      id_job: 1,
      status: 'Q',
      offset: 0,
      next_offset: 0,
      total_size: 0,
      completed: false,
      log: '',
    });
    expect((await send('/v2/executions/log/2')).status).toBe(404);
  });

  it('can be read in parts that never split a character', async () => {
    const { send } = await createLogged();
    let read = '';
    let offset = 0;
    for (let steps = 0; offset < size; steps += 1) {
      expect(steps).toBeLessThan(size);
      const part = JobLog.parse(await (await send(`/v2/executions/log/1?offset=${offset}&limit=5`)).json());
      expect(part.offset).toBe(offset);
      expect(part.completed).toBe(true);
      read += part.log;
      offset = part.next_offset;
    }
    expect(read).toBe(log);
    const tail = JobLog.parse(await (await send('/v2/executions/log/1?tail=2')).json());
    expect(tail.log).toBe('süß: 3 Donuts 🍩\nend\n');
    for (const query of ['offset=-1', 'limit=x', 'tail=1.5', 'offset=9223372036854775808']) {
      expect((await send(`/v2/executions/log/1?${query}`)).status).toBe(400);
    }
  });

  it('gives the raw bytes as text', async () => {
    const { send, adapters } = await createLogged();
    const raw = new Uint8Array([0xff, 0x00, 0x0d, 0x0a, 0xc3]);
    adapters.logs.appendLog(1, raw);
    const headers = { Accept: 'text/plain' };
    const answer = await send('/v2/executions/log/1', { headers });
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(
      new Uint8Array([...new TextEncoder().encode(log), ...raw]),
    );
    const part = await send('/v2/executions/log/1?offset=6&limit=4', { headers });
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(new TextEncoder().encode(log).slice(6, 10));
    expect((await (await send('/v2/executions/log/1?tail=1', { headers })).text()).length).toBe(1);
    expect((await send('/v2/executions/log/2', { headers })).status).toBe(404);
  });

  it('follows the log until the job has ended', async () => {
    const { send, adapters, end } = await createLogged(false);
    const answer = await send('/v2/executions/log/1', { headers: { Accept: 'text/event-stream' } });
    expect(answer.headers.get('Content-Type')).toBe('text/event-stream');
    const seen = [];
    for await (const event of events(answer)) {
      seen.push(event);
      if (seen.length === 1) {
        adapters.logs.appendLog(1, 'more\nand a line without an end');
        await end();
      }
    }
    const last = seen.at(-1)!;
    expect(last).toMatchObject({ event: 'end', id: String(size + 30) });
    expect(JSON.parse(last.data)).toEqual({ id_job: 1, status: 'C' });
    const text = seen.slice(0, -1).map(({ data }) => data);
    expect(text.join('')).toBe(`${log}more\nand a line without an end`);
    expect(seen[0]).toEqual({ id: String(size), event: 'message', data: log });
  });

  it('resumes behind the last event, which wins over ?offset', async () => {
    const { send } = await createLogged();
    const read = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await send(path, { headers: { Accept: 'text/event-stream', ...headers } });
      const all = [];
      for await (const { event, data } of events(answer)) if (event === 'message') all.push(data);
      return all.join('');
    };
    expect(await read('/v2/executions/log/1', { 'Last-Event-ID': '6' })).toBe(log.slice(6));
    expect(await read('/v2/executions/log/1?offset=6')).toBe(log.slice(6));
    expect(await read('/v2/executions/log/1?offset=1', { 'Last-Event-ID': '6' })).toBe(log.slice(6));
    expect(await read('/v2/executions/log/1?tail=1')).toBe('end\n');
    expect(await read('/v2/executions/log/1', { 'Last-Event-ID': String(size) })).toBe('');
    const wrong = await send('/v2/executions/log/1', {
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': 'x' },
    });
    expect(await wrong.json()).toMatchObject({
      status: 400,
      errors: [{ pointer: '/header/last-event-id' }],
    });
    expect((await send('/v2/executions/log/9', { headers: { Accept: 'text/event-stream' } })).status).toBe(
      404,
    );
  });

  it('keeps a quiet connection open, and stops to look when the follower goes away', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { send, adapters } = await createLogged(false);
    const answer = await send('/v2/executions/log/1', { headers: { Accept: 'text/event-stream' } });
    const reader = answer.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('data: end');
    const quiet = reader.read();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(new TextDecoder().decode((await quiet).value)).toBe(': \n\n');
    let looked = 0;
    const { logSize } = adapters.logs;
    adapters.logs.logSize = (idJob) => {
      looked += 1;
      return logSize(idJob);
    };
    await vi.advanceTimersByTimeAsync(1000);
    expect(looked).toBeGreaterThan(0);
    await reader.cancel();
    looked = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(looked).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [
      'its key is revoked',
      (idKey: string, { access, time }: TestApp['adapters']) => access.revokeKey(idKey, time.nowMs),
    ],
    ['its key expires', () => undefined],
  ] as const)('ends without an end event within a second when %s', async (_, take) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { send, adapters, newKey } = await createLogged(false);
    const { key, idKey } = await newKey(1, ['jobs:read'], adapters.time.nowMs + 1000);
    const answer = await send('/v2/executions/log/1', { key, headers: { Accept: 'text/event-stream' } });
    const reader = answer.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('data: end');
    const next = reader.read();
    take(idKey, adapters);
    adapters.time.nowMs += 1000;
    adapters.logs.appendLog(1, 'not for this reader\n');
    await vi.advanceTimersByTimeAsync(300);
    expect((await next).done).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('breaks a download off when its key is revoked', async () => {
    const { send, adapters, newKey } = await createLogged();
    adapters.logs.appendLog(1, 'x'.repeat(1024 * 1024));
    const { key, idKey } = await newKey(1, ['jobs:read']);
    const answer = await send('/v2/executions/log/1', { key, headers: { Accept: 'text/plain' } });
    const reader = answer.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    adapters.access.revokeKey(idKey, adapters.time.nowMs);
    adapters.time.nowMs += 1000;
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('opens no stream for HEAD', async () => {
    const { send } = await createLogged(false);
    const answer = await send('/v2/executions/log/1', {
      method: 'HEAD',
      headers: { Accept: 'text/event-stream' },
    });
    expect([answer.status, answer.headers.get('Content-Type'), await answer.text()]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
  });
});
