/** What operators and strangers meet in one deployment: the actuator, the error view, the reference, problems. */
import { describe, expect, it } from 'vitest';
import type { Session } from './session.ts';

const v3 = 'application/vnd.spring-boot.actuator.v3+json';
const v2 = 'application/vnd.spring-boot.actuator.v2+json';
/** of curl, of a browser, of Spring Boot Admin */
const accepts = {
  curl: ['*/*', v3],
  browser: ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', v3],
  admin: [`${v3}, ${v2}, application/json`, v3],
  'an older admin': [`${v2}, application/json`, v2],
  program: ['application/json', 'application/json'],
} as const;

export function operationSuite(session: () => Session): void {
  const open = (path: string, init?: RequestInit): Promise<Response> =>
    session().send(session().url + path, init);

  describe('the actuator', () => {
    it('links to itself where its clients find it', async () => {
      const { url } = session();
      const { _links: links } = (await (await open('/actuator')).json()) as {
        _links: Record<string, { href: string; templated: boolean }>;
      };
      expect(links['self']!.href).toBe(`${url}/actuator`);
      expect(links['health-path']).toEqual({ href: `${url}/actuator/health/{*path}`, templated: true });
      for (const name of ['health', 'info']) {
        const followed = await session().send(links[name]!.href);
        expect([name, followed.status]).toEqual([name, 200]);
      }
    });

    it.each(Object.entries(accepts))('answers %s in the type it asks for', async (_, [accept, type]) => {
      for (const path of ['/actuator', '/actuator/info', '/actuator/health', '/actuator/health/liveness']) {
        const response = await open(path, { headers: { Accept: accept } });
        expect([path, response.status, response.headers.get('Content-Type')]).toEqual([path, 200, type]);
      }
      expect((await open('/actuator', { headers: { Accept: 'text/csv' } })).status).toBe(406);
    });

    it('tells its health to everybody, and of its parts to operators', async () => {
      const { admin, client } = session();
      expect(await (await open('/actuator/health')).json()).toEqual({
        status: 'UP',
        groups: ['liveness', 'readiness'],
      });
      // files of workerd lie in a store
      const more = session().supports('getLogfile') ? ['version'] : ['objectStore'];
      const whole = await admin.get<{ components: Record<string, { status: string }> }>('/actuator/health');
      expect(Object.keys(whole.components).toSorted()).toEqual(
        ['db', 'diskSpace', 'livenessState', 'readinessState', 'worker', ...more].toSorted(),
      );
      expect(whole.components['db']!.status).toBe('UP');
      expect((await open('/actuator/health/db')).status).toBe(404);
      // it has the scope, and is of another organisation
      expect(await client.get('/actuator/health')).not.toHaveProperty('components');
      expect(await admin.get('/actuator/health/db')).toMatchObject({ status: 'UP' });
      expect(await admin.get('/actuator/health/readiness/readinessState')).toEqual({ status: 'UP' });
      expect((await open('/actuator/health/readiness')).status).toBe(200);
    });

    it('lets operators look on: metrics one by one, settings, the log and its level', async () => {
      const { admin, client, supports } = session();
      // it has the scope, and is of another organisation
      expect((await client.fetch('/actuator/logfile')).status).toBe(403);
      const { names } = await admin.get<{ names: string[] }>('/actuator/metrics');
      for (const name of names) {
        const answer = await admin.fetch(`/actuator/metrics/${name}`);
        expect([name, answer.status]).toEqual([name, 200]);
      }
      expect(names).toEqual(expect.arrayContaining(['svc.jobs', 'svc.http.requests', 'svc.job.duration']));
      expect(await admin.get('/actuator/env/cmd.enabled')).toMatchObject({ property: { value: '******' } });
      const settings = await (await admin.fetch('/actuator/env')).text();
      expect(settings).not.toMatch(/postgres(?:ql)?:\/\//);
      if (!supports('getLogfile')) {
        expect((await admin.fetch('/actuator/logfile')).status).toBe(404);
        return;
      }
      const setLevel = (configuredLevel: string | null): Promise<Response> =>
        admin.fetch('/actuator/loggers/ROOT', {
          method: 'POST',
          headers: { 'Content-Type': v2 },
          body: JSON.stringify({ configuredLevel }),
        });
      expect((await setLevel('ERROR')).status).toBe(204);
      expect(await admin.get('/actuator/loggers')).toMatchObject({
        loggers: { ROOT: { effectiveLevel: 'ERROR' } },
      });
      expect((await setLevel(null)).status).toBe(204);
      expect(await admin.get('/actuator/loggers/ROOT')).toEqual({ effectiveLevel: 'INFO' });
      const log = await admin.fetch('/actuator/logfile', { headers: { Range: 'bytes=-1' } });
      expect([log.status, await log.text()]).toEqual(
        log.status === 206 ? [206, '\n'] : [416, expect.anything()],
      );
      expect((await admin.fetch('/actuator/logfile')).status).toBe(200);
    });

    it('has metrics for operators', async () => {
      const { admin, client } = session();
      expect((await open('/actuator/prometheus')).status).toBe(401);
      expect((await client.fetch('/actuator/prometheus')).status).toBe(403);
      const metrics = await admin.fetch('/actuator/prometheus');
      expect(metrics.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(await metrics.text()).toMatch(/^svc_jobs\{status="C"\} \d+$/m);
    });
  });

  describe('the error view', () => {
    it.each(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])('answers %s', async (method) => {
      const page = await open('/error', { method });
      expect([page.status, page.headers.get('Content-Type')]).toEqual([
        200,
        method === 'HEAD' ? expect.anything() : expect.stringMatching(/^text\/html/),
      ]);
      const text = await page.text();
      if (method === 'HEAD') return expect(text).toBe('');
      expect(text).toMatch(/^<!DOCTYPE html>/);
      const json = await open('/error', { method, headers: { Accept: 'application/json' } });
      expect(await json.json()).toMatchObject({
        status: 999,
        error: 'None',
        path: `${session().prefix}/error`,
      });
    });
  });

  describe('the host', () => {
    it('keeps its own pages', async () => {
      const { url, prefix, send } = session();
      if (prefix === '') return;
      const page = await send(`${url.slice(0, -prefix.length)}/`);
      expect([page.status, await page.text()]).toEqual([200, 'the host’s own page']);
    });
  });

  describe('a connection', () => {
    it('of the service’s own server outlives those of proxies, which are kept for a minute', async () => {
      if (session().deployment.name !== 'Node, over HTTP') return;
      const seconds = /timeout=(\d+)/.exec(
        (await open('/actuator/info')).headers.get('Keep-Alive') ?? '',
      )?.[1];
      expect(Number(seconds)).toBeGreaterThan(60);
    });
  });

  describe('the reference', () => {
    it('is a document that names its server, and a page with its own assets under a strict policy', async () => {
      const { prefix, document } = session();
      expect(document.openapi).toMatch(/^3\.1/);
      const [server] = (document as unknown as { servers: readonly { url: string }[] }).servers;
      expect(new URL(server!.url, `http://host${prefix}/doc`).pathname).toBe(`${prefix}/`);
      const page = await open('/doc', { headers: { Accept: 'text/html' } });
      expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
      expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
      const text = await page.text();
      const assets = [...text.matchAll(/(?:src|href)="(doc\/[^"]+)"/g)].map(([, path]) => path!);
      expect(assets.length).toBe(5);
      for (const asset of assets) {
        const response = await open(`/${asset}`);
        expect([asset, response.status]).toEqual([asset, 200]);
        expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(
          asset.endsWith('/page.css') ? 50 : 100,
        );
      }
      const asJson = await open('/openapi.json');
      expect(asJson.headers.get('ETag')).toMatch(/^W\/"/);
      expect(await asJson.json()).toEqual(document);
      expect((await open('/openapi.yaml')).headers.get('Content-Type')).toBe('application/yaml');
      const webhooks = (await (await open('/doc/webhooks')).json()) as { webhooks: object };
      expect(Object.keys(webhooks.webhooks)).toEqual(['jobEnded', 'watchStalled', 'fileRejected']);
      expect((await open('/doc/no-such.js')).status).toBe(404);
      expect((await open('/doc/..%2fpackage.json')).status).toBe(404);
    });
  });

  describe('an error', () => {
    it('leads to a page about its code', async () => {
      const { url } = session();
      const problem = (await (await open('/v2/schema/x')).json()) as { code: string; help: string };
      const help = new URL(problem.help, `${url}/v2/schema/x`).href;
      expect(help).toBe(`${url}/doc/problems/${problem.code}`);
      const page = await open(help.slice(url.length), { headers: { Accept: 'text/html' } });
      expect(await page.text()).toContain(`<h1><code>${problem.code}</code></h1>`);
      const list = (await (await open('/doc/problems')).json()) as readonly { code: string }[];
      expect(list.map(({ code }) => code)).toContain(problem.code);
    });
  });

  describe('the root', () => {
    it.each(['', '/'])(
      'is a page with files of its own for browsers, and an index for programs: "%s"',
      async (path) => {
        const { url, prefix, deployment } = session();
        // others hand over what is below the prefix alone
        const takesBare = ['Hono, route()', 'Hono, mount()', 'Express'].includes(deployment.name);
        if (path === '' && !takesBare) return;
        const page = await open(path, { headers: { Accept: 'text/html' } });
        expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=UTF-8']);
        expect(page.headers.get('Content-Security-Policy')).toContain("require-trusted-types-for 'script'");
        const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(
          ([, file]) => new URL(file!, `${url}${path}`).href,
        );
        expect(files.map((file) => file.replace(/\.[0-9a-f]{16}\./, '.'))).toContain(`${url}/ui/main.js`);
        for (const file of files) {
          const answer = await open(file.slice(url.length));
          expect([file, answer.status]).toEqual([file, 200]);
          expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
        }
        const index = (await (await open(path)).json()) as { links: { health: string } };
        expect(index.links.health).toBe(`${prefix}/actuator/health`);
      },
    );
  });

  describe('what is refused', () => {
    const json = { 'Content-Type': 'application/json' };
    const cases: readonly (readonly [what: string, path: string, init: RequestInit, status: number])[] = [
      ['a path that leads nowhere', '/v2/nothing/here', {}, 404],
      ['an id that is no number', '/v2/executions/get/x', {}, 400],
      ['an id beyond 64 bits', '/v2/schema/9223372036854775808', {}, 400],
      ['an id that no double holds exactly', '/v2/schema/9223372036854775807', {}, 404],
      ['an encoded slash', '/v2/schema/1%2f2', {}, 400],
      ['a method that is none', '/v2/executions/all', { method: 'DELETE' }, 405],
      ['a body that is missing', '/v2/run/cmd', { method: 'POST', headers: json }, 400],
      ['a body that breaks off', '/v2/run/cmd', { method: 'POST', headers: json, body: '{"a":' }, 400],
      ['an empty object', '/v2/run/cmd', { method: 'POST', headers: json, body: '{}' }, 400],
      [
        'a member that is none',
        '/v2/run/cmd',
        { method: 'POST', headers: json, body: '{"executions":[],"surprise":1}' },
        400,
      ],
      ['a list nested deep', '/v2/run/cmd', { method: 'POST', headers: json, body: '['.repeat(50_000) }, 400],
      [
        'another media type',
        '/v2/run/cmd',
        { method: 'POST', body: '{}', headers: { 'Content-Type': 'text/plain' } },
        415,
      ],
      ['a form', '/v2/run/cmd', { method: 'POST', body: new URLSearchParams({ a: '1' }) }, 415],
      [
        'a body over its limit',
        '/v2/run/cmd',
        { method: 'POST', headers: json, body: `{"name":"${'x'.repeat(70_000)}"}` },
        413,
      ],
    ];

    it.each(cases)('%s: a problem that names the place', async (_, path, init, status) => {
      const { client, prefix } = session();
      const response = await client.fetch(path, init);
      expect(response.status).toBe(status);
      expect(response.headers.get('Content-Type')).toBe('application/problem+json');
      expect(response.headers.get('X-Request-Id')).toMatch(/./);
      const problem = (await response.json()) as Record<string, unknown>;
      expect(problem).toMatchObject({
        type: `urn:svc:problem:${problem['code'] as string}`,
        status,
        request_id: response.headers.get('X-Request-Id'),
      });
      expect(problem['instance']).toBe(prefix + path);
      expect(problem['path']).toBe(prefix + path);
      if (status === 405) expect(response.headers.get('Allow')).toMatch(/GET/);
    });

    it('does not forbid HEAD where nothing is changed', async () => {
      const { client, conversion } = session();
      for (const path of ['/v2/executions/all', `/v2/schema/ddl/${conversion.idSch}`, '/actuator/health']) {
        const response = await client.fetch(path, { method: 'HEAD' });
        expect([path, response.status, await response.text()]).toEqual([path, 200, '']);
      }
    });

    it('no page of a foreign origin may use the interface', async () => {
      const preflight = await open('/v2/run/cmd', {
        method: 'OPTIONS',
        headers: { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' },
      });
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull();
    });

    it('gives no secret of the installation away', async () => {
      const { document, client } = session();
      const { databaseUrl } = { databaseUrl: /postgres(?:ql)?:\/\/[^"\s]*@/ };
      for (const text of [
        JSON.stringify(document),
        await (await open('/actuator/info')).text(),
        await (await client.fetch('/actuator/health')).text(),
        await (await client.fetch('/v2/extensions/list')).text(),
      ])
        expect(text).not.toMatch(databaseUrl);
    });
  });
}
