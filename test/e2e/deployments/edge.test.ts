/** The same application in workerd with bindings of its own, beside the service on Node; the whole suite is in test/e2e/deployments/every-deployment.test.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEdgeWorker, type EdgeWorker } from '../../support/servers/edge-worker.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { createServiceClient, type ServiceClient } from '../../support/service/client.ts';
import { freightDocumentFolder, freightXsdFolder } from '../../support/service/fixtures.ts';
import { convert } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const document = join(freightDocumentFolder, 'manifest-1.xml');

async function secretKey(home: ServiceHome): Promise<string> {
  return (await readFile(join(home.directory, 'secret.key'), 'utf8')).trim();
}

describe('at the edge, with R2 and Hyperdrive', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let node: RunningService;
  let edge: EdgeWorker;
  let client: ServiceClient;

  beforeAll(async () => {
    home = await trial.home();
    node = await trial.service(home);
    edge = await startEdgeWorker({
      texts: { SVC_SECRET_KEY: await secretKey(home), SVC_CMD_ENABLED: 'true' },
      hyperdrive: await home.databaseUrl(),
      bucket: true,
    });
    client = createServiceClient(edge.url, node.key);
  }, 120_000);

  afterAll(async () => {
    await edge?.end();
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

  it('answers conditional requests, with the tags of the service on Node', async () => {
    for (const path of ['/v2/schema/all', '/openapi.json', '/openapi.yaml', '/doc/problems/conflict']) {
      const [here, there] = await Promise.all([client.fetch(path), node.client.fetch(path)]);
      const tag = here.headers.get('ETag')!;
      expect([path, here.status, tag]).toEqual([path, 200, there.headers.get('ETag')]);
      expect(await here.text()).toBe(await there.text());
      const again = await client.fetch(path, { headers: { 'If-None-Match': tag } });
      expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
    }
    const problem = (await (await client.fetch('/v2/schema/4711')).json()) as { help: string };
    const help = await client.fetch(new URL(problem.help, `${edge.url}/v2/schema/4711`).pathname);
    expect(help.status).toBe(200);
  });

  it(
    'streams uploads into the bucket, whatever their size, and keeps to their limit',
    needs('whole run'),
    async () => {
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
    },
  );

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

  it('answers many requests at once, each with a connection of its own', needs('whole run'), async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => client.fetch('/v2/executions/all').then((answer) => answer.status)),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  });
});
