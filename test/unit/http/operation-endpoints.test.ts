/** The endpoints for operators. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';

const v3 = 'application/vnd.spring-boot.actuator.v3+json';
const v2 = 'application/vnd.spring-boot.actuator.v2+json';

describe('/actuator', () => {
  it.each([
    [undefined, v3],
    ['*/*', v3],
    ['application/*', v3],
    ['application/*+json', v3],
    [v3, v3],
    [v2, v2],
    ['application/json', 'application/json'],
    [`${v3}, ${v2}, application/json`, v3],
    [`${v2}, application/json`, v2],
    [`${v2};q=0.5, application/json`, 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', v3],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/html', null],
    ['application/xml', null],
    [`${v3};q=0`, null],
  ])('gives for Accept %s the type %s', async (accept, type) => {
    const { app } = await createTestApp();
    for (const path of ['/actuator', '/actuator/info', '/actuator/health', '/actuator/health/liveness']) {
      const answer = await app.request(path, { headers: accept === undefined ? {} : { Accept: accept } });
      expect([path, answer.status]).toEqual([path, type === null ? 406 : 200]);
      expect(answer.headers.get('Content-Type')).toBe(type ?? 'application/problem+json');
    }
  });

  it('links what there is', async () => {
    const { app } = await createTestApp();
    const base = 'http://host.example:8080/actuator';
    expect(await (await app.request(base)).json()).toEqual({
      _links: {
        self: { href: base, templated: false },
        health: { href: `${base}/health`, templated: false },
        'health-path': { href: `${base}/health/{*path}`, templated: true },
        info: { href: `${base}/info`, templated: false },
        prometheus: { href: `${base}/prometheus`, templated: false },
        metrics: { href: `${base}/metrics`, templated: false },
        'metrics-requiredMetricName': { href: `${base}/metrics/{requiredMetricName}`, templated: true },
        env: { href: `${base}/env`, templated: false },
        'env-toMatch': { href: `${base}/env/{toMatch}`, templated: true },
        loggers: { href: `${base}/loggers`, templated: false },
        'loggers-name': { href: `${base}/loggers/{name}`, templated: true },
        logfile: { href: `${base}/logfile`, templated: false },
      },
    });
  });

  it('tells build and git', async () => {
    const { app } = await createTestApp();
    expect(await (await app.request('/actuator/info')).json()).toEqual({
      build: {
        artifact: 'conversion-job-service',
        name: 'conversion-job-service',
        version: '1.0.0',
        time: '2026-09-10T00:26:40.000Z',
      },
      git: { branch: 'main', commit: { id: 'ee27ec5' } },
    });
  });
});

describe('/actuator/health', () => {
  const parts = {
    db: { status: 'UP', details: { database: 'PostgreSQL' } },
    diskSpace: { status: 'UP', details: { total: 100, free: 60, threshold: 10 } },
    livenessState: { status: 'UP' },
    readinessState: { status: 'UP' },
    worker: { status: 'UP', details: { running: 0 } },
  };

  it('shows its parts to an operator’s key alone', async () => {
    const { app, send, newKey, adapters } = await createTestApp();
    const read = async (key: string | null, accept: string) =>
      await (await send('/actuator/health', { key, headers: { Accept: accept } })).json();
    const short = { status: 'UP', groups: ['liveness', 'readiness'] };
    const { key } = await newKey(1, ['metrics:read']);
    expect(await (await app.request('/actuator/health')).json()).toEqual(short);
    expect(await read('svk_no_key', v3)).toEqual(short);
    expect(await read((await newKey(1, [], adapters.time.nowMs)).key, v3)).toEqual(short);
    expect(await read(key, v3)).toEqual({ ...short, components: parts });
    expect(await read(key, 'application/json')).toEqual({ ...short, components: parts });
    expect(await read(key, v2)).toEqual({ ...short, details: parts });
  });

  it('has the groups in the open and the parts for a key', async () => {
    const { app, send } = await createTestApp();
    for (const [group, part] of [
      ['liveness', 'livenessState'],
      ['readiness', 'readinessState'],
    ]) {
      // a group never looks at credentials, so that a probe does not wait for the database that holds them
      for (const ask of [app.request, send])
        expect(await (await ask(`/actuator/health/${group}`)).json()).toEqual({ status: 'UP' });
      expect(await (await send(`/actuator/health/${group}/${part}`)).json()).toEqual({ status: 'UP' });
      expect((await app.request(`/actuator/health/${group}/${part}`)).status).toBe(404);
    }
    for (const [name, part] of Object.entries(parts)) {
      expect(await (await send(`/actuator/health/${name}`)).json()).toEqual(part);
      expect((await app.request(`/actuator/health/${name}`)).status).toBe(404);
    }
    for (const path of ['none', 'db/none', 'liveness/db', 'toString', 'db/details/x']) {
      expect([path, (await send(`/actuator/health/${path}`)).status]).toEqual([path, 404]);
    }
  });

  it.each([
    ['DOWN', 503, 'DOWN'],
    ['OUT_OF_SERVICE', 503, 'OUT_OF_SERVICE'],
    ['UNKNOWN', 200, 'UP'],
  ] as const)('with a part that is %s answers %i', async (status, code, summary) => {
    const { app, send, adapters } = await createTestApp();
    adapters.healthStates.db = { status };
    const answer = await app.request('/actuator/health');
    expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([code, summary]);
    expect((await send('/actuator/health/db')).status).toBe(code);
    expect((await app.request('/actuator/health/liveness')).status).toBe(200);
    expect((await app.request('/actuator/health/readiness')).status).toBe(200);
  });

  it('is not ready while the process drains, and still alive', async () => {
    const { app, adapters } = await createTestApp();
    adapters.healthStates.acceptsTraffic = false;
    const ready = await app.request('/actuator/health/readiness');
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'OUT_OF_SERVICE' }]);
    expect((await app.request('/actuator/health')).status).toBe(503);
    expect((await app.request('/actuator/health/liveness')).status).toBe(200);
  });
});

describe('/error', () => {
  it.each(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])(
    'shows its view for %s',
    async (method) => {
      const { app } = await createTestApp();
      const answer = await app.request('/error', { method, ...(method === 'POST' ? { body: 'x' } : {}) });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/);
      expect((await answer.text()).startsWith('<!DOCTYPE html>')).toBe(method !== 'HEAD');
    },
  );

  it('gives JSON where that is preferred', async () => {
    const { app } = await createTestApp();
    const read = async (accept: string) => await app.request('/error', { headers: { Accept: accept } });
    expect(await (await read('application/json')).json()).toEqual({
      timestamp: '2026-09-21T14:13:20.000+00:00',
      status: 999,
      error: 'None',
      path: '/error',
    });
    expect((await read('text/html,*/*;q=0.8')).headers.get('Content-Type')).toMatch(/^text\/html/);
  });

  it('repeats nothing of the request unescaped', async () => {
    const { app } = await createTestApp();
    const text = await (await app.request('/error?message=<script>alert(1)</script>&path=<b>')).text();
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<b>');
  });
});
