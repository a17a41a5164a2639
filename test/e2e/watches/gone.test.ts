/** Watches that remove what is gone (`--delete-missing`): documents go with their files, and come back with them. */
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { WatchFileRecord } from '../../../src/ports/stores/watches.ts';
import { zipped } from '../../support/service/archives.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const order = (id: number): string => `<order><id>${id}</id><city>Ghent</city></order>`;
const bytesOf = (name: string, id: number) => ({ name, bytes: Buffer.from(order(id)) });

describe('a watch that removes what is gone', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let service: RunningService;
  let watches: WatchClient;
  let sql: Sql;
  let files: string;

  beforeAll(async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
    files = join(home.directory, 'files', '1');
    await mkdir(files, { recursive: true });
  });

  const put = async (folder: string, name: string, text: string | Uint8Array, at?: Date): Promise<void> => {
    const path = join(files, folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(join(files, 'part'), text);
    if (at !== undefined) await utimes(join(files, 'part'), at, at);
    await rename(join(files, 'part'), path);
  };
  const watch = (name: string, options: Readonly<Record<string, unknown>> = {}) =>
    watches.create({
      name,
      location: name,
      target: `metadb:${name}`,
      options: { '-S': 'm', '--delete-missing': true, ...options },
      every: '1s',
      settle: '0s',
    });
  const documents = (sqlSchema: string): Promise<string[]> =>
    sql`select name from ${sql(sqlSchema)}._documents order by 1`
      .then((rows) => rows.map((row) => row['name'] as string))
      .catch(() => []);
  const holds = async (sqlSchema: string, names: readonly string[]): Promise<void> => {
    await eventually(`${names.join(', ')} in ${sqlSchema}`, async () =>
      (await documents(sqlSchema)).join() === names.join() ? true : null,
    );
  };
  const stateOf = (id: number, name: string, status: WatchFileRecord['status']): Promise<WatchFileRecord> =>
    eventually(`${name} ${status}`, async () => {
      const found = await watches.files(id);
      return found.find((file) => file.name === name && file.status === status) ?? null;
    });

  it('removes documents, parts of an archive among them, and takes back what comes back as it was', async () => {
    const then = new Date('2026-01-02T03:04:05Z');
    await put('orders', 'a.xml', order(1), then);
    await put('orders', 'b.xml', order(2));
    await put('orders', 'c.zip', zipped([bytesOf('1.xml', 3), bytesOf('in/2.xml', 4)]));
    const { id_watch: id } = await watch('orders');
    await holds('orders', ['a.xml', 'b.xml', 'c.zip/1.xml', 'c.zip/in/2.xml']);
    await rm(join(files, 'orders', 'a.xml'));
    await rm(join(files, 'orders', 'c.zip'));
    await holds('orders', ['b.xml']);
    expect(await sql`select id::int as id from orders."order"`).toEqual([{ id: 2 }]);
    const gone = await stateOf(id, 'a.xml', 'ignored');
    expect(gone.reason).toBe(`it was removed from the location: job ${gone.id_job} removed its documents`);
    expect(await service.client.job(gone.id_job!)).toMatchObject({ status: 'C' });
    await put('orders', 'a.xml', order(1), then);
    await holds('orders', ['a.xml', 'b.xml']);
    await stateOf(id, 'a.xml', 'loaded');
    expect(await watches.get(id)).toMatchObject({
      stalled: null,
      files: { waiting: 0, loading: 0, loaded: 2, rejected: 0, ignored: 1 },
    });
  });

  it('a document that came again in another file, by its key, is of that file', async () => {
    await put('moved', 'old.xml', order(1));
    await put('moved', 'other.xml', order(2));
    const { id_watch: id } = await watch('moved', { '--key': '/order/id' });
    await holds('moved', ['old.xml', 'other.xml']);
    await watches.change(id, { paused: true });
    await put('moved', 'new.xml', order(1));
    await watches.change(id, { paused: false, max_files: 1 });
    await stateOf(id, 'new.xml', 'loaded');
    await holds('moved', ['new.xml', 'other.xml']);
    await rm(join(files, 'moved', 'old.xml'));
    await stateOf(id, 'old.xml', 'ignored');
    expect(await documents('moved')).toEqual(['new.xml', 'other.xml']);
    expect(await sql`select id::int as id from moved."order" order by 1`).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('keeps what is gone with its time, by --history', async () => {
    await put('kept', 'a.xml', order(1));
    await put('kept', 'b.xml', order(2));
    const { id_watch: id } = await watch('kept', { '--history': true });
    await holds('kept', ['a.xml', 'b.xml']);
    await rm(join(files, 'kept', 'a.xml'));
    await stateOf(id, 'a.xml', 'ignored');
    expect(await sql`select name, valid_to is null as current from kept._documents order by name`).toEqual([
      { name: 'a.xml', current: false },
      { name: 'b.xml', current: true },
    ]);
    expect(await sql`select id::int as id from kept.order_current`).toEqual([{ id: 2 }]);
  });

  it('a file that is unpacked where it lies stays, and one that is rejected holds no removal up', async () => {
    await put('packed', 'a.xml.gz', gzipSync(order(1)));
    await put('packed', 'b.xml', order(2));
    const { id_watch: id } = await watch('packed');
    await holds('packed', ['a.xml', 'b.xml']);
    await put('packed', 'a.xml', order(1));
    await stateOf(id, 'a.xml', 'loaded');
    await rm(join(files, 'packed', 'a.xml.gz'));
    await put('packed', 'bad.xml', '<order>');
    await rm(join(files, 'packed', 'b.xml'));
    await stateOf(id, 'bad.xml', 'rejected');
    await stateOf(id, 'b.xml', 'ignored');
    await stateOf(id, 'a.xml.gz', 'loaded');
    expect(await documents('packed')).toEqual(['a.xml']);
  });

  it('needs no documents for it, where tables are drawn by what documents have', async () => {
    await put('pruned', 'a.xml', order(1));
    await put('pruned', 'b.xml', order(2));
    const { id_watch: id } = await watch('pruned', { '--prune': true });
    await holds('pruned', ['a.xml', 'b.xml']);
    await rm(join(files, 'pruned', 'a.xml'));
    await stateOf(id, 'a.xml', 'ignored');
    expect(await documents('pruned')).toEqual(['b.xml']);
  });

  it('removes no more once it is not asked to', async () => {
    await put('changed', 'a.xml', order(1));
    await put('changed', 'b.xml', order(2));
    const { id_watch: id } = await watch('changed');
    await holds('changed', ['a.xml', 'b.xml']);
    // so long that nothing is removed before the watch is changed
    await watches.change(id, { settle: '1d' });
    await rm(join(files, 'changed', 'a.xml'));
    await stateOf(id, 'a.xml', 'waiting');
    await watches.change(id, { settle: '0s', options: { '-S': 'm' } });
    await stateOf(id, 'a.xml', 'loaded');
    expect(await documents('changed')).toEqual(['a.xml', 'b.xml']);
  });
});
