/** What only a database can do: keys, types, views, roles, locks, and connections that break. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createPostgresRowSink,
  type PostgresRowSinkOptions,
} from '../../../src/adapters/postgres/target/sink.ts';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import type { RelationalModel, Table } from '../../../src/engine/model/relational-model.ts';
import type { RowSink, SinkPlan } from '../../../src/ports/rows/sink.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import {
  encodeRows,
  libraryPlan,
  libraryRows,
  loadLibrary,
  writeLibrary,
  type Value,
} from '../targets/library-rows.ts';
import { postgresReader } from './readers.ts';

let database: TestDatabase;
let schema = '';
let number = 0;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
  schema = `lib_${(number += 1)}`;
});

function createSink(more: Partial<PostgresRowSinkOptions> = {}): RowSink {
  return createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true, ...more });
}

async function load(
  plan: SinkPlan,
  count = 1,
  more: Partial<PostgresRowSinkOptions> = {},
): Promise<Awaited<ReturnType<RowSink['publish']>>> {
  const sink = createSink(more);
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

function withTables(change: (table: Table, index: number) => Table): RelationalModel {
  return { ...libraryModel, tables: libraryModel.tables.map(change) };
}

async function constraints(sqlSchema: string): Promise<string[]> {
  const rows = await database.sql<{ text: string }[]>`
    select conrelid::regclass::text || ': ' || pg_get_constraintdef(oid) as text from pg_constraint
     where connamespace = ${sqlSchema}::regnamespace and contype in ('p', 'u', 'f') and convalidated`;
  return rows.map(({ text }) => text.replaceAll(`${sqlSchema}.`, '')).toSorted();
}

/** Names of all constraints, those of NOT NULL too where the server names them. */
async function constraintNames(sqlSchema: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select conrelid::regclass::text || ': ' || conname as name from pg_constraint where connamespace = ${sqlSchema}::regnamespace`;
  return rows.map(({ name }) => name.replaceAll(`${sqlSchema}.`, '')).toSorted();
}

async function leftovers(): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname like ${'\\_svc\\_%'}
    union all select relname from pg_class where relname like ${'\\_svc\\_%'} and relkind = 'r'`;
  return rows.map((row) => row.name);
}

/** Rows of one table until `bytes` are written, so that they go over connections of their own. */
async function writeMany(
  sink: RowSink,
  table: number,
  row: (key: number) => Value[],
  count: number,
): Promise<void> {
  for (let from = 1; from <= count; from += 2000) {
    const rows = Array.from({ length: Math.min(2000, count - from + 1) }, (_, i) => row(from + i));
    await sink.write(table, encodeRows(sink.encoding, rows), rows.length);
  }
}

const note = 'n'.repeat(200);
const personRow = (key: number): Value[] => [key, 1, null, key, note, null];
const textRow = (key: number): Value[] => [key, key, 1, note];
const groupRow = (key: number): Value[] => [key, 1, null, key, note];

/** A job with 12,000 people. */
async function append(job: number): Promise<void> {
  const sink = createSink();
  await sink.open(libraryPlan(job));
  const rows = libraryRows(job);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await writeMany(sink, at.person, personRow, 12_000);
  await sink.publish(async () => true, new Map());
  await sink.close();
}

test('a table that another job made meanwhile: what refers to it refers to that one', async () => {
  const sink = createSink();
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await writeMany(sink, at.person, personRow, 20_000);
  const empty = createSink();
  await empty.open(libraryPlan(2, { saveMode: 'w' }));
  await empty.publish(async () => true, new Map());
  await empty.close();
  await database.sql.unsafe(`DROP TABLE "${schema}"."person" CASCADE`);
  await sink.publish(async () => true, new Map());
  await sink.close();
  expect((await constraints(schema)).filter((text) => text.startsWith('person: FOREIGN'))).toEqual([
    'person: FOREIGN KEY (book_key) REFERENCES book(book_key)',
    'person: FOREIGN KEY (library_key) REFERENCES library(library_key)',
  ]);
  const [count] = await database.sql.unsafe(`SELECT count(*)::int AS n FROM "${schema}"."person"`);
  expect(count).toEqual({ n: 20_000 });
  expect(await leftovers()).toEqual([]);
});

function opening(more: Partial<PostgresRowSinkOptions>): Promise<unknown> {
  const sink = createSink(more);
  return sink.open(libraryPlan(1)).finally(() => sink.close());
}

/** The same document again, with the keys it always has; the number of rows that were added. */
async function publishSame(job: number): Promise<number> {
  const sink = createSink();
  await sink.open(libraryPlan(job, { keys: 'hash' }));
  await writeLibrary(sink, libraryRows(7));
  await sink.writeSide('lexical', encodeRows(sink.encoding, [[1, 'library', 1, 'name', 'x']]), 1);
  const { rows } = await sink.publish(async () => true, new Map());
  await sink.close();
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

test.each(['in one transaction', 'over connections'])(
  '%s: tables, keys and comments are those of the DDL',
  async (way) => {
    const model = withTables((table) => ({ ...table, uniqueKeys: table.uniqueKeys.slice(0, 1) }));
    const sink = createSink();
    await sink.open(libraryPlan(1, { model, allTables: true }));
    const rows = libraryRows(1);
    await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
    await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
    if (way === 'over connections') await writeMany(sink, at.person, personRow, 20_000);
    await sink.publish(async () => true, new Map());
    await sink.close();
    await database.sql.unsafe(renderDdl(model, { sqlSchema: `${schema}_ddl` }));
    expect(await constraints(schema)).toEqual(await constraints(`${schema}_ddl`));
    expect(await constraintNames(schema)).toEqual(await constraintNames(`${schema}_ddl`));
    const described = (sqlSchema: string): PromiseLike<readonly unknown[]> => database.sql`
    select c.relname, obj_description(c.oid) as comment, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           col_description(c.oid, a.attnum), c.relpersistence
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = ${sqlSchema}::regnamespace and c.relkind = 'r' order by 1, a.attnum`;
    expect([...(await described(schema))]).toEqual([...(await described(`${schema}_ddl`))]);
    const names = (sqlSchema: string): PromiseLike<readonly unknown[]> => database.sql`
    select relname from pg_class where relnamespace = ${sqlSchema}::regnamespace and relkind = 'i' order by 1`;
    expect([...(await names(schema))]).toEqual([...(await names(`${schema}_ddl`))]);
    expect(await leftovers()).toEqual([]);
  },
);

test('more tables than connections: every row arrives, nothing stays behind', async () => {
  const sink = createSink({ maxConnections: 2 });
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await Promise.all([
    writeMany(sink, at.person, personRow, 30_000),
    writeMany(sink, at.group, groupRow, 30_000),
    writeMany(sink, at.section, (key) => [key, null, key === 1 ? null : key - 1, 1, note], 30_000),
    writeMany(sink, at.sectionText, textRow, 30_000),
  ]);
  const { rows: counts } = await sink.publish(async () => true, new Map());
  await sink.close();
  expect(counts).toEqual({
    library: 1,
    person: 30_000,
    group: 30_000,
    section: 30_000,
    section_text: 30_000,
  });
  const [sum] =
    await database.sql`select count(*)::int, sum(section_text_key)::int8 as sum from ${database.sql(schema)}.section_text`;
  expect(sum).toEqual({ count: 30_000, sum: 450_015_000 });
  expect(await leftovers()).toEqual([]);
});

test.each([
  ['each found', 0],
  ['one of nobody', 60_001],
])('references to many rows are checked: %s', async (_, dangling) => {
  const sink = createSink();
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await writeMany(sink, at.section, (key) => [key, null, null, key, 'n'.repeat(30)], 60_000);
  // the last rows refer to the first
  const parent = (key: number): number => (key === 30_000 && dangling > 0 ? dangling : 60_001 - key);
  await writeMany(sink, at.sectionText, (key) => [key, parent(key), 1, note], 60_000);
  const published = sink.publish(async () => true, new Map());
  if (dangling > 0) {
    await expect(published).rejects.toThrow(/violates foreign key constraint/);
    await sink.abort();
    expect(await leftovers()).toEqual([]);
    return;
  }
  expect((await published).rows).toEqual({ library: 1, section: 60_000, section_text: 60_000 });
  await sink.close();
  const checked = (await constraints(schema)).filter((text) => /^section.*FOREIGN KEY.*section\(/.test(text));
  expect(checked).toHaveLength(2);
});

test.each([
  ['one connection', 0, 0],
  ['several connections', 800, 2],
])(
  'a column lacks values while its table is being copied, and another does not: %s',
  async (_, long, more) => {
    const model = withTables((table, index) =>
      index === at.person
        ? {
            ...table,
            columns: table.columns.map((column) => ({
              ...column,
              nullable: column.nullable && column.name !== 'name' && column.name !== 'born',
            })),
          }
        : table,
    );
    const sink = createSink();
    await sink.open(libraryPlan(1, { model }));
    await sink.writeSide('documents', encodeRows(sink.encoding, libraryRows(1).documents), 1);
    await sink.write(at.library, encodeRows(sink.encoding, [[1, 1, 'A library', null, null, null]]), 1);
    const people = 20_000;
    const writes: Promise<void>[] = [];
    for (let part = 0; part < 8; part += 1) {
      const rows = Array.from({ length: people }, (_, index): Value[] => [
        part * people + index + 1,
        1,
        null,
        index + 1,
        part < 4 ? `person ${index}${'n'.repeat(long)}` : null,
        '1815-12-10',
      ]);
      // the server is at work on the table by now
      if (part === 4) {
        const copies =
          await database.sql`select relid from pg_stat_progress_copy where datname = current_database()`;
        const tables = new Set(copies.map(({ relid }) => relid as number));
        expect(copies.length - tables.size, JSON.stringify(copies)).toBeGreaterThanOrEqual(more);
        sink.allowNull(at.person, 4);
      }
      if (part === 6) {
        rows[0]![5] = null;
        await sink.unconverted({ table: at.person, column: 5, rowKey: part * people + 1, text: 'long ago' });
      }
      for (let from = 0; from < people; from += 1000)
        writes.push(sink.write(at.person, encodeRows(sink.encoding, rows.slice(from, from + 1000)), 1000));
      if (part >= 3) await Promise.all(writes);
    }
    const { rows } = await sink.publish(async () => true, new Map());
    await sink.close();
    expect(rows['person']).toBe(8 * people);
    const columns = await database.sql`
    select attname, attnotnull, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = ${`${schema}.person`}::regclass and attname in ('position', 'name', 'born') order by attname`;
    expect(columns.map((column) => [column['attname'], column['attnotnull'], column['type']])).toEqual([
      ['born', true, 'text'],
      ['name', false, 'text'],
      ['position', true, 'integer'],
    ]);
    const [counts] = await database.sql`select count(*)::int as all, count(name)::int as named,
    count(*) filter (where born = 'long ago')::int as odd from ${database.sql(schema)}.person`;
    expect(counts).toEqual({ all: 8 * people, named: 4 * people, odd: 1 });
  },
);

test('an overwrite empties what an earlier model hung on its tables, and nothing of anybody else', async () => {
  await load(libraryPlan(1));
  const own = `${schema}.library`;
  await database.sql.unsafe(`
    create table ${schema}.shelf (shelf_key bigint primary key, library_key bigint references ${own});
    create table ${schema}.mine (library_key bigint references ${own} on delete set null);
    insert into ${schema}.shelf values (1, 1); insert into ${schema}.mine values (1);
    insert into ${schema}._keys values ('shelf', 1)`);
  await load(libraryPlan(2, { saveMode: 'o' }));
  expect(await database.sql`select * from ${database.sql(schema)}.shelf`).toHaveLength(0);
  expect(await database.sql`select * from ${database.sql(schema)}.mine`).toHaveLength(1);
});

test('a view stands in the way of a column that must widen: conflict, and nothing changed', async () => {
  await load(libraryPlan(1));
  await database.sql.unsafe(`create view ${schema}.founded as select founded from ${schema}.library;
    create view ${schema}.years as select extract(year from founded) as year from ${schema}.founded;
    create view ${schema}.other as select name from ${schema}.library`);
  const sink = createSink();
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2);
  await writeLibrary(sink, rows);
  await sink.unconverted({ table: at.library, column: 3, rowKey: 1, text: 'long ago' });
  await expect(sink.publish(async () => true, rows.lastKeys)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(
      `library.founded from date to text), which PostgreSQL refuses while views use them: ${schema}.founded, ${schema}.years.`,
    ),
  });
  await sink.close();
  expect(await database.sql`select from ${database.sql(schema)}.library`).toHaveLength(1);
  expect(await leftovers()).toEqual([]);
});

test('a target of an older model gets the new columns and takes wider values', async () => {
  const older = withTables((table, index) =>
    index === at.person
      ? {
          ...table,
          columns: [...table.columns.slice(0, 5), { ...table.columns[4]!, name: 'title', nullable: false }],
        }
      : index === at.library
        ? {
            ...table,
            columns: table.columns.map((column) =>
              column.name === 'name' ? { ...column, type: { kind: 'text', length: 5 } } : column,
            ),
          }
        : table,
  );
  const sink = createSink();
  await sink.open(libraryPlan(1, { model: older }));
  await sink.writeSide('documents', encodeRows(sink.encoding, libraryRows(1).documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, [[1, 1, 'Short', null, null, null]]), 1);
  await sink.write(at.person, encodeRows(sink.encoding, [[1, 1, null, 1, 'Ada', 'Countess']]), 1);
  await sink.publish(async () => true, new Map());
  await sink.close();
  const { changes } = await load(libraryPlan(2));
  expect(changes).toContain('person.born: added');
  expect(changes).toContain('person.title: NOT NULL dropped');
  expect(changes).toContain('library.name: character varying(5) widened to character varying(80)');
  const people = await postgresReader(database.sql, schema).read('person');
  expect(people!.map((row) => [row.name, row.title, row.born])).toEqual([
    ['Ada', 'Countess', null],
    ['Ada', null, '1815-12-10'],
    ['Grace', null, null],
  ]);
});

test('values of a widened column read as XML Schema writes them', async () => {
  await load(libraryPlan(1));
  const sink = createSink();
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2);
  await writeLibrary(sink, rows);
  await sink.unconverted({ table: at.library, column: 4, rowKey: 1, text: 'noon' });
  await sink.unconverted({ table: at.library, column: 5, rowKey: 1, text: 'perhaps' });
  await sink.unconverted({ table: at.book, column: 13, rowKey: 1, text: 'a b \\ c' });
  await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  const reader = postgresReader(database.sql, schema);
  expect((await reader.read('library'))!.map((row) => [row.opened_at, row.is_public])).toEqual([
    ['2026-11-05T08:00:00Z', 'true'],
    ['noon', 'perhaps'],
  ]);
  expect((await reader.read('book'))!.map((row) => row.keywords)).toEqual(['a b', 'a b', 'a b \\ c', 'a b']);
});

test('a natural key that its values break is left out, or given up', async () => {
  const { changes } = await load(libraryPlan(1), 2);
  expect(changes).toEqual(['book: unique key book_title left out, its values do not allow it']);
  const sink = createSink();
  await sink.open(libraryPlan(2));
  // the same ISBNs as job 1
  const rows = libraryRows(1);
  await writeLibrary(sink, rows);
  const published = await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  expect(published.changes).toEqual(['book: unique key book_isbn dropped, its values repeat']);
  expect(await database.sql`select from ${database.sql(schema)}.book`).toHaveLength(6);
});

test('hashed keys: a document that is there already adds nothing', async () => {
  expect(await publishSame(1)).toBeGreaterThan(10);
  expect(await publishSame(2)).toBe(0);
  expect(await database.sql`select from ${database.sql(schema)}._documents`).toHaveLength(1);
  expect(await database.sql`select from ${database.sql(schema)}._lexical`).toHaveLength(1);
});

test.each([false, true])(
  'a large append keeps every foreign key (somebody reads meanwhile: %s)',
  async (reading) => {
    await append(1);
    const keys = await constraints(schema);
    if (reading) {
      await database.sql.begin(async (tx) => {
        await tx`select count(*) from ${tx(schema)}.person`;
        await append(2);
      });
    } else await append(2);
    expect(await constraints(schema)).toEqual(keys);
    const [counts] =
      await database.sql`select count(*)::int, count(distinct library_key)::int as parents from ${database.sql(schema)}.person`;
    expect(counts).toEqual({ count: 24_000, parents: 2 });
  },
);

test('thousands of empty tables are made without thousands of locks at once', async () => {
  const tables = Array.from({ length: 700 }, (_, n): Table => ({
    ...libraryModel.tables[at.library]!,
    name: `t${n}`,
  }));
  const { rows } = await load(libraryPlan(1, { model: { ...libraryModel, tables }, saveMode: 'w' }), 0);
  expect(rows).toEqual({});
  const made =
    await database.sql`select from information_schema.tables where table_schema = ${schema} and table_name ~ '^t[0-9]+$'`;
  expect(made).toHaveLength(700);
  expect((await constraints(schema)).filter((text) => text.includes('FOREIGN KEY'))).toHaveLength(700);
});

/** The comment of an attempt's own things, quoted. */
const mark = (token: string) => `'staging of conversion-job-service: ${token}'`;

test('staging of a dead attempt is removed, that of a living one is not', async () => {
  await database.sql
    .unsafe(`create schema _svc_staging_4_00000001; create table _svc_staging_4_00000001._svc_staging_4_00000001_0 (a int);
    comment on schema _svc_staging_4_00000001 is ${mark('_svc_staging_4_00000001')};
    create schema _svc_staging_5_00000002; comment on schema _svc_staging_5_00000002 is ${mark('_svc_staging_5_00000002')};
    create schema ${schema}; create table ${schema}._svc_staging_6_00000003_0 (a int);
    comment on table ${schema}._svc_staging_6_00000003_0 is ${mark('_svc_staging_6_00000003')}`);
  const living = await database.sql.reserve();
  await living.unsafe(`select pg_advisory_lock(hashtextextended('_svc_staging_5_00000002', 0))`);
  await load(libraryPlan(1));
  expect(await leftovers()).toEqual(['_svc_staging_5_00000002']);
  await living.unsafe('select pg_advisory_unlock_all()');
  living.release();
  await load(libraryPlan(2));
  expect(await leftovers()).toEqual([]);
});

test.each(['COPY', 'CREATE SCHEMA'])(
  'the server ends a connection (%s): retryable, no secret, nothing left',
  async (query) => {
    const sink = createSink();
    await sink.open(libraryPlan(1));
    await writeMany(sink, at.person, personRow, 15_000);
    // the first bytes are on their way to a COPY by now, or soon
    await expect
      .poll(
        async () =>
          (
            await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'conversion-job-service' and query like ${`%${query}%`}`
          ).length,
      )
      .toBeGreaterThan(0);
    const failure = await (async () => {
      await writeMany(sink, at.person, (key) => personRow(key + 15_000), 15_000);
      await sink.publish(async () => true, new Map());
    })().then(
      () => null,
      (error: unknown) => error as Error & { code: string },
    );
    expect(failure).toMatchObject({ code: 'service_unavailable' });
    expect(failure!.message).toContain(new URL(database.url).host);
    expect(failure!.message).not.toContain(new URL(database.url).password || '\0');
    await sink.abort();
    await sink.close();
    await expect.poll(leftovers).toEqual([]);
    expect(
      await database.sql`select from information_schema.tables where table_schema = ${schema}`,
    ).toHaveLength(0);
    expect((await load(libraryPlan(1))).already).toBe(false);
  },
);

test('a value that the server refuses: terminal, with row and column, nothing left', async () => {
  for (const many of [0, 15_000]) {
    const sink = createSink();
    await sink.open(libraryPlan(1));
    const fails = (async () => {
      await writeMany(sink, at.person, personRow, many);
      await sink.write(
        at.person,
        encodeRows(sink.encoding, [[999_999, 1, null, 1, 'x', 'not a date, secret']]),
        1,
      );
      await sink.publish(async () => true, new Map());
    })();
    await expect(fails).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringMatching(/row \d+, column born/),
    });
    await sink.close();
    expect(await leftovers()).toEqual([]);
  }
});

test('what is wrong with the target is said without secrets', async () => {
  const url = new URL(database.url);
  await expect(opening({ createSchema: false })).rejects.toMatchObject({ code: 'not_found' });
  await expect(opening({ url: `${url.href}_absent` })).rejects.toMatchObject({ code: 'not_found' });
  await expect(opening({ user: 'nobody_here', password: 'hunter2' })).rejects.toMatchObject({
    code: 'target_not_allowed',
    message: expect.not.stringContaining('hunter2'),
  });
  await expect(opening({ url: 'postgresql://u:hunter2@127.0.0.1:1/x' })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringMatching(/^postgresql:\/\/127\.0\.0\.1:1\/x\?schema=/),
  });
  await database.sql.unsafe(`create schema ${schema}; create view ${schema}.book as select 1`);
  await expect(opening({})).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('book'),
  });
});

test('a role is taken on: it owns the tables, and needs no right but on the schema', async () => {
  await database.sql.unsafe(
    `drop role if exists sink_loader; create role sink_loader nologin; create schema ${schema} authorization sink_loader`,
  );
  const counted = { setRole: 'sink_loader', createSchema: false };
  await load(libraryPlan(1), 1, counted);
  const sink = createSink(counted);
  await sink.open(libraryPlan(2));
  const rows = libraryRows(2);
  await writeLibrary(sink, {
    ...rows,
    tables: new Map([...rows.tables].filter(([table]) => table !== at.person)),
  });
  await writeMany(sink, at.person, personRow, 15_000);
  await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  const owners = await database.sql<{ owner: string }[]>`
    select distinct tableowner as owner from pg_tables where schemaname = ${schema}`;
  expect(owners.map((row) => row.owner)).toEqual(['sink_loader']);
  expect(await leftovers()).toEqual([]);
  const aborted = createSink(counted);
  await aborted.open(libraryPlan(3));
  await writeMany(aborted, at.person, personRow, 15_000);
  await aborted.abort();
  await aborted.close();
  expect(await leftovers()).toEqual([]);
  await database.sql.unsafe(`drop owned by sink_loader cascade; drop role sink_loader`);
});
