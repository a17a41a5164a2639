/** Tables of a catalogue through all that jobs do to tables: the same rows are in them as in a folder, and each job is one change of the catalogue. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compactLake } from '../../../src/targets/files/lake/compaction.ts';
import { createLakeRowRemover } from '../../../src/targets/files/lake/remover.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { diskLake, type LakeTarget } from '../../../src/targets/files/lake/place.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SinkPlan } from '../../../src/ports/row-sink.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { startIcebergCatalogue, type IcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import { duckDbRows, icebergReader } from '../row-sinks/readers.ts';
import { libraryPlan, loadLibrary } from '../targets/library-rows.ts';
import { copyCatalogue, expectCatalogueJobs, libraryCatalogue, loadCatalogue } from './library-catalogue.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

let server: ObjectServer;
let catalogue: IcebergCatalogue;
let folder: string;
let scratches = 0;

beforeEach(async () => {
  server = await startObjectServer();
  catalogue = await startIcebergCatalogue(server);
  folder = await mkdtemp(join(tmpdir(), 'catalogue-loads-'));
});
afterEach(async () => {
  await catalogue.end();
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

const target = (): LakeTarget =>
  libraryCatalogue(catalogue.address, server.settings, join(folder, `scratch-${(scratches += 1)}`));
const job = (idJob: number, more: Partial<SinkPlan> = {}): ReturnType<typeof loadCatalogue> =>
  loadCatalogue(catalogue.address, server.settings, folder, libraryPlan(idJob, more));
const commits = (): readonly (readonly string[])[] =>
  catalogue.calls.flatMap(({ tables }) => (tables.length === 0 ? [] : [tables]));

async function documentsAt(version?: number): Promise<number[]> {
  const source = createLakeRowSource({ target: target(), ...(version === undefined ? {} : { version }) });
  await source.open(libraryModel);
  const documents: number[] = [];
  for await (const { key } of source.documents()) documents.push(Number(key));
  await source.close();
  return documents;
}

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) });

async function rowsOf(table: string, name: string): Promise<unknown> {
  const copy = join(folder, name);
  await copyCatalogue(server, copy, 'lake/');
  return icebergReader(copy).read(table);
}

test('each job is one change of the catalogue, and a repeated one is none', async () => {
  for (const id of [1, 2, 3]) expect((await job(id)).already).toBe(false);
  expect((await job(3)).already).toBe(true);
  expect(commits()).toHaveLength(3);
  for (const tables of commits()) {
    expect(tables).toContain('book');
    expect(tables.at(-1)).toBe('_loads');
  }
  expect([...catalogue.namespaces]).toEqual(['trial', 'trial\u001Flibrary']);
  await expectCatalogueJobs(server, join(folder, 'added'), [1, 2, 3]);
  expect(await documentsAt()).toEqual([1, 2, 3]);
  expect(catalogue.tables.get('book')!.snapshots.map(({ summary }) => summary)).toMatchObject(
    [1, 2, 3].map((id) => ({ 'svc.installation': '', 'svc.job': String(id) })),
  );
  expect(await readdir(folder, { recursive: true })).not.toContain(expect.stringContaining('.svc-staging'));
});

test('rows are those of a folder of Iceberg tables', async () => {
  const directory = join(folder, 'lake');
  for (const id of [1, 2]) {
    await job(id);
    const sink = createLakeRowSink({ target: diskLake({ directory }), format: 'iceberg' });
    await loadLibrary(sink, libraryPlan(id), 1);
    await sink.close();
  }
  for (const table of [...libraryModel.tables.map(({ name }) => name), '_documents', '_lexical', '_unmapped'])
    expect([table, await rowsOf(table, `copy of ${table}`)]).toEqual([
      table,
      await icebergReader(directory).read(table),
    ]);
});

test('a document is taken out in one change, and earlier versions have it', async () => {
  for (const id of [1, 2, 3]) await job(id);
  const before = commits().length;
  const removed = await createLakeRowRemover(target()).removeDocuments(
    {
      model: libraryModel,
      documentName: 'job 1 file 1.xml',
      idJob: 4,
      jobUuid: uuidOfJob(4),
      modelHash: hashOfLogical(2)!,
      idSch: 1,
      idLschma: 2,
      installation: '',
      dryRun: false,
    },
    () => Promise.resolve(true),
  );
  expect(removed.documents).toBe(1);
  expect(commits()).toHaveLength(before + 1);
  expect(await documentsAt()).toEqual([2, 3]);
  expect(await documentsAt(3)).toEqual([1, 2, 3]);
  expect(await documentsAt(1)).toEqual([1]);
  await expect(documentsAt(9)).rejects.toMatchObject({ code: 'not_found' });
});

test('-S o takes the place of what was there; -S e is refused; -S i leaves it; -S w makes tables alone', async () => {
  await job(1, { saveMode: 'write-schema' });
  await expect(documentsAt()).rejects.toMatchObject({ code: 'not_found' });
  expect(catalogue.tables.get('book')!.snapshots).toEqual([]);
  await job(2);
  await job(3, { saveMode: 'overwrite' });
  expect(await documentsAt()).toHaveLength(1);
  await expect(job(4, { saveMode: 'error' })).rejects.toMatchObject({ code: 'conflict' });
  await job(5, { saveMode: 'ignore' });
  expect(await documentsAt()).toHaveLength(1);
  expect(await rowsOf('book', 'overwritten')).toHaveLength(2);
});

test('a later version of a model adds columns, and the catalogue has them as another schema', async () => {
  const note = libraryModel.tables[at.note]!;
  const earlier: RelationalModel = {
    ...libraryModel,
    tables: libraryModel.tables.map((table) =>
      table === note ? { ...note, columns: note.columns.slice(0, -1) } : table,
    ),
  };
  const sink = createLakeRowSink({ target: target(), format: 'iceberg' });
  await sink.open(libraryPlan(1, { model: earlier }));
  await sink.write(at.note, new TextEncoder().encode('1\t1\t1\n'), 1);
  await sink.publish(async () => true, new Map([['note', 1]]));
  await sink.close();
  const added = note.columns.at(-1)!.name;
  expect((await job(2)).changes).toEqual([`note.${added}: added`]);
  const { schemas, ...metadata } = catalogue.tables.get('note')!;
  expect(schemas).toHaveLength(2);
  expect(metadata['current-schema-id']).toBe(1);
  expect(schemas[1]!.fields.slice(0, -1)).toEqual(schemas[0]!.fields);
  expect(schemas[1]!.fields.at(-1)).toMatchObject({ name: added, required: false });
  const rows = (await rowsOf('note', 'evolved')) as readonly Readonly<Record<string, unknown>>[];
  expect(rows).toHaveLength(2);
  expect(rows[0]![added]).toBeNull();
});

test('small files become one in one change of the catalogue', async () => {
  for (const id of [1, 2, 3]) await job(id);
  const before = commits().length;
  expect(await compactLake(target())).toContain('book: 3 files became 1');
  expect(commits()).toHaveLength(before + 1);
  expect(await documentsAt()).toEqual([1, 2, 3]);
  expect(await compactLake(target())).toEqual([]);
});

test('a catalogue that numbers columns its own way has files with its numbers', async () => {
  await catalogue.end();
  catalogue = await startIcebergCatalogue(server, { numbersBackwards: true });
  for (const id of [1, 2]) await job(id);
  await expectCatalogueJobs(server, join(folder, 'numbers'), [1, 2]);
  const { schemas } = catalogue.tables.get('book')!;
  const wanted = new Map(schemas[0]!.fields.map(({ name, id }) => [name, String(id)]));
  expect(wanted.get('book_key')).not.toBe('1');
  const files = (await readdir(join(folder, 'numbers/book/data'))).map((name) =>
    join(folder, 'numbers/book/data', name),
  );
  expect(files).toHaveLength(2);
  for (const file of files) {
    const told = await duckDbRows(':memory:', `(SELECT name, field_id FROM parquet_schema('${file}'))`);
    const columns = told.filter(({ name }) => wanted.has(name));
    expect(columns.length).toBe(wanted.size);
    for (const { name, field_id: id } of columns) expect([name, id]).toEqual([name, wanted.get(name)]);
  }
});

test('locations that end with a slash are those without it', async () => {
  await catalogue.end();
  catalogue = await startIcebergCatalogue(server, { slashes: true });
  for (const id of [1, 2]) await job(id);
  expect(catalogue.tables.get('book')!.location).toMatch(/book\/$/);
  expect([...server.objects.keys()].filter((key) => key.includes('//'))).toEqual([]);
  expect(await documentsAt()).toEqual([1, 2]);
  const lists = catalogue.tables.get('book')!.snapshots.map((snapshot) => String(snapshot['manifest-list']));
  expect(lists.filter((list) => !/^s3:\/\/[^/]+\/lake\/book\/metadata\/snap-/.test(list))).toEqual([]);
});

test('a table that somebody else has under that name is left alone', async () => {
  const space = `${catalogue.address}/v1/one/namespaces`;
  await post(space, { namespace: ['trial', 'library'] });
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'string' }] };
  const theirs = {
    name: 'book',
    schema: { ...schema, 'identifier-field-ids': [] },
    properties: { theirs: '1' },
  };
  expect((await post(`${space}/trial%1Flibrary/tables`, theirs)).status).toBe(200);
  await expect(job(1)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('book exists and was not written by a job') as string,
  });
  expect([...catalogue.tables.keys()]).toEqual(['book', '_loads']);
  expect(commits()).toEqual([]);
});

test('what an attempt made that never published is taken by the next job, with that one’s columns', async () => {
  const sink = createLakeRowSink({ target: target(), format: 'iceberg' });
  await sink.open(libraryPlan(1, { allTables: true }));
  await expect(sink.publish(() => Promise.resolve(false), new Map())).rejects.toMatchObject({
    code: 'conflict',
  });
  await sink.close();
  expect(catalogue.tables.get('book')!.snapshots).toEqual([]);
  expect(commits()).toEqual([]);
  expect((await job(2)).changes).toEqual([]);
  expect(commits()).toHaveLength(1);
  await expectCatalogueJobs(server, join(folder, 'after'), [2]);
  const { schemas } = catalogue.tables.get('book')!;
  expect(schemas.at(-1)!.fields).toContainEqual(expect.objectContaining({ name: 'isbn', required: true }));
});
