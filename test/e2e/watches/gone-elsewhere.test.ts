/** Watches that remove what is gone (`--delete-missing`), of buckets and into every target; and places that cannot be looked at, or are others by now. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isHere, needs, some } from '../../support/needs.ts';
import { freePort } from '../../support/free-port.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import {
  startObjectServer,
  type ObjectServer,
  type StoreFault,
} from '../../support/servers/object-server.ts';
import { zipped } from '../../support/service/archives.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const order = (id: number): string => `<order><id>${id}</id><city>Ghent</city></order>`;
const bytesOf = (name: string, id: number) => ({ name, bytes: Buffer.from(order(id)) });
const mayMount = mayMountHere();

/** Options beside `-S m --delete-missing`, and the target for a name. */
interface Kind {
  readonly target: (name: string) => string;
  readonly options: Readonly<Record<string, string>>;
}

describe('a watch that removes what is gone', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;
  let store: ObjectServer;
  let bucket: string;
  let files: string;
  let mariadb: number;

  beforeAll(async () => {
    // two objects a page: what is missing of a list is a page of it
    store = trial.keep(await startObjectServer(2), (one) => one.end());
    const { endpoint, accessKeyId, secretAccessKey } = store.settings;
    bucket = `s3://${store.settings.bucket}`;
    mariadb = await freePort();
    if (isHere('whole run') && mariadbParts.every((part) => isHere(part))) {
      const server = trial.keep(await startMariadb({ port: mariadb }), (one) => one.stop());
      await server.run('CREATE DATABASE gone CHARACTER SET utf8mb4;');
    }
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': `127.0.0.1:${mariadb}`,
      'svc.sources.inbox.location': `${bucket}/`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': accessKeyId,
      'svc.sources.inbox.secret_key': secretAccessKey,
    });
    service = await trial.service(home);
    watches = watchClient(service.client);
    files = join(home.directory, 'files', '1');
    await mkdir(files, { recursive: true });
  });

  const put = async (folder: string, name: string, content: string | Uint8Array): Promise<void> => {
    const path = join(files, folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(join(files, 'part'), content);
    await rename(join(files, 'part'), path);
  };
  const watch = (name: string, location: string, kind: Kind, more: Readonly<Record<string, unknown>> = {}) =>
    watches.create({
      name,
      location,
      target: kind.target(name),
      options: { '-S': 'm', '--delete-missing': true, ...kind.options },
      every: '1s',
      settle: '0s',
      ...more,
    });
  const states = async (id: number): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      (await watches.files(id)).toReversed().map(({ name, status }) => [name, status] as const),
    );
  const reached = (id: number, wanted: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(`${JSON.stringify(wanted)} of watch ${id}`, async () => {
      const found = await states(id);
      return Object.entries(wanted).every(([name, state]) => found[name] === state) ? true : null;
    });
  /** Orders of the documents as they are written back, by name. */
  const written = async (id: number, name: string, kind: Kind): Promise<Readonly<Record<string, number>>> => {
    const { id_job: job } = (await watches.files(id)).find(({ status }) => status === 'loaded')!;
    const { id_lschma: logical } = await service.client.job(job!);
    const folder = join(home.directory, `written-${name}-${(written.calls += 1)}`);
    await convert(home, 'er2xml', '-l', String(logical), '-i', placeOf(kind.target(name)), '-o', folder);
    const names = (await readdir(folder, { recursive: true })).filter((one) => one.endsWith('.xml'));
    const texts = names.map(
      async (one) => [one, Number(/<id>(\d+)</.exec(await readFile(join(folder, one), 'utf8'))![1])] as const,
    );
    return Object.fromEntries(await Promise.all(texts));
  };
  written.calls = 0;
  /** A path of a request lies below the folder of the organisation. */
  const placeOf = (target: string): string =>
    /^\w+:/.test(target) ? target.replace(/^(sqlite|duckdb):/, `$1:${files}/`) : join(files, target);

  const postgres: Kind = { target: (name) => `metadb:${name}`, options: {} };
  const sqlite: Kind = { target: (name) => `sqlite:${name}.sqlite`, options: {} };
  const kinds: readonly (readonly [string, Kind, 'bucket' | 'folder'])[] = [
    ['a bucket into SQLite', sqlite, 'bucket'],
    ['a folder into Delta', { target: (name) => name, options: { '-f': 'delta' } }, 'folder'],
    ['a bucket into PostgreSQL', postgres, 'bucket'],
    [
      'a folder into MariaDB',
      { target: () => `mysql://root@127.0.0.1:${mariadb}/gone`, options: {} },
      'folder',
    ],
    ['a folder into DuckDB', { target: (name) => `duckdb:${name}.duckdb`, options: {} }, 'folder'],
    ['a folder into SQLite', sqlite, 'folder'],
    ['a bucket into Iceberg', { target: (name) => name, options: { '-f': 'iceberg' } }, 'bucket'],
  ];

  it.each(some(kinds, 3))('from %s', async (what, kind, from) => {
    const options = what.endsWith('MariaDB') ? needs(mariadbParts) : {};
    if (options.skip === true) return;
    const name = what.replace(/^a (\w+) into (\w+)$/, '$1_$2').toLowerCase();
    const inbox = `in_${name}`;
    const give = async (file: string, content: string | Uint8Array): Promise<void> =>
      from === 'bucket' ? store.put(`${inbox}/${file}`, content) : put(inbox, file, content);
    const take = async (file: string): Promise<void> =>
      from === 'bucket' ? store.remove(`${inbox}/${file}`) : rm(join(files, inbox, file));
    await give('a.xml', order(1));
    await give('b ü+#%?.xml', order(2));
    await give('c.zip', zipped([bytesOf('1.xml', 3), bytesOf('2.xml', 4)]));
    await give('deep/d.xml', order(5));
    const location = from === 'bucket' ? `${bucket}/${inbox}/` : inbox;
    const { id_watch: id } = await watch(name, location, kind);
    await reached(id, {
      'a.xml': 'loaded',
      'b ü+#%?.xml': 'loaded',
      'c.zip': 'loaded',
      'deep/d.xml': 'loaded',
    });
    await take('a.xml');
    await take('c.zip');
    await give('deep/d.xml', order(6));
    await reached(id, { 'a.xml': 'ignored', 'c.zip': 'ignored' });
    await watches.settled(id, 5);
    expect(await written(id, name, kind)).toEqual({ 'b ü+#%_.xml': 2, 'deep/d.xml': 6 });
    await give('a.xml', order(1));
    await reached(id, { 'a.xml': 'loaded' });
    expect(await written(id, name, kind)).toEqual({
      'a.xml': 1,
      'b ü+#%_.xml': 2,
      'deep/d.xml': 6,
    });
  });

  /** Looks at once, so often, whatever pause a failed look has. */
  const look = async (id: number, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const before = (await watches.get(id)).last_run;
      await service.client.post(`/v2/watches/${id}/run`, {});
      await eventually('a look', async () => ((await watches.get(id)).last_run !== before ? true : null));
    }
  };
  /** Looks until it is stalled, and says so; null: until nothing is in its way. */
  const stalls = async (id: number, says: RegExp | null): Promise<void> => {
    const ask = async (): Promise<{ readonly is: string | null } | null> => {
      await service.client.post(`/v2/watches/${id}/run`, {});
      const found = await watches.get(id);
      return (found.stalled === null) === (says === null) ? { is: found.stalled } : null;
    };
    // each request holds the watch for a moment in which nobody can claim it to look
    const what = `${says === null ? 'no stall' : 'a stall'} of watch ${id}`;
    const stalled = await eventually(what, ask, 100, 2000);
    if (says !== null) expect(stalled.is).toMatch(says);
  };
  const xml = { 'Content-Type': 'application/xml' };
  /** What a list of `in/` answers in the place of all there is. */
  const lists: Readonly<Record<string, readonly [fault: StoreFault, says: RegExp]>> = {
    'is refused for the moment': [{ at: 'before', answer: 503 }, /cannot be listed now/],
    'is never answered': [{ at: 'before', answer: 'hang up' }, /cannot be listed now/],
    'has a first page alone': [
      {
        told: ({ body }) => ({
          status: 200,
          body: body.replace(/<NextContinuationToken>.*?<.NextContinuationToken>/, ''),
        }),
      },
      /says that its list continues, but gives no continuation token/,
    ],
    'is cut in the middle': [
      { told: ({ body }) => ({ status: 200, body: body.slice(0, body.indexOf('</Contents>')) }) },
      /incomplete list/,
    ],
    'is cut, and says how long it was': [
      {
        told: ({ body }) => ({
          status: 200,
          headers: { 'Content-Length': body.length + 100, Connection: 'close' },
          body,
        }),
      },
      /cannot be listed now/,
    ],
    'is an error with a good status': [
      { told: () => ({ status: 200, headers: xml, body: '<Error><Code>InternalError</Code></Error>' }) },
      /an invalid or incomplete list/,
    ],
    'is of a bucket that is gone': [
      { told: () => ({ status: 404, headers: xml, body: '<Error><Code>NoSuchBucket</Code></Error>' }) },
      /there is no such bucket/,
    ],
    'is forbidden': [
      { told: () => ({ status: 403, headers: xml, body: '<Error><Code>AccessDenied</Code></Error>' }) },
      /may not be listed \(AccessDenied\)/,
    ],
  };

  it('removes nothing where a list fails or is a part of one, and goes on when it is whole again', async () => {
    const names = Object.keys(lists);
    for (const at of names.keys())
      for (const file of ['a', 'b', 'c']) store.put(`part-${at}/${file}.xml`, order(at));
    const all = await Promise.all(
      names.map((_, at) => watch(`part_${at}`, `${bucket}/part-${at}/`, postgres)),
    );
    for (const { id_watch: id } of all) await reached(id, { 'a.xml': 'loaded', 'c.xml': 'loaded' });
    store.setFaults(({ key, prefix }) => {
      const at = Number(/^part-(\d+)\/$/.exec(prefix)?.[1] ?? -1);
      return key === '' && at >= 0 ? lists[names[at]!]![0] : null;
    });
    await Promise.all(
      all.map(async ({ id_watch: id }, at) => {
        await stalls(id, lists[names[at]!]![1]);
        const { files: counts } = await watches.get(id);
        expect(counts).toEqual({
          waiting: 0,
          loading: 0,
          loaded: 3,
          rejected: 0,
          ignored: 0,
          replaced: 0,
        });
      }),
    );
    store.setFaults(() => null);
    for (const [at, { id_watch: id }] of all.entries()) {
      store.remove(`part-${at}/c.xml`);
      await stalls(id, null);
      await reached(id, { 'c.xml': 'ignored' });
      expect(Object.keys(await written(id, `part_${at}`, postgres)).toSorted()).toEqual(['a.xml', 'b.xml']);
      if (at === 1 && !isHere('whole run')) break;
    }
  });

  it('removes nothing where one object is left out of a list, and is there', async () => {
    for (const file of ['a', 'b', 'c']) store.put(`lie/${file}.xml`, order(1));
    const { id_watch: id } = await watch('lie', `${bucket}/lie/`, postgres);
    await reached(id, { 'a.xml': 'loaded', 'b.xml': 'loaded', 'c.xml': 'loaded' });
    store.setFaults(({ key, prefix }) =>
      key === '' && prefix === 'lie/'
        ? {
            told: ({ status, body }) => ({
              status,
              body: body.replace(/<Contents><Key>lie.b.*?<.Contents>/, ''),
            }),
          }
        : null,
    );
    await look(id, 2);
    store.setFaults(() => null);
    await reached(id, { 'a.xml': 'loaded', 'b.xml': 'loaded', 'c.xml': 'loaded' });
    expect(Object.keys(await written(id, 'lie', postgres)).toSorted()).toEqual(['a.xml', 'b.xml', 'c.xml']);
  });

  it('removes nothing with its folder, and what is gone from it once it is back', async () => {
    await put('away', 'a.xml', order(1));
    await put('away', 'b.xml', order(2));
    const { id_watch: id } = await watch('away', 'away', postgres);
    await reached(id, { 'a.xml': 'loaded', 'b.xml': 'loaded' });
    await rename(join(files, 'away'), join(files, 'hidden'));
    await stalls(id, /there is no such file or folder/);
    expect((await watches.get(id)).files).toMatchObject({ loaded: 2, waiting: 0, ignored: 0 });
    await rm(join(files, 'hidden', 'b.xml'));
    await rename(join(files, 'hidden'), join(files, 'away'));
    await stalls(id, null);
    await reached(id, { 'a.xml': 'loaded', 'b.xml': 'ignored' });
    expect(await written(id, 'away', postgres)).toEqual({ 'a.xml': 1 });
  });

  it(
    'removes nothing where the file system of its files is not mounted',
    needs('mounts', mayMount),
    async () => {
      const disk = await trial.folder('disk-');
      const inbox = join(files, 'mounted');
      await mkdir(inbox);
      mount('-t', 'tmpfs', 'inbox', disk);
      trial.keep(disk, async () => unmount(disk));
      await writeFile(join(disk, 'a.xml'), order(1));
      mount('--bind', disk, inbox);
      // a test that fails before its end leaves it mounted
      trial.keep(inbox, async () => spawnSync('umount', ['--lazy', inbox]));
      const { id_watch: id } = await watch('mounted', 'mounted', postgres);
      await reached(id, { 'a.xml': 'loaded' });
      unmount(inbox);
      await stalls(id, /it is empty, and its files lay on another file system.*say so by PATCH/);
      expect((await watches.get(id)).files).toMatchObject({ loaded: 1, waiting: 0, ignored: 0 });
      mount('--bind', disk, inbox);
      await stalls(id, null);
      expect((await watches.get(id)).files).toMatchObject({ loaded: 1, waiting: 0, ignored: 0 });
      unmount(inbox);
      // a person takes the empty folder at its word
      await watches.change(id, { paused: false });
      await reached(id, { 'a.xml': 'ignored' });
    },
  );

  it('leaves what another place or pattern leaves out, and knows it again', async () => {
    await put('first', 'a.xml', order(1));
    await put('first', 'b.xml', order(2));
    await put('first', 'c.xml', order(3));
    const { id_watch: id } = await watch('moved_on', 'first', postgres);
    await reached(id, { 'a.xml': 'loaded', 'b.xml': 'loaded', 'c.xml': 'loaded' });
    await watches.change(id, { pattern: '[ab].xml' });
    await look(id, 2);
    await rm(join(files, 'first', 'c.xml'));
    await look(id, 2);
    await put('second', 'b.xml', order(2));
    await put('second', 'd.xml', order(4));
    await watches.change(id, { location: 'second', pattern: null });
    await reached(id, { 'b.xml': 'loaded', 'd.xml': 'loaded' });
    await watches.settled(id, 5);
    const all = ['a.xml', 'b.xml', 'c.xml', 'd.xml'];
    expect(Object.keys(await written(id, 'moved_on', postgres)).toSorted()).toEqual(all);
    await rm(join(files, 'second', 'b.xml'));
    await reached(id, { 'b.xml': 'ignored' });
    expect(Object.keys(await written(id, 'moved_on', postgres)).toSorted()).toEqual([
      'a.xml',
      'c.xml',
      'd.xml',
    ]);
  });
});

function mount(...words: string[]): void {
  execFileSync('mount', words);
}

/** Whoever comes finds the folder below at once, even if a look still reads above it. */
function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
}

function mayMountHere(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}
