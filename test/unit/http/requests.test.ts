/** Problems, request ids, methods and headers of all operations. */
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/http/problem.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { startNextJob, submitJobs } from '../../support/memory/job-records.ts';

describe('problems', () => {
  it('has every member, and the request id of the header', async () => {
    const { send } = await createTestApp();
    const answer = await send('/v2/executions/get/12', { headers: { 'X-Request-Id': 'trace-12.a' } });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
    expect(answer.headers.get('X-Request-Id')).toBe('trace-12.a');
    expect(Problem.parse(await answer.json())).toEqual({
      type: 'urn:svc:problem:not_found',
      title: 'Not found',
      status: 404,
      detail: 'there is no such job',
      instance: '/v2/executions/get/12',
      code: 'not_found',
      help: '../../../doc/problems/not_found',
      errors: [],
      timestamp: '2026-09-21T14:13:20.000+00:00',
      error: 'Not Found',
      path: '/v2/executions/get/12',
      request_id: 'trace-12.a',
    });
  });

  it('tells nothing of an unexpected fault but the request id; the log has it all', async () => {
    const base = await createTestApp();
    const secret = 'select password from svc.api_key at /srv/db/base/1';
    const { send, adapters } = await createTestApp(
      {},
      {
        jobs: { ...base.adapters.jobs, listJobs: () => Promise.reject(new Error(secret)) },
      },
    );
    const answer = await send('/v2/executions/all');
    expect(answer.status).toBe(500);
    const text = await answer.text();
    const problem = Problem.parse(JSON.parse(text));
    expect(problem.code).toBe('internal_error');
    expect(problem.request_id).toBe(answer.headers.get('X-Request-Id'));
    expect(text).not.toMatch(/select|password|srv|Error:|at /);
    const logged = adapters.logLines.find(({ level }) => level === 'error');
    expect(logged?.fields).toMatchObject({ request_id: problem.request_id, path: '/v2/executions/all' });
    expect(logged?.fields.error).toContain(secret);
  });
});

describe('request ids', () => {
  it('is made where none, or no plausible one, was given', async () => {
    const { send } = await createTestApp();
    const ids = new Set<string>();
    for (const given of [undefined, '', 'a b', 'x'.repeat(129), '"quoted"', '{}']) {
      const answer = await send('/error', { headers: given === undefined ? {} : { 'X-Request-Id': given } });
      const id = answer.headers.get('X-Request-Id')!;
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      ids.add(id);
    }
    expect(ids.size).toBe(6);
  });

  it('is in the log, where the query is not', async () => {
    const { send, adapters } = await createTestApp();
    await send('/v2/file/upload/xml?token=very-secret', {
      method: 'POST',
      body: 'x',
      headers: { 'X-Request-Id': 'r1' },
    });
    expect(adapters.logLines).toContainEqual({
      level: 'info',
      message: 'request',
      fields: {
        request_id: 'r1',
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
        method: 'POST',
        path: '/v2/file/upload/xml',
        status: 401,
        duration_ms: 0,
      },
    });
    expect(JSON.stringify(adapters.logLines)).not.toContain('very-secret');
  });
});

describe('methods', () => {
  it.each([
    ['POST', '/v2/executions/all', 'GET, HEAD'],
    ['PATCH', '/v2/schema/7', 'DELETE, GET, HEAD'],
    ['GET', '/v2/run/cmd', 'POST'],
    ['HEAD', '/v2/run/cmd', 'POST'],
    ['PUT', '/v2/run/rerun/7', 'GET'],
    ['GET', '/v2/executions/kill/7', 'POST'],
    ['GET', '/v2/file/upload/xml', 'POST'],
    ['PATCH', '/actuator/health', 'GET, HEAD'],
    ['OPTIONS', '/v2/run/cmd', 'POST'],
  ])('%s %s is 405 and says what there is', async (method, path, allow) => {
    const { send } = await createTestApp();
    const answer = await send(path, { method });
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(Problem.parse(await answer.json()).code).toBe('method_not_allowed');
  });

  it('answers HEAD as GET without a body', async () => {
    const { send } = await createTestApp();
    for (const path of ['/v2/executions/all', '/v2/about/org', '/actuator/health', '/doc']) {
      const [get, head] = [await send(path), await send(path, { method: 'HEAD' })];
      expect(head.status).toBe(200);
      expect(await head.text()).toBe('');
      expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
    }
  });

  it('runs nothing for HEAD on rerun, with or without a key', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 1);
    await (await startNextJob(adapters.jobs)).end('completed');
    for (const key of [null, undefined]) {
      const answer = await send('/v2/run/rerun/1', { method: 'HEAD', key });
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET']);
    }
    expect((await adapters.jobs.listJobs(1, 0, 10)).totalElements).toBe(1);
    expect((await send('/v2/run/rerun/1')).status).toBe(200);
    expect((await adapters.jobs.listJobs(1, 0, 10)).totalElements).toBe(2);
  });

  it('lets a literal path win over its parameter sibling', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 2, 'first');
    const json = async (path: string) => (await (await send(path)).json()) as Record<string, unknown>;
    expect(await json('/v2/executions/get/2')).toMatchObject({ id_job: 2 });
    expect(await json('/v2/executions/1')).toMatchObject({ total_elements: 2 });
    expect(await json('/v2/executions/1/1')).toMatchObject({ page: 1, content: [] });
    expect(await json('/v2/executions/all/1')).toMatchObject({ page: 1, total_elements: 2 });
    expect(await json('/v2/workflow/getName/1')).toEqual({ id: 1, name: 'first' });
    expect(await json('/v2/workflow/all/0')).toMatchObject({ total_elements: 1 });
    expect(await json('/v2/schema/all')).toEqual([]);
    expect(await json('/v2/executions/get')).toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('headers', () => {
  it('protects every answer', async () => {
    const { send } = await createTestApp();
    for (const path of [
      '/v2/executions/all',
      '/v2/executions/get/9',
      '/nowhere',
      '/error',
      '/actuator/info',
    ]) {
      const { headers } = await send(path);
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    }
  });

  it('gives other origins nothing, and no cookie', async () => {
    const { send } = await createTestApp();
    const preflight = await send('/v2/run/cmd', {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    });
    const read = await send('/v2/executions/all', { headers: { Origin: 'https://evil.example' } });
    for (const { headers } of [preflight, read]) {
      expect(
        [...headers.keys()].filter((name) => name.startsWith('access-control-') || name === 'set-cookie'),
      ).toEqual([]);
    }
  });

  it('opens to the origins that are configured, and to no others', async () => {
    const { send } = await createTestApp({ 'svc.cors.origins': 'https://ui.example' });
    const allowed = async (origin: string) =>
      (await send('/v2/executions/all', { headers: { Origin: origin } })).headers.get(
        'Access-Control-Allow-Origin',
      );
    expect(await allowed('https://ui.example')).toBe('https://ui.example');
    expect(await allowed('https://evil.example')).toBeNull();
  });
});

/** `prefix`: the prefix that the application knows; `outer`: the prefix that clients use */
async function checkMounted(
  request: (path: string, init?: RequestInit) => Response | Promise<Response>,
  key: string,
  prefix: string,
  outer: string,
): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  expect((await request('/v2/executions/all', { headers })).status).toBe(200);
  expect((await request('/v2/executions/all')).status).toBe(401);
  expect((await request('/v2/executions/get/x', { headers })).status).toBe(400);
  expect((await request('/v2/run/rerun/7', { method: 'HEAD', headers })).status).toBe(405);
  const absent = await request('/nowhere');
  expect(absent.status).toBe(404);
  expect(Problem.parse(await absent.json())).toMatchObject({
    code: 'not_found',
    path: `${prefix}/nowhere`,
  });
  const wrongMethod = await request('/v2/schema/all', { method: 'POST' });
  expect([wrongMethod.status, wrongMethod.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  for (const path of ['/doc', '/doc/', '/openapi.json']) {
    const answer = await request(path);
    const document = (await answer.json()) as { servers: readonly { url: string }[]; paths: object };
    // as a client of a proxy with yet another prefix reads it
    const server = new URL(document.servers[0]!.url, `https://proxy.example/far${outer}${path}`);
    expect(server.pathname.replace(/\/$/, '')).toBe(`/far${outer}`);
    expect(Object.keys(document.paths)).toContain('/v2/executions/all');
  }
}

describe('below a host', () => {
  it('works under route()', async () => {
    const { app, key } = await createTestApp();
    const host = new Hono();
    host.route('/api', app);
    host.get('/own', (c) => c.text('host'));
    await checkMounted((path, init) => host.request(`/api${path}`, init), key, '/api', '/api');
    expect(await (await host.request('/own')).text()).toBe('host');
    expect(await (await host.request('/elsewhere')).text()).toBe('404 Not Found');
  });

  it('works under mount()', async () => {
    const { app, key } = await createTestApp();
    const host = new Hono().mount('/api', app.fetch);
    await checkMounted((path, init) => host.request(`/api${path}`, init), key, '', '/api');
  });

  it('keeps two applications in one process apart', async () => {
    const [one, two] = [await createTestApp(), await createTestApp({ 'cmd.enabled': 'false' })];
    await submitJobs(one.adapters.jobs, 1, 3);
    const total = async (t: typeof one) =>
      ((await (await t.send('/v2/executions/all')).json()) as { total_elements: number }).total_elements;
    expect([await total(one), await total(two)]).toEqual([3, 0]);
    expect((await two.send('/v2/executions/all', { key: one.key })).status).toBe(401);
    const body = { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } };
    expect([
      (await one.send('/v2/run/cmd', body)).status,
      (await two.send('/v2/run/cmd', body)).status,
    ]).toEqual([400, 403]);
  });
});
