/** Codes in a target (`--codes`): the table of them, and checks that never cost a row. */
import { expect, test } from 'vitest';
import { enumerationsOf } from '../../../../src/engine/metadata/enumerations.ts';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import type { Published, SinkPlan } from '../../../../src/ports/row-sink.ts';
import { bytesOf } from '../../../support/models/shredding.ts';
import { first, firstModel, fleet, second, secondModel } from '../../../support/models/fleets.ts';
import { loadInto } from '../../../support/round-trip/postgres.ts';
import { createSink, database, schema, useDatabase } from './target.ts';

useDatabase();

let job = 0;
function load(
  source: SourceModel,
  model: SinkPlan['model'],
  more: Partial<SinkPlan>,
  ...documents: readonly Uint8Array[]
): Promise<Published> {
  const enumerations = () => enumerationsOf(model, source);
  return loadInto(createSink(), { idJob: (job += 1), model, enumerations, ...more }, documents);
}

const codes = async (): Promise<unknown[][]> =>
  (await database.sql.unsafe(`select * from "${schema}"._codes order by type, code`)).map((row) =>
    Object.values(row),
  );
const checks = async (): Promise<string[]> =>
  (
    await database.sql<{ text: string }[]>`
      select conname || ' ' || pg_get_constraintdef(oid) as text from pg_constraint
       where contype = 'c' and connamespace = ${schema}::regnamespace order by conname`
  ).map(({ text }) => text);
const states = async (): Promise<unknown[]> =>
  (await database.sql.unsafe(`select state from "${schema}".ship order by ship_key`)).map(
    ({ state }) => state as unknown,
  );

test('nothing is kept but where it is asked for; then loads after that keep it up to date', async () => {
  await load(first, firstModel, {}, fleet('moored'));
  expect(await database.sql`select to_regclass(${`"${schema}"._codes`}) as found`).toEqual([{ found: null }]);
  await load(first, firstModel, { codes: 'table' }, fleet('moored'));
  const before = await codes();
  expect(before).toEqual([
    ['/fleet/ship/@decks', '1', null, null],
    ['/fleet/ship/@decks', '2', null, null],
    ['State', "at 'sea'", 'At sea', 'On its way.'],
    ['State', 'moored', null, null],
  ]);
  await load(first, firstModel, { codes: 'table' }, fleet('moored'));
  expect(await codes()).toEqual(before);
  await load(second, secondModel, {}, fleet('aground'));
  expect((await codes()).slice(2)).toEqual([
    ['State', 'aground', null, null],
    ['State', "at 'sea'", 'At sea', 'On its way.'],
    ['State', 'moored', 'Moored', 'Tied up; safe.'],
  ]);
  expect(await checks()).toEqual([]);
});

test('checks are there while every row keeps to the list, and never cost a row', async () => {
  await load(first, firstModel, { codes: 'check' }, fleet('moored', "at 'sea'", '  moored '));
  const [decks, state, tags, ...others] = await checks();
  expect(others).toEqual([]);
  expect(decks).toMatch(/^ship_decks_codes CHECK .*decks = ANY.* NOT VALID$/);
  expect(state).toMatch(/^ship_state_codes CHECK .*'at ''sea'''.*'moored'.* NOT VALID$/);
  expect(tags).toMatch(/^ship_tags_codes CHECK .*<@ ARRAY.* NOT VALID$/);
  await expect(
    database.sql.unsafe(`insert into "${schema}".ship select 99, 1, 1, 9, 'sunk'`),
  ).rejects.toThrow();
  // whoever wants them valid has it
  await database.sql.unsafe(`alter table "${schema}".ship validate constraint ship_state_codes`);
  // a load that says nothing of codes has a value that is not in the list
  const { rows, changes } = await load(first, firstModel, {}, fleet('moored', 'sunk'));
  expect(rows['ship']).toBe(2);
  expect(changes).toEqual([
    'ship.state: has no CHECK of its codes because some values are not codes, such as "sunk"',
  ]);
  expect(await states()).toEqual(['moored', "at 'sea'", 'moored', 'moored', 'sunk']);
  expect((await checks()).map((text) => text.split(' ')[0])).toEqual(['ship_decks_codes', 'ship_tags_codes']);
  // it stays away, and a job that asks for checks is told why
  expect((await load(first, firstModel, {}, fleet('moored'))).changes).toEqual([]);
  expect((await load(first, firstModel, { codes: 'check' }, fleet('moored'))).changes).toEqual(changes);
  // overwritten rows keep to the list again
  await load(first, firstModel, { saveMode: 'overwrite' }, fleet('moored'));
  expect(await checks()).toHaveLength(3);
  expect((await load(first, firstModel, { codes: 'none' }, fleet('sunk'))).changes).toEqual([
    'ship.state: check of its codes dropped',
  ]);
  expect(await states()).toEqual(['moored', 'sunk']);
});

test('a later version of the schema has other codes: those of both are allowed', async () => {
  await load(first, firstModel, { codes: 'check' }, fleet("at 'sea'"));
  expect((await load(second, secondModel, {}, fleet('aground'))).changes).toEqual([]);
  expect((await checks())[1]).toMatch(/'aground'.*'at ''sea'''.*'moored'/);
  expect((await load(first, firstModel, {}, fleet("at 'sea'", 'aground'))).changes).toEqual([]);
  expect(await states()).toEqual(["at 'sea'", 'aground', "at 'sea'", 'aground']);
});

test('a column becomes wider below its check', async () => {
  await load(first, firstModel, { codes: 'check' }, fleet('moored'));
  const odd = bytesOf('<fleet><ship state="moored" decks="two"/></fleet>');
  const { changes } = await load(first, firstModel, {}, odd);
  expect(changes).toContain(
    'ship.decks: has no CHECK of its codes because some values are not codes, such as "two"',
  );
  expect(await checks()).toHaveLength(2);
});

test('rows that were there before count, and what others made stays', async () => {
  await load(first, firstModel, {}, fleet('sunk'));
  await database.sql.unsafe(
    `create table "${schema}"._codes (mine int); alter table "${schema}".ship add constraint ship_decks_codes check (decks < 5)`,
  );
  const { changes } = await load(first, firstModel, { codes: 'check' }, fleet('moored'));
  expect(changes).toEqual([
    '_codes: not filled with codes because an object that no load made has this name',
    'ship.state: has no CHECK of its codes because some values are not codes, such as "sunk"',
  ]);
  expect((await checks()).map((text) => text.split(' ')[0])).toEqual([
    'ship_decks_codes',
    'ship_decks_codes2',
    'ship_tags_codes',
  ]);
  await database.sql.unsafe(
    `alter table "${schema}".ship drop constraint ship_decks_codes2, drop constraint ship_tags_codes`,
  );
  // a rule of the owner holds as it did
  await database.sql.unsafe(`alter table "${schema}".ship add constraint theirs check (state <> 'aground')`);
  await expect(load(first, firstModel, {}, fleet('aground'))).rejects.toThrow('theirs');
});

test('tables, codes and checks that the DDL makes are filled and kept like those of a load', async () => {
  const valuesAt = await enumerationsOf(firstModel, first);
  const ddl = (choice: 'table' | 'check'): string =>
    renderDdl(firstModel, { sqlSchema: schema, codes: { choice, valuesAt } });
  expect(ddl('check').startsWith(ddl('table'))).toBe(true);
  await database.sql.unsafe(ddl('check'));
  const made = [await codes(), await checks()];
  await load(first, firstModel, { codes: 'check' }, fleet('moored'));
  expect([await codes(), await checks()]).toEqual(made);
  await load(first, firstModel, {}, fleet('sunk'));
  expect(await states()).toEqual(['moored', 'sunk']);
});
