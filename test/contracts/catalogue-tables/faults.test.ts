/** A catalogue that fails, tells nothing, has others who write, or cannot change several tables at once: no row is lost, none is there twice. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CatalogueLakeOptions } from '../../../src/targets/files/lake/catalogue/tables.ts';
import { icebergFormat } from '../../../src/targets/files/lake/iceberg/table.ts';
import type { TableVersion } from '../../../src/targets/files/lake/table-format.ts';
import { AppError } from '../../../src/errors.ts';
import { isHere, some } from '../../support/needs.ts';
import {
  startIcebergCatalogue,
  type CatalogueFault,
  type IcebergCatalogue,
  type IcebergCatalogueOptions,
} from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { changeBook, expectCatalogueJobs, libraryCatalogue, loadCatalogue } from './library-catalogue.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

let server: ObjectServer;
let catalogue: IcebergCatalogue;
let folder: string;

beforeEach(async () => {
  server = await startObjectServer();
  catalogue = await startIcebergCatalogue(server);
  folder = await mkdtemp(join(tmpdir(), 'catalogue-faults-'));
});
afterEach(async () => {
  await catalogue.end();
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

async function startOther(options: IcebergCatalogueOptions): Promise<void> {
  await catalogue.end();
  catalogue = await startIcebergCatalogue(server, options);
}

const load = (job: number, more: Partial<CatalogueLakeOptions> = {}): ReturnType<typeof loadCatalogue> =>
  loadCatalogue(catalogue.address, server.settings, folder, libraryPlan(job), more);

/** Tried again as a worker does, under the same number. Answers how often. */
async function loadUntilThere(job: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      await load(job);
      return tries;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'service_unavailable' || tries > 40) throw error;
    }
  }
}

const expectJobs = (jobs: readonly number[]): Promise<void> =>
  expectCatalogueJobs(server, join(folder, `copy ${Math.random()}`), jobs);
const commits = (): readonly (readonly string[])[] =>
  catalogue.calls.flatMap(({ tables }) => (tables.length === 0 ? [] : [tables]));

const faults: readonly NonNullable<CatalogueFault>[] = [
  { at: 'after', answer: 500 },
  { at: 'after', answer: 'hang up' },
  { at: 'before', answer: 503 },
  { at: 'after', answer: 504 },
  { at: 'before', answer: 'hang up' },
  { at: 'before', answer: 429 },
];

test.each(some(faults, 2).map((fault) => [JSON.stringify(fault), fault] as const))(
  'a change whose first try fails: %s',
  async (_, fault) => {
    const failed = new Set<string>();
    catalogue.setFaults(({ method, path, tables }) => {
      const key = `${method} ${path} ${tables.join()}`;
      if (failed.has(key)) return null;
      failed.add(key);
      return fault;
    });
    for (const job of [1, 2]) {
      failed.clear();
      expect(await loadUntilThere(job)).toBe(1);
    }
    await expectJobs([1, 2]);
  },
);

test('somebody else’s version comes first: the job goes on from that', async () => {
  await load(1);
  let isTaken = false;
  catalogue.setFaults(({ tables }) => {
    if (!tables.includes('book') || isTaken) return null;
    isTaken = true;
    changeBook(catalogue);
    return null;
  });
  await load(2);
  expect(isTaken).toBe(true);
  await expectJobs([1, 2]);
  const told = catalogue.tables.get('book')!.snapshots.map((snapshot) => snapshot['sequence-number']);
  expect(told).toEqual([1, 2, 3]);
  expect(catalogue.tables.get('_loads')!.snapshots).toHaveLength(2);
});

test('somebody else is first many times: versions of other tables are made once, and committed with the last try', async () => {
  await load(1);
  let left = 8;
  catalogue.setFaults(({ tables }) => {
    if (tables.includes('book') && left > 0) {
      left -= 1;
      changeBook(catalogue);
    }
    return null;
  });
  const made: string[] = [];
  server.setFaults(({ method, key }) => {
    if (method === 'PUT' && key.endsWith('.avro')) made.push(/([^/]+)\/metadata\//.exec(key)![1]!);
    return null;
  });
  await load(2);
  expect(left).toBe(0);
  expect(made.filter((table) => table === 'book')).toHaveLength(2 * 9);
  expect(made.filter((table) => table === '_documents')).toHaveLength(2);
  await expectJobs([1, 2]);
  const manifests = [...server.objects.keys()].filter((key) => key.endsWith('.avro'));
  expect(manifests.filter((key) => key.includes('/_documents/'))).toHaveLength(4);
  expect(manifests.filter((key) => key.includes('/_loads/'))).toHaveLength(4);
});

test('a catalogue that tells of another writer, of whom nothing is seen, is not asked for ever', async () => {
  catalogue.setFaults(({ tables }) => (tables.length > 0 ? { at: 'before', answer: 409 } : null));
  await expect(load(1)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(commits()).toHaveLength(5);
  catalogue.setFaults(() => null);
  await load(2);
  await expectJobs([1, 2]);
});

test('a table that a dead attempt made, and others gave rows, takes those of jobs beside them', async () => {
  server.setFaults(({ method, key }) =>
    key.includes('.svc-steps/') && method === 'PUT' ? { at: 'before', answer: 403 } : null,
  );
  await expect(load(1)).rejects.toMatchObject({ code: 'service_unavailable' });
  server.setFaults(() => null);
  const look = (): Promise<TableVersion | null> =>
    libraryCatalogue(catalogue.address, server.settings, join(folder, 'look')).look((place) =>
      icebergFormat.readTable(place, 'book', 'book'),
    );
  await libraryCatalogue(catalogue.address, server.settings, folder).look(async (place) => {
    const made = (await icebergFormat.readTable(place, 'book', 'book'))!;
    expect(made.isUnused).toBe(true);
    await icebergFormat.commit(place, 'book', 'book', made, {
      name: 'book',
      comment: '',
      fields: made.fields,
      partitioning: [],
      operation: 'append',
      removed: [],
      added: [
        {
          name: 'theirs.parquet',
          bytes: 1,
          stats: '{"numRecords":1,"minValues":{"book_key":500},"maxValues":{"book_key":500}}',
        },
      ],
      job: 1,
      jobUuid: uuidOfJob(1, 'theirs'),
      installation: 'theirs',
      versions: null,
      drafts: folder,
      run: () => Promise.reject(new Error('nothing to run')),
    });
  });
  // they leave no mark of a job
  catalogue.change('book', ({ properties }) => ({
    properties: Object.fromEntries(
      Object.entries(properties).filter(([name]) => !name.endsWith('/last-job')),
    ),
  }));
  for (const job of [1, 2]) await load(job);
  const files = [...(await look())!.files];
  expect(files.map(([path, { rangeOf }]) => [path.replace(/-.*/, ''), ...rangeOf('book_key')!])).toEqual([
    ['data/theirs.parquet', 500n, 500n],
    ['data/1', 501n, 502n],
    ['data/2', 503n, 504n],
  ]);
});

test('a namespace that is not there holds nothing, and is not made for that', async () => {
  const { createLakeRowRemover } = await import('../../../src/targets/files/lake/remover.ts');
  const remover = createLakeRowRemover(
    libraryCatalogue(catalogue.address, server.settings, join(folder, 'none')),
  );
  const plan = { model: libraryModel, documentName: 'a.xml', idJob: 1, idSch: 1, idLschma: 2 };
  const names = { jobUuid: uuidOfJob(1), modelHash: hashOfLogical(2)! };
  await expect(
    remover.removeDocuments({ ...plan, ...names, installation: '', dryRun: false }, () =>
      Promise.resolve(true),
    ),
  ).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('no documents') as string });
  expect([...catalogue.namespaces, ...catalogue.tables.keys()]).toEqual([]);
});

test('what became of a change is never known: the attempt ends, and the next one finds it out', async () => {
  await load(1);
  catalogue.setFaults(({ tables }) => (tables.length > 0 ? { at: 'before', answer: 503 } : null));
  await expect(load(2)).rejects.toMatchObject({ code: 'service_unavailable' });
  catalogue.setFaults(() => null);
  await load(3);
  expect((await load(2)).already).toBe(true);
  await expectJobs([1, 2, 3]);
});

test('a catalogue that does not say whether it changes several tables at once is tried', async () => {
  await startOther({ together: 'untold' });
  for (const job of [1, 2]) await load(job);
  await expectJobs([1, 2]);
  expect(commits()).toHaveLength(2);
});

describe.each([
  ['says that it does not', { together: 'never' }, null],
  ['knows no such address', { together: 'untold' }, { at: 'before', answer: 404 }],
  ['has no such method', { together: 'untold' }, { at: 'before', answer: 405 }],
  [
    'has no such operation',
    { together: 'untold' },
    { at: 'before', answer: 400, type: 'UnsupportedOperationException' },
  ],
] as const)('several tables at once: a catalogue that %s', (_, options, fault) => {
  beforeEach(async () => {
    await startOther(options);
    catalogue.setFaults(({ path }) => (path.startsWith('transactions') ? fault : null));
  });

  test('has each job once, and its row of _loads last', async () => {
    for (const job of [1, 2]) await load(job);
    await expectJobs([1, 2]);
    const alone = commits().filter((tables) => tables.length === 1);
    expect(alone.at(-1)).toEqual(['_loads']);
    expect(alone.filter(([table]) => table === 'book')).toHaveLength(2);
  });

  test('a job that ended between its tables is ended by the next one', async () => {
    await load(1);
    catalogue.setFaults(({ path, tables }) => {
      if (tables.length === 1 && tables[0] === '_documents') return { at: 'before', answer: 403 };
      return path.startsWith('transactions') ? fault : null;
    });
    await expect(load(2)).rejects.toMatchObject({ code: 'target_not_allowed' });
    expect(catalogue.tables.get('book')!.snapshots).toHaveLength(2);
    expect(catalogue.tables.get('_loads')!.snapshots).toHaveLength(1);
    catalogue.setFaults(({ path }) => (path.startsWith('transactions') ? fault : null));
    await load(3);
    await expectJobs([1, 2, 3]);
  });
});

describe('who asks', () => {
  const secret = 'very-secret-of-the-client';
  const client = { id: 'loader', secret };

  test('a token that ends meanwhile is renewed', async () => {
    await startOther({ client: { ...client, uses: 9 } });
    await load(1, { login: { kind: 'client', ...client } });
    await expectJobs([1]);
    const asked = catalogue.calls.filter(({ path }) => path === 'oauth/tokens');
    expect(asked.length).toBeGreaterThan(1);
    const others = catalogue.calls.filter(({ path }) => path !== 'oauth/tokens');
    expect(others.filter(({ authorization }) => authorization?.startsWith('Bearer token-') !== true)).toEqual(
      [],
    );
  });

  test('a catalogue that knows scopes of roles alone gives a token, too', async () => {
    await startOther({ client: { ...client, scope: 'PRINCIPAL_ROLE:ALL' } });
    await load(1, { login: { kind: 'client', ...client } });
    await expectJobs([1]);
  });

  test.each([
    ['another secret', { kind: 'client', id: 'loader', secret: 'wrong-secret' }],
    ['another token', { kind: 'token', token: 'wrong-secret' }],
    ['nothing', { kind: 'none' }],
  ] as const)('is refused with %s, in words without it', async (_, login) => {
    await startOther({ client });
    const error: unknown = await load(1, { login }).then(
      () => null,
      (fault: unknown) => fault,
    );
    expect(error).toMatchObject({
      code: 'target_not_allowed',
      message: expect.stringContaining('-p') as string,
    });
    expect(String(error)).not.toMatch(/secret-of|wrong-secret/);
    expect([...server.objects.keys()]).toEqual([]);
  });

  test('is led nowhere else', async () => {
    catalogue.setFaults(() => ({
      at: 'before',
      answer: 307,
      headers: { Location: 'http://127.0.0.1:9/v1/config' },
    }));
    await expect(load(1, { login: { kind: 'token', token: 'a-token' } })).rejects.toMatchObject({
      code: 'target_not_allowed',
      message: expect.stringContaining('redirects') as string,
    });
    expect(catalogue.calls).toHaveLength(1);
  });
});

test('what the catalogue gives for its store is used, and asked for again before it ends', async () => {
  let given = 0;
  const end = { soon: true };
  await startOther({
    storeConfig: () => ({
      's3.endpoint': server.settings.endpoint,
      's3.access-key-id': `given-${(given += 1)}`,
      's3.secret-access-key': 'given-secret',
      's3.session-token': 'given-session',
      's3.session-token-expires-at-ms': String(Date.now() + (end.soon ? 1000 : 3_600_000)),
    }),
  });
  const used = new Map<string, number>();
  const openStore: CatalogueLakeOptions['openStore'] = async (location, vended) => {
    expect(vended).toMatchObject({ secretAccessKey: 'given-secret', sessionToken: 'given-session' });
    used.set(location, (used.get(location) ?? 0) + 1);
    const { createS3ObjectStore } = await import('../../../src/storage/object-store/s3.ts');
    const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/(.*)$/.exec(location) ?? [];
    return { objects: createS3ObjectStore({ ...vended!, bucket }), prefix: `${prefix}/` };
  };
  end.soon = false;
  await load(1, { openStore });
  expect([...used.values()].every((times) => times === 1)).toBe(true);
  end.soon = true;
  await load(2, { openStore });
  await expectJobs([1, 2]);
});

const rounds = isHere('whole run') ? 12 : 1;

test.each(['told', 'never'] as const)(
  'any request fails now and then, somebody else writes, too, and jobs come two at a time: at once is %s',
  { timeout: 60_000 + rounds * 60_000 },
  async (together) => {
    await startOther({ together });
    await load(999);
    catalogue.setFaults(({ tables }) => {
      const chance = Math.random();
      if (tables.includes('book') && chance > 0.7) changeBook(catalogue);
      return chance < 0.1 ? faults[Math.floor(Math.random() * faults.length)]! : null;
    });
    const jobs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const pair = [2 * round + 1, 2 * round + 2];
      await Promise.all(pair.map((job) => loadUntilThere(job)));
      jobs.push(...pair);
    }
    catalogue.setFaults(() => null);
    await loadUntilThere(1000);
    await expectJobs([...jobs, 999, 1000]);
  },
);
