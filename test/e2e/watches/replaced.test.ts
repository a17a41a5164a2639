/** Files of a watch that bring documents of one key (`-S m`): the later one counts, and the others are said to be replaced. */
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { convert } from '../../support/service/tools.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const order = (id: number, price: number, more = ''): string =>
  `<order id="${id}"${more}><price>${price}</price></order>`;

const rows = (...all: readonly string[]): string => `<orders>${all.join('')}</orders>`;

describe('files of one key', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;
  let sql: Sql;
  let files: string;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
    files = join(home.directory, 'files', '1');
  });

  /** `at`: seconds, when the file was changed. */
  const put = async (
    folder: string,
    name: string,
    content: string | Uint8Array,
    at: number,
  ): Promise<void> => {
    await mkdir(join(files, folder), { recursive: true });
    await writeFile(join(files, 'part'), content);
    await utimes(join(files, 'part'), at, at);
    await rename(join(files, 'part'), join(files, folder, name));
  };
  const watch = async (
    name: string,
    options: Readonly<Record<string, unknown>> = {},
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<number> => {
    const made = await watches.create({
      name,
      location: name,
      target: `metadb:${name}`,
      options: { '-S': 'm', '--key': '/order/@id', ...options },
      every: '1s',
      settle: '0s',
      ...more,
    });
    return made.id_watch;
  };
  const states = async (id: number, count: number): Promise<unknown> =>
    Object.fromEntries(
      (await watches.settled(id, count)).map(({ name, status, replaced_by: by }) => [
        name,
        by === null ? status : `${status} by ${by}`,
      ]),
    );
  const prices = async (name: string): Promise<unknown> =>
    (await sql`select id::int as id, price::int as price from ${sql(name)}."order" order by id`).map(
      (row) => [row['id'], row['price']],
    );

  it.each([
    ['one job', {}],
    ['a job for each file', { max_files: 1 }],
  ])('in one look: the one that was changed last counts, then the last by name: %s', async (how, more) => {
    const name = how.replaceAll(' ', '_');
    await put(name, 'a.xml', order(1, 10), 3000);
    await put(name, 'b.xml', order(1, 20), 2000);
    await put(name, 'c.xml', order(2, 30), 1000);
    await put(name, 'd.xml', order(2, 40), 1000);
    const id = await watch(name, {}, more);
    expect(await states(id, 4)).toEqual({
      'a.xml': 'loaded',
      'b.xml': 'replaced by a.xml',
      'c.xml': 'replaced by d.xml',
      'd.xml': 'loaded',
    });
    expect(await prices(name)).toEqual([
      [1, 10],
      [2, 40],
    ]);
    expect((await watches.get(id)).files).toMatchObject({ loaded: 2, replaced: 2, rejected: 0 });
  });

  it('in later looks: a later file replaces the earlier, and an earlier one replaces no later', async () => {
    await put('looks', 'm.xml', order(1, 10), 2000);
    const id = await watch('looks');
    expect(await states(id, 1)).toEqual({ 'm.xml': 'loaded' });
    await put('looks', 'a.xml', order(1, 5), 1000);
    expect(await states(id, 2)).toEqual({ 'm.xml': 'loaded', 'a.xml': 'replaced by m.xml' });
    expect(await prices('looks')).toEqual([[1, 10]]);
    await put('looks', 'b.xml', order(1, 20), 3000);
    expect(await states(id, 3)).toEqual({
      'm.xml': 'replaced by b.xml',
      'a.xml': 'replaced by m.xml',
      'b.xml': 'loaded',
    });
    expect(await prices('looks')).toEqual([[1, 20]]);
    // the same content, changed last
    await put('looks', 'm.xml', order(1, 10), 4000);
    const all = await watches.settled(id, 4);
    expect(all.map((file) => [file.name, file.status, file.replaced_by])).toEqual([
      ['m.xml', 'loaded', null],
      ['b.xml', 'replaced', 'm.xml'],
      ['a.xml', 'replaced', 'm.xml'],
      ['m.xml', 'replaced', 'b.xml'],
    ]);
    expect(await prices('looks')).toEqual([[1, 10]]);
  });

  it('in a retry: an older file replaces no newer one', async () => {
    await put('retried', 'a.xml', order(1, 10), 1000);
    const id = await watch('retried', { '--key': '/order/@nr' });
    await put('retried', 'b.xml', order(1, 20, ' nr="7"'), 2000);
    expect(await states(id, 2)).toEqual({ 'a.xml': 'rejected', 'b.xml': 'loaded' });
    await watches.change(id, { options: { '-S': 'm', '--key': '/order/@id' } });
    await put('retried', 'b.xml', order(1, 30, ' nr="7"'), 3000);
    await watches.settled(id, 3);
    await service.client.post(`/v2/watches/${id}/run`, { retry: true });
    const all = await watches.settled(id, 3);
    expect(all.find(({ name }) => name === 'a.xml')).toMatchObject({
      status: 'replaced',
      replaced_by: 'b.xml',
    });
    expect((await prices('retried')) as unknown[]).toContainEqual([1, 30]);
    expect((await prices('retried')) as unknown[]).not.toContainEqual([1, 10]);
  });

  it('a changed file: its old version is replaced by itself', async () => {
    await put('versions', 'a.xml', order(1, 10), 1000);
    const id = await watch('versions');
    await watches.settled(id, 1);
    await put('versions', 'a.xml', order(1, 20), 2000);
    const all = await watches.settled(id, 2);
    expect(all.map(({ status, replaced_by: by }) => [status, by])).toEqual([
      ['loaded', null],
      ['replaced', 'a.xml'],
    ]);
    expect(await prices('versions')).toEqual([[1, 20]]);
  });

  it('an archive is replaced once none of its documents is left', async () => {
    const archive = zipped(
      [order(1, 10), order(2, 20), order(2, 25)].map((text, at) => ({
        name: `${at + 1}.xml`,
        bytes: new TextEncoder().encode(text),
      })),
    );
    await put('archives', 'a.zip', archive, 1000);
    const id = await watch('archives');
    expect(await states(id, 1)).toEqual({ 'a.zip': 'loaded' });
    // of one file, the later document counts
    expect(await prices('archives')).toEqual([
      [1, 10],
      [2, 25],
    ]);
    await put('archives', 'b.xml', order(1, 11), 2000);
    expect(await states(id, 2)).toEqual({ 'a.zip': 'loaded', 'b.xml': 'loaded' });
    await put('archives', 'c.xml', order(2, 22), 2000);
    expect(await states(id, 3)).toEqual({
      'a.zip': 'replaced by c.xml',
      'b.xml': 'loaded',
      'c.xml': 'loaded',
    });
    expect(await prices('archives')).toEqual([
      [1, 11],
      [2, 22],
    ]);
  });

  it('parts of files count as their files do', async () => {
    await put('parts', 'a.xml', rows(order(1, 10), order(2, 20), order(2, 21)), 2000);
    await put('parts', 'b.xml', rows(order(1, 11), order(3, 30)), 1000);
    await put('parts', 'c.xml', rows(order(2, 22), order(3, 33)), 1000);
    const id = await watch('parts', { '--row-tag': 'order' });
    expect(await states(id, 3)).toEqual({
      'a.xml': 'loaded',
      'b.xml': 'replaced by c.xml',
      'c.xml': 'loaded',
    });
    expect(await prices('parts')).toEqual([
      [1, 10],
      [2, 21],
      [3, 33],
    ]);
  });

  it.each([
    ['sqlite', 'sqlite:sqlite.sqlite', {}],
    ['delta', 'delta-orders', { '-f': 'delta' }],
  ])('in other targets, too: %s', async (kind, target, options) => {
    await put(kind, 'a.xml', order(1, 10), 2000);
    await put(kind, 'b.xml', order(1, 20), 1000);
    const id = await watch(kind, options, { target });
    expect(await states(id, 2)).toEqual({ 'a.xml': 'loaded', 'b.xml': 'replaced by a.xml' });
    await put(kind, 'c.xml', order(1, 30), 3000);
    expect(await states(id, 3)).toMatchObject({ 'a.xml': 'replaced by c.xml', 'c.xml': 'loaded' });
    await rm(join(files, `${kind}-back`), { recursive: true, force: true });
    const path = join(files, target.replace(/^sqlite:/, ''));
    const written = await convert(
      home,
      'er2xml',
      '-i',
      target.startsWith('sqlite:') ? `sqlite:${path}` : path,
      '-o',
      join(files, `${kind}-back`),
    );
    expect(written.documents).toBe(1);
  });

  it.each([
    ['metadb', 'metadb:outside'],
    ['sqlite', 'sqlite:outside.sqlite'],
    ['delta', 'outside-delta'],
  ])('by jobs outside the watch: %s', async (kind, target) => {
    const { client } = service;
    const name = `outside_${kind}`;
    const format = kind === 'delta' ? { '-f': 'delta' } : {};
    for (const id of [1, 2, 3]) await put(name, `${id}.xml`, order(id, id * 10), 1000 + id);
    const idWatch = await watch(name, format, { target });
    expect(await states(idWatch, 3)).toEqual({ '1.xml': 'loaded', '2.xml': 'loaded', '3.xml': 'loaded' });

    const run = async (job: unknown): Promise<number> => {
      const { jobs } = await client.run([job]);
      const ended = await client.ended(jobs[0]!);
      expect([ended.status, ended.failure]).toEqual(['C', null]);
      return jobs[0]!;
    };
    const formatted = Object.entries(format);
    const path = await client.upload('xml', 'correction.xml', new TextEncoder().encode(order(1, 11)));
    const merging = await run(
      execution('xml2er', path, [['-o', target], ['-S', 'm'], ['--key', '/order/@id'], ...formatted]),
    );
    expect(await states(idWatch, 3)).toEqual({
      '1.xml': 'replaced by correction.xml',
      '2.xml': 'loaded',
      '3.xml': 'loaded',
    });
    const [first] = (await watches.files(idWatch)).filter((file) => file.name === '1.xml');
    expect(first!.reason).toBe(
      `correction.xml, which has the key of its document, was loaded by job ${merging}`,
    );

    if (kind !== 'sqlite') {
      const place = kind === 'delta' ? join(files, target) : target;
      expect(await convert(home, 'unload', '-i', place, '-D', '2.xml')).toMatchObject({ documents: 1 });
      expect(await states(idWatch, 3)).toMatchObject({ '2.xml': 'ignored', '3.xml': 'loaded' });
    }

    await run(execution('xml2er', path, [['-o', target], ['-S', 'o'], ...formatted]));
    expect(await states(idWatch, 3)).toMatchObject({ '3.xml': 'ignored' });
    expect((await watches.files(idWatch)).map(({ status }) => status)).not.toContain('loaded');
  });
});
