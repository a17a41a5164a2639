/** The same application in workerd: what it answers itself, what it leaves to Node workers, and what it cannot do. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEdgeWorker, type EdgeWorker } from '../support/edge-worker.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../support/service.ts';
import { createServiceClient, execution, type ServiceClient } from '../support/service-client.ts';
import { freightDocumentFolder, freightXsdFolder } from '../support/service-fixtures.ts';
import { noS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { convert } from '../support/service-tools.ts';

const document = join(freightDocumentFolder, 'manifest-1.xml');

async function secretKey(home: ServiceHome): Promise<string> {
  return (await readFile(join(home.directory, 'secret.key'), 'utf8')).trim();
}

describe('at the edge, with R2 and Hyperdrive', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  let node: RunningService;
  let edge: EdgeWorker;
  let client: ServiceClient;

  beforeAll(async () => {
    home = await createServiceHome();
    node = await startService(home);
    edge = await startEdgeWorker({
      texts: { SVC_SECRET_KEY: await secretKey(home), SVC_CMD_ENABLED: 'true' },
      hyperdrive: await home.databaseUrl(),
      bucket: true,
    });
    client = createServiceClient(edge.url, node.key);
  }, 120_000);

  afterAll(async () => {
    await edge?.end();
    await node?.end('SIGTERM');
    await home?.remove();
  });

  it('answers every read as the service on Node does', async () => {
    const xsd = await convert(home, 'xsd2er', freightXsdFolder, '--name', 'freight');
    await convert(home, 'xml2er', document, '-x', String(xsd.origin), '-o', 'metadb:freight');
    const id = xsd.origin;
    const paths = [
      '/v2/executions/all',
      '/v2/schema/all',
      `/v2/schema/${id}`,
      `/v2/schema/ddl/${id}?dialect=duckdb`,
      `/v2/mapping/get/${id}`,
      `/v2/mapping/get_stats/${id}`,
      `/v2/mapping/download/${id}?format=csv`,
      `/v2/diagram/get/${id}`,
      '/v2/extensions/cil/jobs',
      '/v2/extensions/list',
      '/v2/about/org',
      '/actuator/info',
    ];
    for (const path of paths) {
      const [here, there] = await Promise.all([client.fetch(path), node.client.fetch(path)]);
      expect([path, here.status]).toEqual([path, there.status]);
      if (path !== '/actuator/info') expect(await here.text()).toBe(await there.text());
    }
  });

  it('streams uploads into the bucket, whatever their size, and keeps to their limit', async () => {
    const small = await client.upload('xml', 'small.xml', new TextEncoder().encode('<a/>'));
    expect(small).toMatch(/^uploads\/[0-9a-f]+\/small\.xml$/);
    const large = await client.upload('xml', 'large.xml', new Uint8Array(40 * 1024 * 1024).fill(32));
    expect(large).toMatch(/large\.xml$/);
    const removed = await client.fetch(`/v2/file?path=${encodeURIComponent(large)}`, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    const { body } = await client.post<{ token: string }>('/v2/file/upload/token', {
      kind: 'xml',
      max_bytes: 10,
    });
    const over = await fetch(`${edge.url}/v2/file/upload/xml?token=${body.token}&name=over.xml`, {
      method: 'POST',
      body: '<much-more-than-ten-bytes/>',
    });
    expect(over.status).toBe(413);
  });

  it('changes what can be changed without Node: activation, keys, generation of a model', async () => {
    const [schema] = await client.get<{ id_sch: number }[]>('/v2/schema/all');
    const generated = await client.fetch(`/v2/schema/generate/${schema!.id_sch}`);
    expect(generated.status).toBe(200);
    const made = await client.post<{ key: string }>('/v2/admin/keys', {
      name: 'edge',
      scopes: ['schemas:read'],
    });
    expect(made.status).toBe(201);
  });

  it('says 501 where an operation needs Node', async () => {
    const path = await client.upload('xsd', 'order.xsd', new TextEncoder().encode('<x/>'));
    const create = await client.post('/v2/schema/create', { name: 'no', xsd: [path] });
    expect([create.status, create.body.code]).toEqual([501, 'runtime_unsupported']);
  });

  it('serves the reference page and its files', async () => {
    const page = await fetch(`${edge.url}/doc`, { headers: { Accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
      expect((await fetch(`${edge.url}/doc/${name}`)).status).toBe(200);
    const health = await fetch(`${edge.url}/actuator/health/readiness`);
    expect([health.status, ((await health.json()) as { status: string }).status]).toEqual([200, 'UP']);
  });

  it('answers many requests at once, each with a connection of its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => client.fetch('/v2/executions/all').then((answer) => answer.status)),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  });
});

describe('at the edge, with Node workers elsewhere', { timeout: 180_000 }, () => {
  let s3: S3Server | null;
  let home: ServiceHome;
  let node: RunningService;
  let edge: EdgeWorker;

  beforeAll(async () => {
    s3 = await startS3Server();
    if (s3 === null) return;
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3.settings;
    const store = {
      SVC_FILES_STORE: `s3://${bucket}/shared`,
      SVC_FILES_S3_ENDPOINT: endpoint,
      SVC_FILES_S3_ACCESS_KEY: accessKeyId,
      SVC_FILES_S3_SECRET_KEY: secretAccessKey,
    };
    home = await createServiceHome();
    node = await startService(home, store);
    edge = await startEdgeWorker({
      texts: {
        ...store,
        SVC_SECRET_KEY: await secretKey(home),
        SVC_CMD_ENABLED: 'true',
        SVC_METADB_URL: await home.databaseUrl(),
      },
    });
  }, 180_000);

  afterAll(async () => {
    await edge?.end();
    await node?.end('SIGTERM');
    await home?.remove();
    await s3?.end();
  });

  it('takes an upload and a job, which a worker runs; log, tables and rows are read here', async (context) => {
    if (s3 === null) return context.skip(noS3Server);
    const client = createServiceClient(edge.url, node.key);
    const path = await client.upload('xml', 'manifest.xml', new Uint8Array(await readFile(document)));
    const { jobs } = await client.run([execution('xml2er', path, [['-o', 'metadb:edge']])]);
    const job = await client.ended(jobs[0]!);
    expect(job).toMatchObject({ status: 'C', failure: null, msg_proc_qty: 1 });
    expect(await client.log(jobs[0]!)).toMatch(/documents: 1 ok/);
    const schema = await client.get<{ table_count: number }>(`/v2/schema/${job.id_sch}`);
    expect(schema.table_count).toBeGreaterThan(1);
    const followed = await client.fetch(`/v2/executions/log/${jobs[0]}`, {
      headers: { Accept: 'text/event-stream' },
    });
    expect(await followed.text()).toMatch(/event: end/);
  });
});
