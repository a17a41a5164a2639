/** Lists that one version of a schema has and another one has not, or has as something else, where databases keep their items in tables: as in PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMysqlRowRemover } from '../../../src/targets/sql/mysql/driver.ts';
import { createMysqlRowSource } from '../../../src/targets/sql/mysql/source.ts';
import { createPostgresRowRemover } from '../../../src/targets/sql/postgres/remover.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import { createDuckDbRowRemover } from '../../../src/targets/sql/duckdb/driver.ts';
import { createDuckDbRowSource } from '../../../src/targets/sql/duckdb/source.ts';
import { createSqliteRowRemover } from '../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../src/targets/sql/sqlite/source.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { mysql } from '../../../src/engine/sql/dialects/mysql.ts';
import { withListTables } from '../../../src/engine/sql/list-tables.ts';
import type { RowRemover, SinkPlan } from '../../../src/ports/row-sink.ts';
import type { RowSource } from '../../../src/ports/row-source.ts';
import { bytesOf, compiled } from '../../support/models/shredding.ts';
import { needs } from '../../support/needs.ts';
import { loadInto, readFrom } from '../../support/round-trip/postgres.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import {
  mariadbAddress,
  mariadbTarget,
  postgresTarget,
  targetKinds,
  type TestTarget,
} from '../row-sinks/targets.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

const of = (item: string): string =>
  `<xs:element name="marks" minOccurs="0"><xs:simpleType><xs:list itemType="xs:${item}"/></xs:simpleType></xs:element>`;
const scalar = '<xs:element name="marks" type="xs:int" minOccurs="0"/>';
const page = (marks: string): string =>
  `<xs:element name="leaf" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="no" type="xs:int"/>${marks}</xs:sequence></xs:complexType></xs:element>`;
/** `marks`: of a volume; `pages`: tables of their own, with lists. */
const version = (marks: string, pages: string, previous?: RelationalModel): RelationalModel =>
  buildRelationalModel(
    compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="shelf"><xs:complexType><xs:sequence>
       <xs:element name="volume" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="title" type="xs:string"/>${marks}${pages}</xs:sequence></xs:complexType></xs:element>
       </xs:sequence></xs:complexType></xs:element></xs:schema>`,
    ),
    { mapLevel: 3, ...(previous === undefined ? {} : { previous }) },
  );

const shelf = (title: string, ...marks: readonly string[]): Uint8Array =>
  bytesOf(
    `<shelf>${marks.map((text) => `<volume><title>${title}</title>${text}</volume>`).join('')}</shelf>`,
  );
const many = (text: string): string => `<marks>${text}</marks>`;
const paged = (text: string): string => `<leaf><no>1</no>${many(text)}</leaf>`;

interface VersionPair {
  readonly name: string;
  readonly models: readonly [RelationalModel, RelationalModel];
  /** of each model */
  readonly documents: readonly [Uint8Array, Uint8Array];
}

function pair(
  name: string,
  [marks, pages]: readonly [string, string],
  next: readonly [string, string],
  documents: VersionPair['documents'],
): VersionPair {
  const first = version(marks, pages);
  return { name, models: [first, version(next[0], next[1], first)], documents };
}

const pairs: readonly VersionPair[] = [
  pair(
    'the next one has no list',
    [of('int'), page(of('int'))],
    ['', ''],
    [shelf('a', many('1 2') + paged('3 4 5'), many('')), shelf('b', '')],
  ),
  pair(
    'the next one has the lists first',
    ['', ''],
    [of('int'), page(of('int'))],
    [shelf('a', ''), shelf('b', many('1 2') + paged('3 4 5'), many(''))],
  ),
  pair(
    'items of another type',
    [of('int'), page(of('int'))],
    [of('token'), page(of('decimal'))],
    [shelf('a', many('1 2') + paged('3 4 5')), shelf('b', many('x y') + paged('1.5 2.25'))],
  ),
  pair(
    'a value becomes a list',
    [scalar, page(scalar)],
    [of('int'), page(of('int'))],
    [shelf('a', many('1') + paged('3')), shelf('b', many('1 2') + paged('3 4 5'))],
  ),
  pair(
    'a list becomes a value',
    [of('int'), page(of('int'))],
    [scalar, page(scalar)],
    [shelf('a', many('1 2') + paged('3 4 5')), shelf('b', many('1') + paged('3'))],
  ),
];

interface ListTarget extends TestTarget {
  source(): RowSource;
  remover(): RowRemover;
}

const trial = useTrial();
let database: TestDatabase;
let folders = '';
let server: TestMariadb;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  folders = await mkdtemp(join(tmpdir(), 'lists-of-versions-'));
});
afterAll(async () => {
  await server?.stop();
  await rm(folders, { recursive: true, force: true });
});

const fileTarget = (kind: 'sqlite' | 'duckdb', name: string): TestTarget =>
  targetKinds(() => ({ database, folders })).find(([one]) => one === kind)![1](name);
const opened: Readonly<Record<string, (name: string) => Promise<ListTarget>>> = {
  postgres: async (name) => ({
    ...postgresTarget(() => database, name),
    source: () => createPostgresRowSource({ url: database.url, sqlSchema: name }),
    remover: () => createPostgresRowRemover({ url: database.url, sqlSchema: name, label: name }),
  }),
  sqlite: async (name) => {
    const file = join(folders, `${name} sqlite`, "it's.sqlite");
    return {
      ...fileTarget('sqlite', name),
      source: () => createSqliteRowSource({ file }),
      remover: () => createSqliteRowRemover({ file }),
    };
  },
  duckdb: async (name) => {
    const file = join(folders, `${name} duckdb`, "it's.duckdb");
    return {
      ...fileTarget('duckdb', name),
      source: () => createDuckDbRowSource({ file }),
      remover: () => createDuckDbRowRemover({ file }),
    };
  },
  mariadb: async (name) => {
    server ??= await startMariadb();
    await server.run(`CREATE DATABASE ${name};`);
    return {
      ...mariadbTarget(() => server, name),
      source: () => createMysqlRowSource(mariadbAddress(server, name)),
      remover: () => createMysqlRowRemover(mariadbAddress(server, name)),
    };
  },
};

/** Rows of all tables of both versions, those of lists among them. */
async function countsOf(
  { reader }: ListTarget,
  models: VersionPair['models'],
): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const model of models)
    for (const { name } of [...model.tables, ...withListTables(model, mysql).model.tables]) {
      const rows = (await reader.read(name)) ?? [];
      if (rows.length > 0) found[name] = rows.length;
    }
  return found;
}

const texts = (documents: readonly Uint8Array[]): readonly string[] =>
  documents.map((bytes) => new TextDecoder().decode(bytes));

let made = 0;

/** What is read by each version, step by step, and what is left in the end. */
async function walk(kind: string, { models, documents }: VersionPair): Promise<readonly unknown[]> {
  const target = await opened[kind]!(`lists_${(made += 1)}`);
  let job = 0;
  const load = (at: 0 | 1, more: Partial<SinkPlan> = {}): Promise<unknown> =>
    loadInto(
      target.createSink(),
      { model: models[at], idJob: (job += 1), idLschma: at + 1, ...more },
      [documents[at]],
      `v${at}`,
    );
  const unload = async (by: 0 | 1, whose: 0 | 1): Promise<number> => {
    const remover = target.remover();
    try {
      const removed = await remover.removeDocuments(
        {
          model: models[by],
          documentName: `v${whose}-1.xml`,
          idJob: (job += 1),
          jobUuid: uuidOfJob(job),
          modelHash: hashOfLogical(by + 1)!,
          idSch: 1,
          idLschma: by + 1,
          installation: '',
          dryRun: false,
        },
        async () => true,
      );
      return removed.documents;
    } finally {
      await remover.close();
    }
  };
  const told: unknown[] = [];
  const tell = async (): Promise<void> => {
    for (const [at, model] of models.entries())
      told.push(texts(await readFrom(target.source(), model, `v${at}-1.xml`)));
  };
  await load(0);
  await load(1);
  await tell();
  told.push(await unload(1, 0));
  expect(await itemsLeft(target, models, 0)).toEqual([]);
  await load(0);
  await tell();
  told.push(await unload(0, 1));
  await load(1);
  await load(1, { saveMode: 'overwrite' });
  expect(await itemsLeft(target, models, 0)).toEqual([]);
  await tell();
  told.push(await unload(0, 1));
  expect(await countsOf(target, models)).toEqual({});
  return told;
}

function tableNames(model: RelationalModel): readonly string[] {
  return withListTables(model, mysql).model.tables.map(({ name }) => name);
}

/** Tables of lists that the other version alone has, with rows. */
async function itemsLeft(
  target: ListTarget,
  models: VersionPair['models'],
  at: 0 | 1,
): Promise<readonly string[]> {
  const counts = await countsOf(target, models);
  const others = new Set(tableNames(models[1 - at]!));
  return tableNames(models[at]!).filter((name) => !others.has(name) && counts[name] !== undefined);
}

const walks = new Map<VersionPair, Promise<readonly unknown[]>>();
/** The walk of PostgreSQL, which all others are compared with. */
function walkOfPostgres(one: VersionPair): Promise<readonly unknown[]> {
  const walked = walks.get(one) ?? walk('postgres', one);
  walks.set(one, walked);
  return walked;
}

describe.each([
  ['sqlite', {}],
  ['duckdb', {}],
  ['mariadb', needs(mariadbParts)],
] as const)('%s', (kind, options) => {
  test.each(pairs.map((one) => [one.name, one] as const))('%s', options, async (_, one) => {
    expect(await walk(kind, one)).toEqual(await walkOfPostgres(one));
  });
});
