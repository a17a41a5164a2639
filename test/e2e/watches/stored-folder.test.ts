/** Folders that are there by what lies in them alone: of the store that an installation keeps its files in, and of buckets; with `--delete-missing`. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import {
  startObjectServer,
  type ObjectServer,
  type StoreFault,
  type StoreRequest,
} from '../../support/servers/object-server.ts';
import type { ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const order = (id: number): string => `<order><id>${id}</id></order>`;
const removing = { options: { '-S': 'm', '--delete-missing': true }, every: '1s', settle: '0s' };

describe('a folder of a store that is watched', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let store: ObjectServer;
  let moved: ObjectServer;
  let client: ServiceClient;
  let watches: WatchClient;
  let sql: Sql;

  beforeAll(async () => {
    store = trial.keep(await startObjectServer(), (one) => one.end());
    moved = trial.keep(await startObjectServer(), (one) => one.end());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = store.settings;
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': [store, moved].map((one) => new URL(one.settings.endpoint).host).join(','),
      'svc.files.store': `s3://${bucket}/shared`,
      'svc.files.s3_endpoint': endpoint,
      'svc.files.s3_access_key': accessKeyId,
      'svc.files.s3_secret_key': secretAccessKey,
    });
    ({ client } = await trial.service(home));
    watches = watchClient(client);
    sql = await trial.metadb(home);
  });

  const ids = async (sqlSchema: string): Promise<number[]> =>
    (await sql`select id::int as id from ${sql(sqlSchema)}."order" order by 1`).map(
      (row) => row['id'] as number,
    );
  const reached = (id: number, status: string, count: number): Promise<unknown> =>
    eventually(`${count} ${status} files of watch ${id}`, async () => {
      const found = (await watches.files(id)).filter((file) => file.status === status);
      return found.length === count ? found : null;
    });
  const stalls = (id: number, says: RegExp): Promise<unknown> =>
    eventually(`a stall of watch ${id}`, async () => {
      await client.post(`/v2/watches/${id}/run`, {});
      const { stalled } = await watches.get(id);
      return stalled !== null && says.test(stalled) ? true : null;
    });
  const looked = async (id: number): Promise<void> => {
    const before = (await watches.get(id)).last_run;
    await eventually('a look', async () => ((await watches.get(id)).last_run !== before ? true : null));
  };
  it('is empty before its first file and without its last, and takes what comes next', async () => {
    const { id_watch: id } = await watches.create({
      ...removing,
      name: 'orders',
      location: 'orders',
      target: 'metadb:orders',
      pattern: '**',
    });
    await looked(id);
    store.put('shared/files/1/orders/', '');
    store.put('shared/files/1/orders/a.xml', order(1));
    store.put('shared/files/1/orders/deep/b.xml', order(2));
    await reached(id, 'loaded', 2);
    for (const name of ['', 'a.xml', 'deep/b.xml']) store.remove(`shared/files/1/orders/${name}`);
    await reached(id, 'ignored', 2);
    expect(await ids('orders')).toEqual([]);
    store.put('shared/files/1/orders/c.xml', order(3));
    await reached(id, 'loaded', 1);
    expect(await ids('orders')).toEqual([3]);
    expect(await watches.get(id)).toMatchObject({ stalled: null, files: { rejected: 0, ignored: 2 } });
  });

  it('that must not be looked at, or whose list lies, loses nothing', async () => {
    store.put('shared/files/1/kept/a.xml', order(1));
    const { id_watch: id } = await watches.create({
      ...removing,
      name: 'kept',
      location: 'kept',
      target: 'metadb:kept',
    });
    await reached(id, 'loaded', 1);
    store.setFaults(ofFolder('shared/files/1/kept', xml(404, 'NoSuchBucket')));
    await stalls(id, /bucket/);
    store.setFaults(ofFolder('shared/files/1/kept', xml(403, 'AccessDenied')));
    await stalls(id, /AccessDenied/);
    const empty = { status: 200, body: '<ListBucketResult></ListBucketResult>' };
    store.setFaults(ofFolder('shared/files/1/kept', { told: () => empty }));
    await watches.change(id, { paused: false });
    await eventually('no stall', async () => ((await watches.get(id)).stalled === null ? true : null));
    await looked(id);
    await looked(id);
    store.setFaults(() => null);
    await reached(id, 'loaded', 1);
    expect(await ids('kept')).toEqual([1]);
  });

  it('that is empty at another endpoint than its files had is asked about', async () => {
    const { bucket, accessKeyId, secretAccessKey } = store.settings;
    const credential = (at: ObjectServer) => ({
      name: 'inbox',
      kind: 's3',
      endpoint: at.settings.endpoint,
      access_key: accessKeyId,
      secret_key: secretAccessKey,
    });
    expect((await client.post('/v2/admin/credentials', credential(store))).status).toBe(201);
    store.put('inbox/a.xml', order(1));
    store.put('inbox/2026_$folder$', '');
    const { id_watch: id } = await watches.create({
      ...removing,
      name: 'inbox',
      location: `s3://${bucket}/inbox/`,
      pattern: '**',
      credential: 'inbox',
      target: 'metadb:inbox',
    });
    await reached(id, 'loaded', 1);
    expect(await watches.files(id)).toHaveLength(1);
    await client.fetch('/v2/admin/credentials/inbox', { method: 'DELETE' });
    expect((await client.post('/v2/admin/credentials', credential(moved))).status).toBe(201);
    await stalls(id, /it is empty, and its files lay in another store/);
    expect(await ids('inbox')).toEqual([1]);
    await watches.change(id, { paused: false });
    await reached(id, 'ignored', 1);
    expect(await ids('inbox')).toEqual([]);
  });
});

/** Of a list of the folder alone. */
function ofFolder(folder: string, fault: StoreFault) {
  return ({ key, prefix }: StoreRequest): StoreFault =>
    key === '' && prefix.startsWith(folder) ? fault : null;
}

function xml(status: number, code: string): StoreFault {
  return { told: () => ({ status, body: `<Error><Code>${code}</Code></Error>` }) };
}
