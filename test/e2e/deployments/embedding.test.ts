/**
 * The service inside other servers: a sign-in of the host's own, prefixes of every kind, several services in one process, and nothing
 * left behind. Whatever else it does there is in test/e2e/deployments/every-deployment.test.ts.
 */
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as insideHono from '../../../examples/hono.ts';
import { openService, type OpenedService } from '../../../src/runtime/node.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { createServiceClient, execution, type Send } from '../../support/service/client.ts';
import { createServiceHome, type ServiceHome } from '../../support/service/start.ts';
import { eventually } from '../../support/service/waiting.ts';
import { needs } from '../../support/needs.ts';

/** The path of the server that an OpenAPI document names, which was read at an address. */
function serverOf(document: unknown, address: string): string {
  const [server] = (document as { servers: readonly { url: string }[] }).servers;
  return new URL(server!.url, address).pathname.replace(/\/$/, '');
}

async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function adminKey({ directory }: ServiceHome): Promise<string> {
  return (await readFile(join(directory, 'admin.key'), 'utf8')).trim();
}

describe('a host with a sign-in of its own', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  let host: Awaited<ReturnType<typeof insideHono.startHost>>;
  let url: string;

  beforeAll(async () => {
    home = await createServiceHome();
    host = await insideHono.startHost(home.directory, 0);
    url = await addressOf(host.server as unknown as Server);
  }, 120_000);

  afterAll(async () => {
    await host?.close();
    await home?.remove();
  });

  function list(headers: Record<string, string>): Promise<Response> {
    return fetch(`${url}/convert/v2/executions/all`, { headers });
  }

  it('says who asks; others need a key', async () => {
    expect((await list({})).status).toBe(401);
    expect((await list({ Cookie: 'session=stale' })).status).toBe(401);
    expect((await list({ Cookie: 'session=valid' })).status).toBe(200);
    expect((await list({ Authorization: `Bearer ${await adminKey(home)}` })).status).toBe(200);
  });

  it('has its people in the audit log', async () => {
    const headers = { Cookie: 'session=valid', 'Content-Type': 'application/json' };
    const made = await fetch(`${url}/convert/v2/file/upload/token`, {
      method: 'POST',
      headers,
      body: '{"kind":"xml"}',
    });
    expect(made.status).toBe(201);
    const audit = await fetch(`${url}/convert/v2/admin/audit`, { headers });
    expect(await audit.json()).toMatchObject({
      content: [{ actor: 'host ada', action: 'POST /v2/file/upload/token', status: 201 }],
    });
  });
});

describe('wherever it is put', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let home: ServiceHome;
  const services: OpenedService[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    home = await createServiceHome({ 'metadb.url': database.url });
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await home?.remove();
    await database?.drop();
  });

  const open = async (basePath?: string): Promise<OpenedService> => {
    const service = await openService({
      environment: { SVC_HOME: home.directory },
      write: () => undefined,
      ...(basePath === undefined ? {} : { basePath }),
    });
    services.push(service);
    return service;
  };

  it.each([
    ['two deep, below a base path', '/a/b', (app) => new Hono().basePath('/a').route('/b', app)],
    ['below what its own paths begin with', '/api/v2', (app) => new Hono().route('/api/v2', app)],
    ['below a part that varies', '/of/ada', (app) => new Hono().route('/of/:tenant', app)],
    ['behind two hosts', '/x/y', (app) => new Hono().route('/x', new Hono().route('/y', app))],
  ] satisfies [string, string, (app: OpenedService['app']) => Hono][])(
    '%s: it names itself as its clients do',
    async (_, prefix, put) => {
      const { app } = await open();
      const host = put(app);
      const send: Send = async (address, init) => host.request(address, init);
      const url = `http://host${prefix}`;
      const client = createServiceClient(url, await adminKey(home), send);
      expect(serverOf(await (await send(`${url}/doc`)).json(), `${url}/doc`)).toBe(prefix);
      const links = (await (await send(`${url}/actuator`)).json()) as {
        _links: { health: { href: string } };
      };
      expect(links._links.health.href).toBe(`${url}/actuator/health`);
      const absent = await client.fetch('/v2/executions/get/987654321');
      expect(absent.headers.get('Content-Type')).toBe('application/problem+json');
      expect(await absent.json()).toMatchObject({
        status: 404,
        instance: `${prefix}/v2/executions/get/987654321`,
      });
      expect((await client.fetch('/v2/nothing')).headers.get('Content-Type')).toBe(
        'application/problem+json',
      );
      const { body } = await client.post<{ id_key: string }>('/v2/admin/keys', {
        name: 'one',
        scopes: ['jobs:read'],
      });
      await client.fetch(`/v2/admin/keys/${body.id_key}`, { method: 'DELETE' });
      const audit = await client.get<{ content: { action: string; subject: string }[] }>('/v2/admin/audit');
      expect(audit.content[0]!.action).toBe('DELETE /v2/admin/keys/:id_key');
      expect(audit.content[0]!.subject).not.toContain(prefix);
    },
  );

  it('by itself, and told what its host takes off: the same', async () => {
    const { fetch: ask } = await open('/taken/');
    const document: unknown = await (await ask(new Request('http://host/doc'))).json();
    expect(serverOf(document, 'http://host/taken/doc')).toBe('/taken');
  });
});

describe('services in one process', { timeout: 120_000 }, () => {
  it('know nothing of each other, and leave nothing behind', needs('whole run'), async () => {
    const homes = [await createServiceHome(), await createServiceHome()];
    const before = process.getActiveResourcesInfo().length;
    const services: OpenedService[] = [];
    for (const { directory } of homes)
      services.push(await openService({ environment: { SVC_HOME: directory }, write: () => undefined }));
    const keys = await Promise.all(homes.map(adminKey));
    const statuses = await Promise.all(
      services.flatMap((service) =>
        keys.map(async (key) => {
          const headers = { Authorization: `Bearer ${key}` };
          const answer = await service.fetch(new Request('http://host/v2/executions/all', { headers }));
          return answer.status;
        }),
      ),
    );
    expect(statuses).toEqual([200, 401, 401, 200]);
    for (const service of services) await service.start();
    for (const service of services) await service.close();
    for (const home of homes) await home.remove();
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1);
  });

  it(
    'are opened and closed again and again, each with a job, and nothing adds up',
    needs('whole run'),
    async () => {
      const database = await createTestDatabase();
      const home = await createServiceHome({ 'metadb.url': database.url, 'cmd.enabled': 'true' });
      const rounds = Number(process.env['EMBEDDING_ROUNDS'] ?? 6);
      const taken: Traces[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const service = await openService({
          environment: { SVC_HOME: home.directory },
          write: () => undefined,
        });
        await service.start();
        const send: Send = async (address, init) => service.app.request(address, init);
        const client = createServiceClient('http://host', await adminKey(home), send);
        const path = await client.upload('xml', 'a.xml', new TextEncoder().encode('<a><b>1</b></a>'));
        const { jobs } = await client.run([execution('xml2er', path, [['-e', 's']])]);
        // the first half ends with its jobs done, the second in the middle of them
        if (round < rounds / 2)
          expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C', failure: null });
        await service.close();
        await service.close();
        taken.push(await traces(database));
      }
      // the first round loads modules and warms pools; from then on it is the same
      expect(taken.slice(1)).toEqual(taken.slice(1).map(() => taken[1]));
      const states = await database.sql`select distinct status from svc.job`;
      expect(
        states.map(({ status }) => status as string).filter((status) => !'CQW'.includes(status)),
      ).toEqual([]);
      await home.remove();
      await database.drop();
    },
  );
});

interface Traces {
  readonly resources: readonly string[];
  readonly listeners: readonly string[];
  readonly children: readonly string[];
  readonly connections: number;
}

/** What a service may have left in this process, in the database, and beside it. */
async function traces({ sql }: TestDatabase): Promise<Traces> {
  // a server takes a moment to notice that a connection was closed, and so does this process
  const connections = await eventually('the end of the connections', async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
       where datname = current_database() and application_name like 'conversion-job-service%'`;
    return row!.n === 0 ? 0 : null;
  });
  return {
    connections,
    resources: process.getActiveResourcesInfo().toSorted(),
    listeners: process
      .eventNames()
      .map((name) => `${String(name)} ${process.listenerCount(name)}`)
      .toSorted(),
    children: await childProcesses(),
  };
}

async function childProcesses(): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [, name = '', parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? [];
    if (parent === String(process.pid)) found.push(name);
  }
  return found.toSorted();
}
