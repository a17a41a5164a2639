/** What only a database can do: keys, types, views, roles, locks, and connections that break. */
import { expect, test } from 'vitest';
import type { Table } from '../../../../src/engine/model/relational-model.ts';
import { at, libraryModel } from '../../../unit/engine/sql/library-model.ts';
import { encodeRows, libraryPlan, libraryRows, writeLibrary } from '../../targets/library-rows.ts';
import { postgresReader } from '../readers.ts';
import {
  database,
  schema,
  useDatabase,
  createSink,
  load,
  withTables,
  constraints,
  leftovers,
  writeMany,
  personRow,
  append,
  opening,
  publishSame,
} from './target.ts';
import { needs } from '../../../support/needs.ts';

useDatabase();

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

test('a column that is widened is told once, with its type before where it was there', async () => {
  const told: string[][] = [];
  for (const idJob of [1, 2, 3]) {
    const sink = createSink();
    await sink.open(libraryPlan(idJob));
    const rows = libraryRows(idJob);
    await writeLibrary(sink, rows);
    // in job 1 the table is new, by job 3 its column is text already
    const column = idJob === 1 ? 4 : 3;
    await sink.unconverted({ table: at.library, column, rowKey: 1, text: 'long ago' });
    const { changes } = await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    told.push(changes.filter((change) => change.includes('widened')));
  }
  expect(told).toEqual([
    ['library.opened_at: widened to text'],
    ['library.founded: date widened to text'],
    [],
  ]);
});

test('a natural key that its values break is left out, or given up', async () => {
  const { changes } = await load(libraryPlan(1), 2);
  expect(changes).toEqual(['book: unique key book_title not created because values repeat or are too long']);
  const sink = createSink();
  await sink.open(libraryPlan(2));
  // the same ISBNs as job 1
  const rows = libraryRows(1);
  await writeLibrary(sink, rows);
  const published = await sink.publish(async () => true, rows.lastKeys);
  await sink.close();
  expect(published.changes).toEqual(['book: unique key book_isbn dropped because values repeat']);
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

test(
  'thousands of empty tables are made without thousands of locks at once',
  needs('whole run'),
  async () => {
    const tables = Array.from({ length: 700 }, (_, n): Table => ({
      ...libraryModel.tables[at.library]!,
      name: `t${n}`,
    }));
    const [node, root] = [libraryModel.nodes[0]!, libraryModel.roots[0]!];
    const nodes = tables.map((_, table) => ({ ...node, table }));
    const roots = nodes.map((_, at) => ({ ...root, node: at }));
    const { rows } = await load(
      libraryPlan(1, { model: { ...libraryModel, tables, nodes, roots }, saveMode: 'write-schema' }),
      0,
    );
    expect(rows).toEqual({});
    const made =
      await database.sql`select from information_schema.tables where table_schema = ${schema} and table_name ~ '^t[0-9]+$'`;
    expect(made).toHaveLength(700);
    expect((await constraints(schema)).filter((text) => text.includes('FOREIGN KEY'))).toHaveLength(700);
  },
);

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
