/** The service inside other servers, by the examples of the README: the main job over real HTTP below a prefix. */
import type { AddressInfo, Server } from 'node:net';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as insideExpress from '../../scripts/examples/inside-express.ts';
import * as insideFastify from '../../scripts/examples/inside-fastify.ts';
import * as insideHono from '../../scripts/examples/inside-hono.ts';
import * as insideNodeHttp from '../../scripts/examples/inside-node-http.ts';
import { openService } from '../../src/runtime/open-service.ts';
import { createServiceClient, execution, type ServiceClient } from '../support/service-client.ts';
import { freightDocumentFolder } from '../support/service-fixtures.ts';
import { createServiceHome, type ServiceHome } from '../support/service.ts';

interface Host {
  readonly server: unknown;
  close(): Promise<void>;
}

const hosts: Readonly<Record<string, { startHost(home: string, port: number): Promise<Host> }>> = {
  Hono: insideHono,
  Express: insideExpress,
  Fastify: insideFastify,
  'node:http': insideNodeHttp,
};

async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(Object.keys(hosts))('inside %s', { timeout: 120_000 }, (name) => {
  let home: ServiceHome;
  let host: Host;
  let url: string;
  let client: ServiceClient;

  beforeAll(async () => {
    home = await createServiceHome();
    host = await hosts[name]!.startHost(home.directory, 0);
    url = await addressOf(host.server as Server);
    const key = (await readFile(join(home.directory, 'admin.key'), 'utf8')).trim();
    client = createServiceClient(`${url}/convert`, key);
  }, 120_000);

  afterAll(async () => {
    await host?.close();
    await home?.remove();
  });

  it('leaves the host its own pages', async () => {
    expect(await (await fetch(`${url}/`)).text()).toBe('the host’s own page');
  });

  it('converts: upload, job, log, tables', async () => {
    const document = new Uint8Array(await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    const path = await client.upload('xml', 'manifest.xml', document);
    const { jobs } = await client.run([execution('xml2er', path, [['-o', 'metadb:inside']])]);
    const job = await client.ended(jobs[0]!);
    expect(job).toMatchObject({ status: 'C', failure: null });
    expect(await client.log(job.id_job)).toMatch(/documents: 1 ok/);
    const schema = await client.get<{ table_count: number }>(`/v2/schema/${job.id_sch}`);
    expect(schema.table_count).toBeGreaterThan(1);
  });

  it('names itself by the address that its clients use', async () => {
    const described = await (await fetch(`${url}/convert/doc`)).json();
    expect((described as { servers: unknown }).servers).toEqual([{ url: '/convert' }]);
    const unknown = await (await client.fetch('/v2/executions/get/999999')).json();
    expect(unknown).toMatchObject({ status: 404, instance: '/convert/v2/executions/get/999999' });
    const page = await fetch(`${url}/convert/doc`, { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain('href="doc/swagger-ui.css"');
  });
});

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
    const key = (await readFile(join(home.directory, 'admin.key'), 'utf8')).trim();
    expect((await list({ Authorization: `Bearer ${key}` })).status).toBe(200);
  });
});

describe('two services in one process', { timeout: 120_000 }, () => {
  it('know nothing of each other, and leave nothing behind', async () => {
    const homes = [await createServiceHome(), await createServiceHome()];
    const before = process.getActiveResourcesInfo().length;
    const services = [];
    for (const { directory } of homes)
      services.push(await openService({ environment: { SVC_HOME: directory }, write: () => undefined }));
    const keys = await Promise.all(
      homes.map(async ({ directory }) => (await readFile(join(directory, 'admin.key'), 'utf8')).trim()),
    );
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
});
