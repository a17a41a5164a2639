/** Buckets and addresses on the web that are watched, with a credential; and what one organisation sees of the watches of another. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { needs } from '../../support/needs.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { createServiceClient, type ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const s3 = await startS3Server();
const canary = 'c4nary-token-of-a-watch';
const order = (id: number): string => `<order><id>${id}</id><city>Ghent</city></order>\n`;

describe('watched addresses', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let web: Server;
  let address: string;
  let served = { text: order(1), etag: '"1"' };
  let client: ServiceClient;
  let other: ServiceClient;
  let watches: WatchClient;
  let sql: Sql;

  beforeAll(async () => {
    web = createServer(({ headers }, response) => {
      if (headers.authorization !== `Bearer ${canary}`) response.writeHead(401).end();
      else response.writeHead(200, { ETag: served.etag }).end(served.text);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(web.address() as AddressInfo).port}/feed/orders.xml`;
    const { host } = new URL(address);
    const { endpoint, bucket, accessKeyId, secretAccessKey } = s3?.settings ?? {};
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': host,
      ...(s3 === null
        ? {}
        : {
            'svc.sources.inbox.location': `s3://${bucket}/inbox`,
            'svc.sources.inbox.endpoint': endpoint!,
            'svc.sources.inbox.access_key': accessKeyId!,
            'svc.sources.inbox.secret_key': secretAccessKey!,
          }),
    });
    const service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    watches = watchClient(client);
    sql = await trial.metadb(home);
    await client.post('/v2/admin/credentials', { name: 'feed', kind: 'https', host, token: canary });
    const { body: org } = await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'second' });
    const scopes = ['jobs:run', 'jobs:read', 'admin'];
    const { body } = await client.post<{ key: string }>('/v2/admin/keys', {
      name: 'second',
      scopes,
      id_org: org.id_org,
    });
    other = createServiceClient(service.url, body.key);
  });
  afterAll(async () => {
    await new Promise((resolve) => web.close(resolve));
    await s3?.end();
  });

  const ids = async (sqlSchema: string): Promise<number[]> =>
    (await sql`select id::int as id from ${sql(sqlSchema)}."order"`)
      .map((row) => row['id'] as number)
      .toSorted((a, b) => a - b);

  it('a file on the web is loaded once, and again when its version is another', async () => {
    const watch = await watches.create({
      name: 'feed',
      location: address,
      target: 'metadb:feed',
      every: '1s',
      settle: '0s',
      credential: 'feed',
    });
    await watches.settled(watch.id_watch, 1);
    served = { text: order(2), etag: '"2"' };
    const files = await watches.settled(watch.id_watch, 2);
    expect(files.map(({ name, status }) => [name, status])).toEqual([
      ['orders.xml', 'loaded'],
      ['orders.xml', 'loaded'],
    ]);
    expect(await ids('feed')).toEqual([1, 2]);
    const told = JSON.stringify([
      await watches.get(watch.id_watch),
      files,
      await Promise.all(files.map(({ id_job: idJob }) => client.ended(idJob!))),
      await Promise.all(
        files.map(async ({ id_job: idJob }) =>
          (await client.fetch(`/v2/executions/log/${idJob}?tail=500`)).text(),
        ),
      ),
    ]);
    expect(told).not.toContain(canary);
  });

  it(
    'objects of a bucket are loaded as they come, and a broken one is kept aside',
    needs('s3 server', s3 !== null),
    async () => {
      const store = createS3ObjectStore(s3!.settings);
      const put = (key: string, text: string): Promise<number> =>
        store.write(key, new TextEncoder().encode(text));
      await put('inbox/1.xml', order(1));
      await put('outside/9.xml', order(9));
      const watch = await watches.create({
        name: 'bucket',
        location: `s3://${s3!.settings.bucket}/inbox/`,
        target: 'metadb:bucket',
        every: '1s',
        settle: '0s',
      });
      await watches.settled(watch.id_watch, 1);
      await put('inbox/deep/2.xml', order(2));
      await put('inbox/3.xml', '<order><id>3</id>');
      await put('inbox/notes.txt', 'no document');
      const files = await watches.settled(watch.id_watch, 3);
      expect(Object.fromEntries(files.map(({ name, status }) => [name, status]))).toEqual({
        '1.xml': 'loaded',
        'deep/2.xml': 'loaded',
        '3.xml': 'rejected',
      });
      expect(files.find(({ name }) => name === '3.xml')!.reason).toMatch(/^line \d+, column \d+: /);
      expect(await ids('bucket')).toEqual([1, 2]);
    },
  );

  it('another organisation sees none of it, and may have watches of the same names', async () => {
    const [mine] = (await client.get<{ content: { id_watch: number }[] }>('/v2/watches')).content;
    expect(mine).toBeDefined();
    const path = `/v2/watches/${mine!.id_watch}`;
    expect((await other.get<{ content: unknown[] }>('/v2/watches')).content).toEqual([]);
    for (const [method, at] of [
      ['GET', path],
      ['GET', `${path}/files`],
      ['POST', `${path}/run`],
      ['DELETE', path],
    ] as const) {
      const [theirs, nowhere] = await Promise.all(
        [at, at.replace(/watches.\d+/, 'watches/999999')].map(async (one) => {
          const answer = await other.fetch(one, { method });
          const { status, code, detail } = (await answer.json()) as Record<string, unknown>;
          return { status, code, detail };
        }),
      );
      expect(theirs).toEqual(nowhere);
      expect(theirs!.status).toBe(404);
    }
    const foreign = await other.post('/v2/watches', {
      name: 'feed',
      location: address,
      target: 'metadb:feed_of_others',
      every: '1h',
      credential: 'feed',
    });
    expect([foreign.status, JSON.stringify(foreign.body)]).toEqual([400, expect.stringContaining('feed')]);
    const own = await other.post('/v2/watches', {
      name: 'feed',
      location: address,
      target: 'metadb:others',
      every: '1h',
      paused: true,
    });
    expect([own.status, JSON.stringify(own.body)]).toEqual([201, expect.stringContaining('"paused":true')]);
  });
});
