/** Loads into PostgreSQL: what is there meanwhile, many connections, overwriting. */
import { expect, test } from 'vitest';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { at } from '../../../unit/engine/sql/library-model.ts';
import {
  encodeRows,
  libraryPlan,
  libraryRows,
  writeLibrary,
  type Value,
} from '../../targets/library-rows.ts';
import {
  database,
  schema,
  useDatabase,
  createSink,
  load,
  withTables,
  constraints,
  constraintNames,
  leftovers,
  writeMany,
  note,
  personRow,
  textRow,
  groupRow,
} from './target.ts';
import { some } from '../../../support/needs.ts';

useDatabase();

/** Tables, comments and columns of a SQL schema. */
function described(sqlSchema: string): PromiseLike<readonly unknown[]> {
  return database.sql`
    select c.relname, obj_description(c.oid) as comment, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           col_description(c.oid, a.attnum), c.relpersistence
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = ${sqlSchema}::regnamespace and c.relkind = 'r' order by 1, a.attnum`;
}

function indexNames(sqlSchema: string): PromiseLike<readonly unknown[]> {
  return database.sql`
    select relname from pg_class where relnamespace = ${sqlSchema}::regnamespace and relkind = 'i' order by 1`;
}

test('a table that another job made meanwhile: what refers to it refers to that one', async () => {
  const sink = createSink();
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await writeMany(sink, at.person, personRow, 20_000);
  const empty = createSink();
  await empty.open(libraryPlan(2, { saveMode: 'write-schema' }));
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

test('two jobs that both find no documents: those of the first are moved, those of the second follow them', async () => {
  const documents = 12_000;
  const sinks = [createSink(), createSink()];
  const all = [libraryRows(1, documents), libraryRows(2, documents)];
  for (const [job, sink] of sinks.entries()) await sink.open(libraryPlan(job + 1));
  for (const [job, sink] of sinks.entries()) await writeLibrary(sink, all[job]!);
  for (const [job, sink] of sinks.entries()) {
    const { rows } = await sink.publish(async () => true, all[job]!.lastKeys);
    expect(rows).toMatchObject({ library: documents });
    await sink.close();
  }
  const [found] = await database.sql.unsafe(`
    SELECT count(*)::int AS documents, count(DISTINCT d.document_key)::int AS keys, count(l.library_key)::int AS libraries
      FROM "${schema}"."_documents" d LEFT JOIN "${schema}"."library" l USING (document_key)`);
  expect(found).toEqual({ documents: 2 * documents, keys: 2 * documents, libraries: 2 * documents });
  const names = await constraintNames(schema);
  expect(names).toContain('library: library_document_key_fkey');
  expect(names).toContain('_documents: _documents_pkey');
  expect(await constraints(schema)).toContain(
    'library: FOREIGN KEY (document_key) REFERENCES _documents(document_key)',
  );
  expect(await leftovers()).toEqual([]);
});

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
    expect([...(await described(schema))]).toEqual([...(await described(`${schema}_ddl`))]);
    expect([...(await indexNames(schema))]).toEqual([...(await indexNames(`${schema}_ddl`))]);
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

test.each(
  some(
    [
      ['one connection', 0, 0],
      ['several connections', 800, 2],
    ] as const,
    1,
  ),
)(
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
    create table ${schema}.shelf (shelf_key bigint primary key, document_key bigint, library_key bigint references ${own});
    create table ${schema}.mine (library_key bigint references ${own} on delete set null);
    insert into ${schema}.shelf values (1, 1, 1); insert into ${schema}.mine values (1);
    insert into ${schema}._keys values ('shelf', 1)`);
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
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
