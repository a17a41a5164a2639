/** Indexes on foreign keys: which there are, under which names, and whose they stay. */
import { expect, test } from 'vitest';
import { at, libraryModel } from '../../../unit/engine/sql/library-model.ts';
import { libraryPlan } from '../../targets/library-rows.ts';
import { append, constraints, database, leftovers, load, schema, useDatabase, withTables } from './target.ts';

useDatabase();

/** All indexes that no constraint has, as `table (column) where`, and their names. */
async function indexes(): Promise<{ readonly name: string; readonly on: string }[]> {
  const rows = await database.sql<{ name: string; on: string }[]>`
    select c.relname as name, regexp_replace(pg_get_indexdef(i.indexrelid), '^.* ON [^.]*\\.(.*) USING btree', '\\1') as on
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = ${schema}::regnamespace and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
       and c.relname not like '\\_%' order by 2`;
  return [...rows];
}

const plain = (text: string): string => text.replaceAll('"', '');

const wanted = libraryModel.tables.flatMap((table) =>
  table.columns
    .filter(({ role, references }) => role === 'document' || (role === 'parent_key' && references !== null))
    .map(({ name, nullable }) => ({ table: table.name, column: name, nullable })),
);

test('every foreign key of a table with rows has its index, without rows that have no value', async () => {
  const { rows, indexes: made } = await load(libraryPlan(1));
  const expected = wanted.filter(({ table }) => table in rows);
  expect(expected.length).toBeGreaterThan(5);
  const found = await indexes();
  expect(made!.count).toBe(found.length);
  expect(found.map(({ on }) => plain(on)).toSorted()).toEqual(
    expected
      .map(({ table, column, nullable }) =>
        plain(`${table} (${column})${nullable ? ` WHERE (${column} IS NOT NULL)` : ''}`),
      )
      .toSorted(),
  );
  expect(found.map(({ name }) => name)).toContain('section_parent_section_key_idx');
});

test('many rows: made in staging, and called in the target what small ones are', async () => {
  await append(1);
  const found = await indexes();
  expect(found).toContainEqual({
    name: 'person_library_key_idx',
    on: 'person (library_key) WHERE (library_key IS NOT NULL)',
  });
  expect(found.every(({ name }) => !name.startsWith('_svc'))).toBe(true);
  expect(await leftovers()).toEqual([]);
  const keys = await constraints(schema);
  // a second load appends below them, a third makes the table anew
  await append(2);
  expect(await indexes()).toEqual(found);
  await load(libraryPlan(3, { saveMode: 'overwrite' }));
  expect(new Set((await indexes()).map(({ name }) => name)).size).toBe((await indexes()).length);
  expect(await constraints(schema)).toEqual(expect.arrayContaining(keys));
});

test('an index that was taken away stays away, unless the job asks for indexes', async () => {
  await load(libraryPlan(1));
  const before = await indexes();
  await database.sql.unsafe(`drop index "${schema}"."book_library_key_idx"`);
  await load(libraryPlan(2), 1);
  expect(await indexes()).toHaveLength(before.length - 1);
  await load(libraryPlan(3, { indexes: 'keys' }), 1);
  expect(await indexes()).toEqual(before);
});

test('none: there are none; all: ids and references of the XSD, too', async () => {
  const { indexes: none } = await load(libraryPlan(1, { indexes: 'none' }));
  expect(none).toBeUndefined();
  expect(await indexes()).toEqual([]);
  const model = withTables((table, index) =>
    index === at.person
      ? {
          ...table,
          columns: table.columns.map((column) =>
            column.name === 'name' ? { ...column, sourceType: 'ID' as const } : column,
          ),
        }
      : table,
  );
  await load(libraryPlan(2, { model, indexes: 'all' }));
  expect((await indexes()).map(({ name }) => name)).toContain('person_name_idx');
});

test('names that are taken, and names that are cut, are told apart', async () => {
  const long = 'x'.repeat(60);
  const model = withTables((table, index) =>
    index === at.person || index === at.section ? { ...table, name: `${long}${index}` } : table,
  );
  await database.sql.unsafe(
    `create schema ${schema}; create table ${schema}.mine (a int); create index book_library_key_idx on ${schema}.mine (a)`,
  );
  await load(libraryPlan(1, { model }));
  const names = (await indexes()).map(({ name }) => name);
  expect(names).toContain('book_library_key_idx1');
  expect(new Set(names).size).toBe(names.length);
});

test('an index of the owner keeps its table from being dropped when it is overwritten', async () => {
  await load(libraryPlan(1));
  await database.sql.unsafe(`create index mine on "${schema}".book (title)`);
  await load(libraryPlan(2, { saveMode: 'overwrite' }));
  const names = (await indexes()).map(({ name }) => name);
  expect(names).toContain('mine');
  expect(names).toContain('book_library_key_idx');
});
