/** One schema with all that can belong to it, moved from one installation to another, used there, and moved on. */
import { cp, mkdir, mkdtemp, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../documents/canonical-xml.ts';
import { dumpFamily } from './tables.ts';
import type { MappingAnswer, SchemaAnswer } from '../service/client.ts';
import type { RunningService, ServiceHome } from '../service/start.ts';
import { convert, runTool } from '../service/tools.ts';

export interface MovedSet {
  readonly name: string;
  /** file or folder */
  readonly xsd: string;
  /** file or folder of the next version; the same set where there is none */
  readonly nextXsd?: string;
  /** documents that are read with it */
  readonly documents: readonly string[];
}

export interface Installed {
  readonly home: ServiceHome;
  readonly service: RunningService;
  readonly sql: Sql;
}

export interface MoveFigures {
  readonly tables: number;
  readonly mappings: number;
  readonly documents: number;
  readonly bytes: number;
}

const dialects = 'postgresql duckdb sqlite mysql sqlserver oracle snowflake bigquery redshift databricks';
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><title>of our own</title></svg>';

export async function moveSet(from: Installed, to: Installed, set: MovedSet): Promise<MoveFigures> {
  const { name } = set;
  const target = `rows_${name.replaceAll(/\W/g, '_').toLowerCase().slice(-50)}`;
  const { first, loaded } = await makeFamily(from, set, target);

  const scratch = await mkdtemp(join(from.home.directory, 'moved-'));
  const packed = join(scratch, 'package');
  await migrate(from, 'export', '-x', String(first), '-o', packed);
  const imported = await migrate(to, 'import', '-i', packed);
  const arrived = imported.origin_ids!.split(', ').map(Number);
  const family = (await familyOf(from, first)).map(({ id_sch: id }) => id);
  expect(arrived).toHaveLength(family.length);

  expect(await dumpFamily(to.sql, arrived[0]!)).toEqual(await dumpFamily(from.sql, first));
  const again = join(scratch, 'again');
  await migrate(to, 'export', '-x', String(arrived.at(-1)), '-o', again);
  await expectSamePackages(again, packed);

  let mappings = 0;
  for (const [at, idSch] of family.entries())
    mappings += await expectSameAnswers(from, to, idSch, arrived[at]!);
  await expectSameLoads(from, to, set, { target, first, loaded, arrived: arrived[0]!, scratch });

  const { table_count: tables } = await from.service.client.get<SchemaAnswer>(`/v2/schema/${first}`);
  const bytes = await sizeOf(packed);
  return { tables, mappings, documents: set.documents.length, bytes };
}

/** Two versions, statistics of loads, logical schemas of three levels, an inactive branch, a natural key, a drawing. */
async function makeFamily(
  { home, service }: Installed,
  { name, xsd, nextXsd = xsd, documents }: MovedSet,
  target: string,
): Promise<{ readonly first: number; readonly loaded: number | null }> {
  const { client } = service;
  const { origin } = await convert(home, 'xsd2er', xsd, '--name', name, '-g', '3', '--missing', 'wildcard');
  const id = String(origin);
  let loaded: number | null = null;
  if (documents.length > 0) {
    ({ logical: loaded } = await convert(home, 'xml2er', ...documents, '-x', id, '-o', `metadb:${target}`));
    await convert(home, 'xml2er', ...documents, '-x', id, '-g', '1');
  }
  const next = await convert(home, 'xsd2er', nextXsd, '--parent', id, '-g', '0', '--missing', 'wildcard');
  const mappings = await client.get<MappingAnswer[]>(`/v2/mapping/get/${id}`);
  // keys are those of the newest version
  const newest = await client.get<MappingAnswer[]>(`/v2/mapping/get/${next.origin}`);
  const leaf = newest.find(({ xpath, column_name: column }) => xpath !== null && column !== null)!;
  const last = mappings.findLast(
    ({ xpath, column_name: column, key }) => xpath !== null && column !== null && key === null,
  )!;
  const made = [
    await client.post('/v2/mapping/deactivate', { id_sch: origin, ids: [last.id_map] }),
    await client.post('/v2/extensions/cil/keys/update', {
      cfxml: name,
      keys: [{ table_name: leaf.table_name, column_name: leaf.column_name, key_type: 'NK', position: 1 }],
    }),
    await client.post('/v2/diagram/svg', { id_sch: origin, svg: drawing }),
  ];
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200]);
  return { first: origin!, loaded };
}

interface TransferAnswer {
  readonly error: boolean;
  readonly origin_ids?: string;
}

async function migrate({ home }: Installed, ...words: readonly string[]): Promise<TransferAnswer> {
  const { code, stdout, stderr } = await runTool(home, 'migrate', words);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as TransferAnswer;
}

function familyOf({ service }: Installed, idSch: number): Promise<SchemaAnswer[]> {
  return service.client.get<SchemaAnswer[]>(`/v2/schema/family/${idSch}`);
}

/** Equal line by line, but for the numbers that tie their parts together. */
async function expectSamePackages(left: string, right: string): Promise<void> {
  const names = (await readdir(right)).toSorted();
  expect((await readdir(left)).toSorted()).toEqual(names);
  for (const name of names.filter((one) => one.endsWith('.ndjson'))) {
    const [a, b] = await Promise.all([left, right].map((folder) => readFile(join(folder, name), 'utf8')));
    expect([name, renumbered(a!) === renumbered(b!)]).toEqual([name, true]);
  }
}

function renumbered(part: string): string {
  const places = new Map<string, number>();
  return part.replaceAll(
    /(?<=^\{(?:"logical_schema":\d+,)?"(?:origin|logical_schema)":)\d+|(?<=^\{"origin":\d+,"parent":)\d+/gm,
    (id) => {
      const place = places.get(id) ?? places.size;
      places.set(id, place);
      return `#${place}`;
    },
  );
}

/** DDL, maps, their comparison and what is generated next, of each logical schema that answers. */
async function expectSameAnswers(
  from: Installed,
  to: Installed,
  here: number,
  there: number,
): Promise<number> {
  for (const dialect of dialects.split(' ')) {
    const [a, b] = await Promise.all([
      from.service.client.fetch(`/v2/schema/ddl/${here}?dialect=${dialect}`).then((answer) => answer.text()),
      to.service.client.fetch(`/v2/schema/ddl/${there}?dialect=${dialect}`).then((answer) => answer.text()),
    ]);
    expect([dialect, a === b, a.length > 100]).toEqual([dialect, true, true]);
  }
  const map = async ({ service }: Installed, id: number): Promise<string> =>
    JSON.stringify(await service.client.get<MappingAnswer[]>(`/v2/mapping/get/${id}`)).replaceAll(
      /"id_(?:map|sch|lschma|tab)":\d+/g,
      '',
    );
  const statistics = async ({ service }: Installed, id: number): Promise<string> =>
    JSON.stringify(await service.client.get(`/v2/mapping/get_stats/${id}`)).replaceAll(/"id_map":\d+/g, '');
  expect((await map(from, here)) === (await map(to, there))).toBe(true);
  expect((await statistics(from, here)) === (await statistics(to, there))).toBe(true);
  for (const [{ service }, id] of [
    [from, here],
    [to, there],
  ] as const)
    expect((await service.client.fetch(`/v2/schema/generate/${id}`)).status).toBe(200);
  const after = await map(from, here);
  expect(after === (await map(to, there))).toBe(true);
  return after.split('"xpath"').length - 1;
}

interface Loads {
  readonly target: string;
  readonly first: number;
  /** the logical schema of the rows in `target` */
  readonly loaded: number | null;
  readonly arrived: number;
  readonly scratch: string;
}

/** The documents loaded with either origin have the same rows, and come back out of them equal to what they were. */
async function expectSameLoads(
  from: Installed,
  to: Installed,
  { documents }: MovedSet,
  { target, first, loaded, arrived, scratch }: Loads,
): Promise<void> {
  if (documents.length === 0) return;
  const loads = `${target}_2`;
  const written: string[] = [];
  for (const [at, [{ home }, id]] of (
    [
      [from, first],
      [to, arrived],
    ] as const
  ).entries()) {
    const { logical, rejected } = await convert(
      home,
      'xml2er',
      ...documents,
      '-x',
      String(id),
      '-o',
      `metadb:${loads}`,
    );
    expect(rejected).toBe(0);
    const out = join(scratch, `written-${at}`);
    await mkdir(out);
    await convert(home, 'er2xml', '-l', String(logical), '-i', `metadb:${loads}`, '-o', out);
    written.push(out);
  }
  const [here, there] = written as [string, string];
  const names = await readdir(here);
  expect(names.length).toBe(documents.length);
  expect((await readdir(there)).toSorted()).toEqual(names.toSorted());
  for (const name of names)
    expect([name, (await readFile(join(there, name))).equals(await readFile(join(here, name)))]).toEqual([
      name,
      true,
    ]);
  expect(await rowsOf(to.sql, loads)).toEqual(await rowsOf(from.sql, loads));
  // the branch that was switched off is missing from the newest model: what is complete is the first load's
  const whole = join(scratch, 'whole');
  await mkdir(whole);
  const stored = await createPostgresCatalogStore(from.sql).loadOrigin(1, first);
  await convert(from.home, 'er2xml', '-l', String(loaded), '-i', `metadb:${target}`, '-o', whole);
  for (const path of documents) {
    const name = path.split('/').at(-1)!;
    const differences = compareXml(await readFile(path), await readFile(join(whole, name)), {
      source: stored!.model,
      limit: 1,
    });
    expect([name, differences]).toEqual([name, []]);
  }
}

async function rowsOf(sql: Sql, sqlSchema: string): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
     where table_schema = ${sqlSchema} and table_name not in ('_documents', '_loads', '_keys') order by 1`;
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as hash from "${sqlSchema}"."${name}" t`,
    );
    found[name] = row!['hash'] as string;
  }
  return found;
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(folder, name))).byteLength));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Documents of equal names, apart from each other. */
export async function gathered(folder: string, paths: readonly string[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  return Promise.all(
    paths.map(async (path, at) => {
      const copy = join(folder, `${at}-${path.split('/').at(-1)!}`);
      await cp(path, copy);
      return copy;
    }),
  );
}
