/** A folder that is watched by a running service: what comes there is loaded once, whole, and in order. */
import { appendFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { JobAnswer } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const order = (id: number, more = ''): string => `<order><id>${id}</id><city>Ghent</city>${more}</order>\n`;

describe('a watched folder', { timeout: 180_000 }, () => {
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
  });

  const folder = async (name: string): Promise<string> => {
    await mkdir(join(files, name), { recursive: true });
    return join(files, name);
  };
  let parts = 0;
  /** As programs do that know of watches: written elsewhere, and moved there whole. */
  const put = async (directory: string, name: string, text: string): Promise<void> => {
    const part = join(files, `part-${(parts += 1)}`);
    await writeFile(part, text);
    await rename(part, join(directory, name));
  };
  const ids = async (sqlSchema: string): Promise<number[]> =>
    (await sql`select id::int as id from ${sql(sqlSchema)}."order" order by order_key`).map(
      (row) => row['id'] as number,
    );

  it('is loaded file by file as they come, each once, and their jobs are ordinary ones', async () => {
    const inbox = await folder('inbox');
    for (const id of [1, 2, 3]) await put(inbox, `${id}.xml`, order(id));
    const watch = await watches.create({
      name: 'orders',
      location: 'inbox',
      target: 'metadb:inbox_orders',
      every: '1s',
      settle: '0s',
    });
    expect(watch).toMatchObject({
      id_org: 1,
      order: 'name',
      on_drift: 'evolve',
      paused: false,
      stalled: null,
    });
    const first = await watches.settled(watch.id_watch, 3);
    expect(first.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['1.xml', 'loaded'],
      ['2.xml', 'loaded'],
      ['3.xml', 'loaded'],
    ]);
    expect(first.find(({ name }) => name === '2.xml')!.sha256).toBe(
      createHash('sha256').update(order(2)).digest('hex'),
    );
    const job = await service.client.job(first[0]!.id_job!);
    expect(job).toMatchObject({ status: 'C', job_type: 'Parse', parm_path_input: 'inbox' });
    expect((job as JobAnswer & { id_watch: number }).id_watch).toBe(watch.id_watch);

    await mkdir(join(inbox, 'late'));
    await put(join(inbox, 'late'), '4.xml', order(4));
    await put(inbox, '.hidden.xml', order(98));
    await put(inbox, 'notes.txt', order(99));
    await watches.settled(watch.id_watch, 4);
    expect(await ids('inbox_orders')).toEqual([1, 2, 3, 4]);
    expect(
      (await sql`select name from inbox_orders._documents order by 1`).map((row) => row['name']),
    ).toEqual(['1.xml', '2.xml', '3.xml', 'late/4.xml']);
    const record = await watches.get(watch.id_watch);
    expect(record.files).toEqual({ waiting: 0, loading: 0, loaded: 4, rejected: 0, ignored: 0, replaced: 0 });
    expect(record.last_run).toBeGreaterThan(record.created);
    expect(record.next_run).toBeGreaterThan(record.last_run!);
  });

  it('is loaded whatever the names, and what is no document has that as its reason', async () => {
    const inbox = await folder('names');
    await put(inbox, 'a.gml', order(1));
    await put(inbox, 'noext', order(2));
    await put(inbox, 'scan.bin', 'no document');
    const { id_watch: id } = await watches.create({
      name: 'names',
      location: 'names',
      target: 'metadb:names_orders',
      every: '1s',
      settle: '0s',
    });
    const met = await watches.settled(id, 3);
    expect(met.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['a.gml', 'loaded'],
      ['noext', 'loaded'],
      ['scan.bin', 'rejected'],
    ]);
    expect(met.find(({ name }) => name === 'scan.bin')!.reason).toBe('does not begin as XML does');
    expect(await ids('names_orders')).toEqual([1, 2]);
    await put(inbox, 'other.bin', 'none');
    const alone = await watches.settled(id, 4);
    expect(alone.find(({ name }) => name === 'other.bin')).toMatchObject({ status: 'rejected' });
    expect(await watches.get(id)).toMatchObject({ stalled: null });
  });

  it('a changed file is a new version, and one with the same content none', async () => {
    const inbox = await folder('changing');
    await put(inbox, 'a.xml', order(1));
    const { id_watch: id } = await watches.create({
      name: 'changing',
      location: 'changing',
      target: 'metadb:changing',
      every: '1s',
      settle: '0s',
    });
    await watches.settled(id, 1);
    await put(inbox, 'a.xml', order(1));
    const same = await watches.settled(id, 2);
    expect(same.map(({ status }) => status)).toEqual(['ignored', 'loaded']);
    expect(same[0]!.reason).toContain(`job ${same[1]!.id_job} has already loaded`);
    await put(inbox, 'a.xml', order(2));
    const changed = await watches.settled(id, 3);
    expect(changed.map(({ status }) => status)).toEqual(['loaded', 'ignored', 'loaded']);
    expect(await ids('changing')).toEqual([1, 2]);
  });

  it('a bad file is kept aside with its reason, and can be tried again', async () => {
    const inbox = await folder('bad');
    for (const id of [1, 2, 4, 5]) await put(inbox, `${id}.xml`, order(id));
    await put(inbox, '3.xml', '<order><id>3</id>');
    const { id_watch: id } = await watches.create({
      name: 'bad',
      location: 'bad',
      target: 'metadb:bad_orders',
      every: '1h',
      settle: '0s',
    });
    const found = await watches.settled(id, 5);
    const statuses = Object.fromEntries(found.map(({ name, status }) => [name, status]));
    expect(statuses).toEqual({
      '1.xml': 'loaded',
      '2.xml': 'loaded',
      '3.xml': 'rejected',
      '4.xml': 'loaded',
      '5.xml': 'loaded',
    });
    const rejected = found.find(({ name }) => name === '3.xml')!;
    expect(rejected.reason).toMatch(/line \d+, column \d+: /);
    expect(await service.client.job(rejected.id_job!)).toMatchObject({ status: 'F' });

    await put(inbox, '3.xml', order(3));
    const answer = await service.client.post(`/v2/watches/${id}/run`);
    expect(answer.status).toBe(202);
    const after = await watches.settled(id, 6);
    expect(after[0]).toMatchObject({ name: '3.xml', status: 'loaded' });
    expect((await ids('bad_orders')).toSorted()).toEqual([1, 2, 3, 4, 5]);

    const rerun = await service.client.fetch(`/v2/run/rerun/${rejected.id_job!}`);
    expect(rerun.status).toBe(409);
    expect(await rerun.text()).toContain(`/v2/watches/${id}/run`);
  });

  it('a retry loads a rejected file whose cause is gone', async () => {
    const inbox = await folder('again');
    await put(inbox, 'a.xml', '<other/>');
    await put(inbox, 'b.xml', order(1));
    const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType><xs:sequence>
      <xs:element name="id" type="xs:int"/><xs:element name="city" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
    await mkdir(join(files, 'again-xsd'));
    await writeFile(join(files, 'again-xsd', 'order.xsd'), xsd);
    const { id_watch: id } = await watches.create({
      name: 'again',
      location: 'again',
      target: 'metadb:again',
      options: { '--xsd': 'again-xsd' },
      every: '1h',
      settle: '0s',
    });
    const found = await watches.settled(id, 2);
    expect(found.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['a.xml', 'rejected'],
      ['b.xml', 'loaded'],
    ]);
    const wider = xsd.replace('</xs:schema>', '<xs:element name="other"/></xs:schema>');
    await writeFile(join(files, 'again-xsd', 'order.xsd'), wider);
    const retried = await service.client.post(`/v2/watches/${id}/run`, { retry: true, names: ['a.xml'] });
    expect(retried.status).toBe(202);
    const after = await eventually('a.xml to be loaded', async () => {
      const all = await watches.settled(id, 2);
      return all.every(({ status }) => status === 'loaded') ? all : null;
    });
    expect(after).toHaveLength(2);
    expect(await sql`select count(*)::int as n from again.other`).toEqual([{ n: 1 }]);
  });

  it('a file that is still being written waits until it has settled', async () => {
    const inbox = await folder('slow');
    const path = join(inbox, 'slow.xml');
    await writeFile(path, '<orders>');
    const { id_watch: id } = await watches.create({
      name: 'slow',
      location: 'slow',
      target: 'metadb:slow',
      every: '1d',
      settle: '1d',
    });
    const versions = new Set<string>();
    for (let part = 0; part < 4; part += 1) {
      await appendFile(path, `<order><id>${part}</id></order>`);
      const { size: written } = await stat(path);
      await service.client.post(`/v2/watches/${id}/run`);
      const [waiting] = await eventually('the file is met as it is now', async () => {
        const found = await watches.files(id);
        return found[0]?.bytes === written ? found : null;
      });
      expect(waiting).toMatchObject({ name: 'slow.xml', status: 'waiting', id_job: null });
      versions.add(waiting!.version);
    }
    expect(versions.size).toBe(4);
    await appendFile(path, '</orders>');
    await watches.change(id, { settle: '1s' });
    expect(await watches.settled(id, 1)).toMatchObject([{ name: 'slow.xml', status: 'loaded' }]);
    expect(await sql`select count(*)::int as n from slow."order"`).toEqual([{ n: 4 }]);
  });

  const drift = async (onDrift: string): Promise<void> => {
    const inbox = await folder(`drift-${onDrift}`);
    await put(inbox, '1.xml', order(1));
    const sqlSchema = `drift_${onDrift}`;
    const { id_watch: id } = await watches.create({
      name: sqlSchema,
      location: `drift-${onDrift}`,
      target: `metadb:${sqlSchema}`,
      every: '1s',
      settle: '0s',
      on_drift: onDrift,
    });
    await watches.settled(id, 1);
    await put(inbox, '2.xml', order(2, '<express>yes</express>'));
    await put(inbox, '3.xml', '<order><id>3</id></order>');
    if (onDrift === 'fail') {
      const stopped = await eventually('the stop', async () => {
        const watch = await watches.get(id);
        return watch.stalled === null ? null : watch;
      });
      expect(stopped).toMatchObject({ paused: true, next_run: null });
      expect(stopped.stalled).toContain('<express>yes</express>');
      expect(await ids(sqlSchema)).toEqual([1]);
      await watches.change(id, { on_drift: 'evolve', paused: false });
    }
    await watches.settled(id, 3);
    expect((await watches.get(id)).stalled).toBeNull();
    if (onDrift === 'keep') {
      expect(await sql`select xpath, content from ${sql(sqlSchema)}._unmapped`).toEqual([
        { xpath: '/order/express', content: '<express>yes</express>' },
      ]);
      return;
    }
    expect(await sql`select id::int as id, city, express from ${sql(sqlSchema)}."order" order by id`).toEqual(
      [
        { id: 1, city: 'Ghent', express: null },
        { id: 2, city: 'Ghent', express: 'yes' },
        { id: 3, city: null, express: null },
      ],
    );
    expect(await sql`select count(*)::int as n from ${sql(sqlSchema)}._unmapped`).toEqual([{ n: 0 }]);
  };

  it('content that the schema does not know evolves the target, is kept beside it, or pauses the watch', async () => {
    await Promise.all(['evolve', 'keep', 'fail'].map(drift));
  });

  it('a watch that is paused starts nothing, and one that is removed forgets its files', async () => {
    const inbox = await folder('paused');
    const { id_watch: id } = await watches.create({
      name: 'paused',
      location: 'paused',
      target: 'metadb:paused_orders',
      every: '1s',
      settle: '0s',
      paused: true,
    });
    await put(inbox, '1.xml', order(1));
    expect((await service.client.post(`/v2/watches/${id}/run`)).status).toBe(409);
    await delay(2500);
    expect(await watches.files(id)).toEqual([]);
    await watches.change(id, { paused: false });
    await watches.settled(id, 1);
    expect((await service.client.fetch(`/v2/watches/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await service.client.fetch(`/v2/watches/${id}/files`)).status).toBe(404);
    expect(await ids('paused_orders')).toEqual([1]);
  });

  it.each([
    ['absent', 'make it first, as SVC_HOME/files/1/absent, or name one below a folder of svc.files.roots'],
    ['uploads', 'it exists after the first upload of a file (POST /v2/file/upload/xml)'],
  ])('a folder that is not there is told where to make it: %s', async (location, advice) => {
    const watch = { name: `no ${location}`, location, target: 'metadb:absent', every: '1s' };
    await expect(watches.create(watch)).rejects.toThrow(
      `${location}: there is no such file or folder: ${advice}`,
    );
  });

  it('a folder that is gone stalls the watch, and its return goes on with it', async () => {
    const inbox = await folder('gone');
    const { id_watch: id } = await watches.create({
      name: 'gone',
      location: 'gone',
      target: 'metadb:gone_orders',
      every: '1s',
      settle: '0s',
    });
    await rm(inbox, { recursive: true });
    const stalled = await watches.stalled(id);
    expect(stalled).toMatchObject({ paused: false, stalled: 'gone: there is no such file or folder' });
    await folder('gone');
    await put(inbox, '1.xml', order(1));
    await service.client.post(`/v2/watches/${id}/run`);
    await watches.settled(id, 1);
    expect((await watches.get(id)).stalled).toBeNull();
  });
});
