/** One application, wherever it is put: by itself, below a prefix of another one, on plain node:http. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey } from '../../src/access/issue-key.ts';
import { readBuildInfo } from '../../src/adapters/node/build-info.ts';
import { createHostResolver } from '../../src/adapters/node/host-resolver.ts';
import { createNodeHealthProbe } from '../../src/adapters/node/node-health-probe.ts';
import { createPackageAssetStore } from '../../src/adapters/node/package-asset-store.ts';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { allScopes } from '../../src/ports/access-store.ts';
import type { Adapters } from '../../src/ports/adapters.ts';
import { openHome, type OpenedHome } from '../../src/runtime/open.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import type { Problem, RunAnswer } from '../support/service-client.ts';

type Send = (path: string, init?: RequestInit) => Promise<Response>;

let database: TestDatabase;
let folder: string;
let opened: OpenedHome;
let adapters: Adapters;
let key: string;
const config = readConfig({ 'cmd.enabled': 'true' });

beforeAll(async () => {
  database = await createEmptyDatabase();
  folder = await mkdtemp(join(tmpdir(), 'mounted-'));
  const environment = { SVC_HOME: folder, SVC_METADB_URL: database.url };
  opened = await openHome(environment, { role: 'service', write: () => undefined });
  adapters = {
    ...opened.adapters,
    health: createNodeHealthProbe({
      askDatabase: async () => void (await opened.sql`select 1`),
      databaseTimeoutMs: 5000,
      directory: folder,
      thresholdBytes: 1,
      runningJobs: () => 0,
      acceptsTraffic: () => true,
    }),
    assets: createPackageAssetStore(),
    runtime: { name: 'node', version: process.versions.node, capabilities: { commands: true } },
    build: await readBuildInfo(),
    hosts: createHostResolver(),
    migrations: null,
  };
  const wanted = { idOrg: 1, name: 'test', scopes: allScopes, expiresAt: null };
  ({ key } = await issueKey(adapters.access, wanted));
});

afterAll(async () => {
  await opened?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Where the application stands, and how a request gets there; `close` ends what was opened for it. */
const places: readonly {
  readonly name: string;
  readonly prefix: string;
  open(): Promise<{ readonly send: Send; close(): Promise<void> }>;
}[] = [
  {
    name: 'by itself',
    prefix: '',
    open: async () => within(createApp(adapters, config)),
  },
  {
    name: "host.route('/api', app)",
    prefix: '/api',
    open: async () => within(new Hono().route('/api', createApp(adapters, config))),
  },
  {
    name: "host.mount('/api', app.fetch)",
    prefix: '/api',
    open: async () => within(new Hono().mount('/api', createApp(adapters, config).fetch)),
  },
  {
    name: 'two deep, below a base path',
    prefix: '/a/b',
    open: async () => within(new Hono().basePath('/a').route('/b', createApp(adapters, config))),
  },
  {
    name: 'plain node:http',
    prefix: '',
    open: () => listening(createApp(adapters, config).fetch),
  },
  {
    name: "host.route('/api', app) on node:http",
    prefix: '/api',
    open: () => listening(new Hono().route('/api', createApp(adapters, config)).fetch),
  },
];

function within(app: { request(path: string, init?: RequestInit): Response | Promise<Response> }): {
  send: Send;
  close(): Promise<void>;
} {
  return { send: async (path, init) => app.request(path, init), close: async () => undefined };
}

async function listening(
  fetchRequest: (request: Request) => Response | Promise<Response>,
): Promise<{ send: Send; close(): Promise<void> }> {
  const server = createServer(getRequestListener(fetchRequest));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function withKey(init: RequestInit = {}): RequestInit {
  return {
    ...init,
    headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${key}` },
  };
}

describe.each(places)('$name', ({ prefix, open }) => {
  let send: Send;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    send = (path, init) => opened.send(prefix + path, init);
    close = () => opened.close();
  });
  afterAll(() => close());

  it('lists', async () => {
    const response = await send('/v2/executions/all', withKey());
    expect(response.status).toBe(200);
    expect(response.headers.get('X-Request-Id')).toMatch(/./);
    expect(await response.json()).toMatchObject({ page: 0, size: 20, content: expect.any(Array) });
    expect(await (await send('/v2/schema/all', withKey())).json()).toEqual([]);
    expect((await send('/v2/workflow/all/3?size=5', withKey())).status).toBe(200);
  });

  it('asks for a key', async () => {
    const response = await send('/v2/executions/all');
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer/);
    expect(response.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ code: 'unauthorized', status: 401 });
  });

  it('answers problems for what is not there, not allowed or wrong in form', async () => {
    for (const [path, status, code, method = 'GET'] of [
      ['/v2/executions/get/987654321', 404, 'not_found'],
      ['/v2/executions/get/x', 400, 'invalid_parameter'],
      ['/v2/nothing/here', 404, 'not_found'],
      ['/', 404, 'not_found'],
      ['/v2/executions/all', 405, 'method_not_allowed', 'DELETE'],
      ['/v2/run/cmd', 400, 'missing_body', 'POST'],
    ] as const) {
      const headers = { 'Content-Type': 'application/json' };
      const response = await send(path, withKey({ method, headers }));
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
      expect((await response.json()) as Problem).toMatchObject({ code, status });
    }
  });

  it('describes itself, its server being where it stands', async () => {
    const response = await send('/doc');
    expect(response.status).toBe(200);
    const document = (await response.json()) as {
      openapi: string;
      servers: { url: string }[];
      paths: object;
    };
    expect(document.openapi).toMatch(/^3\.1/);
    expect(Object.keys(document.paths)).toContain('/v2/run/cmd');
    const page = await send('/doc', { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain('doc/swagger-ui-bundle.js');
    expect((await send('/doc/swagger-ui.css')).status).toBe(200);
  });

  it('is alive without a key', async () => {
    expect((await send('/actuator/health/liveness')).status).toBe(200);
    expect(await (await send('/actuator/health')).json()).toMatchObject({ status: 'UP' });
    expect((await send('/error')).status).toBe(200);
  });

  it('takes an upload and queues a job', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const post = (path: string, body: unknown): Promise<Response> =>
      send(path, withKey({ method: 'POST', headers, body: JSON.stringify(body) }));
    const token = (await (await post('/v2/file/upload/token', { kind: 'xml' })).json()) as { token: string };
    const upload = await send(`/v2/file/upload/xml?token=${token.token}&name=a.xml`, {
      method: 'POST',
      body: '<a/>',
    });
    expect(upload.status).toBe(200);
    const path = (await upload.json()) as string;
    expect(path).toMatch(/^uploads\/[0-9a-f]+\/a\.xml$/);
    const run = await post('/v2/run/cmd', {
      executions: [{ app_name: 'xml2er', source: { file: { command: path } }, target: {} }],
    });
    const { jobs } = (await run.json()) as RunAnswer;
    const job = await send(`/v2/executions/get/${jobs[0]}`, withKey());
    expect(await job.json()).toMatchObject({ id_job: jobs[0], status: 'Q', params: path });
  });
});
