/**
 * Two machines with homes of their own, one database and one store, which are killed while files come and go: what is there is loaded once, what is gone
 * is nowhere. Thousands of files with `npm run test:all`.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WatchRecord } from '../../src/ports/stores/watches.ts';
import { createDice } from '../contracts/merge/orders.ts';
import { isHere } from '../support/needs.ts';
import { startObjectServer, type ObjectServer } from '../support/servers/object-server.ts';
import type { TestDatabase } from '../support/servers/postgres.ts';
import { shortLeases } from '../support/service/leases.ts';
import { withoutPauses } from '../support/service/retries.ts';
import type { RunningService, ServiceHome } from '../support/service/start.ts';
import { useTrial } from '../support/service/trial.ts';
import { eventually } from '../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../support/service/watches.ts';

const [files, rounds] = isHere('whole run') ? [3000, 16] : [40, 2];

const order = (id: number): string => `<order><id>${id}</id><city>Ghent</city></order>`;

describe('watches of two machines', { timeout: 1_800_000 }, () => {
  const trial = useTrial();
  const homes: ServiceHome[] = [];
  const services: RunningService[] = [];
  let database: TestDatabase;
  let store: ObjectServer;
  let bucket: string;

  beforeAll(async () => {
    database = await trial.emptyDatabase();
    store = trial.keep(await startObjectServer(), (one) => one.end());
    const { endpoint, accessKeyId, secretAccessKey } = store.settings;
    bucket = store.settings.bucket;
    const settings = {
      'cmd.enabled': 'true',
      ...shortLeases,
      'metadb.url': database.url,
      'svc.secret.key': Buffer.alloc(32, 7).toString('base64'),
      'svc.files.store': `s3://${bucket}/shared`,
      'svc.files.s3_endpoint': endpoint,
      'svc.files.s3_access_key': accessKeyId,
      'svc.files.s3_secret_key': secretAccessKey,
      'svc.sources.inbox.location': `s3://${bucket}/inbox`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': accessKeyId,
      'svc.sources.inbox.secret_key': secretAccessKey,
    };
    for (let at = 0; at < 2; at += 1) {
      const home = await trial.home(settings);
      // the first key of the database is told to the first home alone
      if (at > 0) await copyFile(join(homes[0]!.directory, 'admin.key'), join(home.directory, 'admin.key'));
      homes.push(home);
      services.push(await trial.service(home));
    }
  }, 120_000);

  const client = (at: number): WatchClient => watchClient(services[at]!.client);
  const ids = async (sqlSchema: string): Promise<number[]> =>
    (await database.sql`select id::int as id from ${database.sql(sqlSchema)}."order" order by 1`).map(
      (row) => row['id'] as number,
    );
  const names = async (sqlSchema: string): Promise<string[]> =>
    (await database.sql`select name from ${database.sql(sqlSchema)}._documents`).map(
      (row) => row['name'] as string,
    );

  it('load each file once, and remove each that is gone, whichever is killed', async () => {
    const dice = createDice(24);
    // a folder of a store is there as long as something lies in it
    store.put('shared/files/1/orders/notes.txt', 'orders of the day');
    const common = { every: '1s', settle: '0s', max_files: Math.ceil(files / rounds / 2) };
    const appended = await client(0).create({
      ...common,
      name: 'appended',
      location: `s3://${bucket}/inbox/`,
      target: 'metadb:appended',
    });
    const merged = await client(1).create({
      ...common,
      name: 'merged',
      // below the folder of the organisation in the store of both
      location: 'orders',
      target: 'metadb:merged',
      options: { '-S': 'm', '--delete-missing': true },
    });
    const there = new Set<number>();
    let next = 0;
    for (let round = 1; round <= rounds; round += 1) {
      for (; next < Math.round((files * round) / rounds); next += 1) {
        store.put(`inbox/${next}.xml`, order(next));
        store.put(`shared/files/1/orders/${next % 7}/${next} ü.xml`, order(next));
        there.add(next);
      }
      for (let gone = dice(files / rounds / 2); gone >= 0; gone -= 1) {
        const id = dice(next);
        store.remove(`shared/files/1/orders/${id % 7}/${id} ü.xml`);
        there.delete(id);
      }
      const killed = dice(2);
      const other = client(1 - killed);
      const before = (await other.get(appended.id_watch)).files.loaded;
      // wherever in its work it is then
      await eventually('something new is loaded', async () => {
        const { loaded, loading } = (await other.get(appended.id_watch)).files;
        return loaded + loading > before || loaded === next ? true : null;
      });
      await services[killed]!.end('SIGKILL');
      await eventually('the other goes on alone', async () =>
        (await other.get(appended.id_watch)).files.loaded >= before ? true : null,
      );
      services[killed] = await trial.service(homes[killed]!);
    }
    const states = () => Promise.all([appended, merged].map(({ id_watch: id }) => client(0).get(id)));
    const isOver = (found: readonly WatchRecord[]): boolean =>
      found.every(
        ({ files: { waiting, loading }, id_job: job }) => waiting + loading === 0 && job === null,
      ) &&
      found[0]!.files.loaded === files &&
      found[1]!.files.loaded === there.size;
    let rest = await states();
    while (!isOver(rest)) {
      const before = JSON.stringify(rest.map(({ files: counts }) => counts));
      const more = eventually(`more than ${before}`, async () => {
        const found = await states();
        return isOver(found) || JSON.stringify(found.map(({ files: counts }) => counts)) !== before
          ? found
          : null;
      });
      rest = await withoutPauses(database.sql, more);
    }
    expect(rest.map(({ stalled, files: { rejected } }) => ({ stalled, rejected }))).toEqual([
      { stalled: null, rejected: 0 },
      { stalled: null, rejected: 0 },
    ]);
    expect(await ids('appended')).toEqual(Array.from({ length: files }, (_, id) => id));
    expect(new Set(await names('appended')).size).toBe(files);
    const left = [...there].toSorted((a, b) => a - b);
    expect(await ids('merged')).toEqual(left);
    expect((await names('merged')).toSorted()).toEqual(left.map((id) => `${id % 7}/${id} ü.xml`).toSorted());
  });
});
