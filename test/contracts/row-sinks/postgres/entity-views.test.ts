/** Views that a load makes (`--views`): what later loads make of them, and what of others they leave alone. */
import { expect, test } from 'vitest';
import { enumerationsOf } from '../../../../src/engine/metadata/enumerations.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import type { Published, SinkPlan } from '../../../../src/ports/row-sink.ts';
import { loadInto, readFromPostgres } from '../../../support/round-trip/postgres.ts';
import {
  first,
  firstModel,
  ledger,
  second,
  secondModel,
  third,
  thirdModel,
} from '../../../support/models/ledgers.ts';
import { bytesOf } from '../../../support/models/shredding.ts';
import { createSink, database, schema, useDatabase } from './target.ts';

useDatabase();

let job = 0;
function load(
  source: SourceModel,
  plan: Pick<SinkPlan, 'model'> & Partial<SinkPlan>,
  ...documents: readonly Uint8Array[]
): Promise<Published> {
  const enumerations = () => enumerationsOf(plan.model, source);
  return loadInto(createSink(), { idJob: (job += 1), enumerations, ...plan }, documents);
}

async function views(): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select viewname as name from pg_views where schemaname = ${schema} order by 1`;
  return rows.map(({ name }) => name);
}

function rowsOf(view: string): Promise<Record<string, unknown>[]> {
  return database.sql.unsafe(`select * from "${schema}"."${view}" order by document_key`);
}

/** Who has which rights on it, and its options. */
const acl = (): Promise<unknown[]> =>
  database.sql.unsafe(
    `select relacl::text as acl, reloptions from pg_class where oid = '"${schema}".entry_view'::regclass`,
  );

test('only who asks for views gets them; loads after that keep them up to date', async () => {
  await load(first, { model: firstModel }, ledger('12.50'));
  expect(await views()).toEqual([]);
  const { changes } = await load(first, { model: firstModel, views: true }, ledger('7'));
  expect(await views()).toEqual(['entry_view']);
  expect(changes).toContain('views made: entry_view');
  expect((await rowsOf('entry_view')).map((row) => Number(row['amount_signed']))).toEqual([-12.5, -7]);
  expect((await rowsOf('entry_view'))[0]).not.toHaveProperty('text');
  // a table that comes later is seen in the view, also of a load that asks for none
  const text = bytesOf(
    new TextDecoder().decode(ledger('3')).replace('</entry>', '<text>a</text><text>b</text></entry>'),
  );
  await load(first, { model: firstModel }, text);
  expect((await rowsOf('entry_view')).map((row) => row['text'])).toEqual([null, null, 'a\nb']);
  // nothing new: nothing is made
  expect((await load(first, { model: firstModel, views: true }, ledger('1'))).changes).toEqual([]);
});

test.each([true, undefined])('a column becomes wider below a view, --views: %s', async (wanted) => {
  await load(first, { model: firstModel, views: true }, ledger('12.50'));
  const { changes } = await load(
    second,
    { model: secondModel, ...(wanted ? { views: true } : {}) },
    ledger('a lot', '<reference>R</reference>', '<entry_view n="1"/>'),
  );
  // the name is a table's now
  expect(await views()).toEqual(wanted ? ['entry_view_'] : []);
  if (!wanted)
    expect(changes).toContain(
      'entry_view: view dropped because a table now has its name: --views makes it under another name',
    );
  if (!wanted) return;
  expect((await rowsOf('entry_view_')).map((row) => [row['amount'], row['reference']])).toEqual([
    ['12.50', null],
    ['a lot', 'R'],
  ]);
  expect((await rowsOf('entry_view_'))[0]).not.toHaveProperty('amount_signed');
  expect(await readFromPostgres({ url: database.url, sqlSchema: schema }, secondModel)).toHaveLength(2);
});

test('rights on a view stay where it is made anew', async () => {
  await load(first, { model: firstModel, views: true }, ledger('12.50'));
  await database.sql.unsafe(
    `do $$ begin if not exists (select from pg_roles where rolname = 'auditor_of_views') then create role auditor_of_views; end if; end $$;
     grant select on "${schema}".entry_view to auditor_of_views with grant option; grant select on "${schema}".entry_view to public`,
  );
  const before = await acl();
  await load(first, { model: firstModel }, ledger('a lot'));
  expect((await rowsOf('entry_view')).map((row) => row['amount'])).toEqual(['12.50', 'a lot']);
  expect(await acl()).toEqual(before);
  // overwritten tables are dropped and made anew, not emptied below their views
  const oid = `select '"${schema}".entry'::regclass::oid::int as oid`;
  const [table] = await database.sql.unsafe(oid);
  await load(first, { model: firstModel, saveMode: 'overwrite' }, ledger('5'));
  expect(await database.sql.unsafe(oid)).not.toEqual([table]);
  expect((await rowsOf('entry_view')).map((row) => Number(row['amount_signed']))).toEqual([-5]);
  expect(await acl()).toEqual(before);
});

test('what no load made stays, and is told of', async () => {
  await load(first, { model: firstModel }, ledger('1'));
  await database.sql.unsafe(`create view "${schema}".entry_view as select 1 as mine`);
  const { changes, rows } = await load(first, { model: firstModel, views: true }, ledger('2'));
  expect(rows['entry']).toBe(1);
  expect(changes).toContain('entry_view: view not made because an object that no load made has this name');
  expect(await database.sql.unsafe(`select * from "${schema}".entry_view`)).toEqual([{ mine: 1 }]);
  await database.sql.unsafe(
    `drop view "${schema}".entry_view; create type "${schema}".entry_view as (a int)`,
  );
  expect((await load(first, { model: firstModel, views: true }, ledger('2'))).changes).toContain(
    'entry_view: view not made because an object that no load made has this name',
  );
});

test('a view that others stand on stays, and columns below it are told as before', async () => {
  await load(first, { model: firstModel, views: true }, ledger('1'));
  await database.sql.unsafe(
    `create view "${schema}".sums as select sum(amount_signed) from "${schema}".entry_view`,
  );
  // columns can come behind: the view is replaced where it stands
  const text = bytesOf(new TextDecoder().decode(ledger('3')).replace('</entry>', '<text>a</text></entry>'));
  const { rows, changes } = await load(first, { model: firstModel, views: true }, text);
  expect(rows['entry']).toBe(1);
  expect(changes).toContain('views made: entry_view');
  expect((await rowsOf('entry_view')).map((row) => row['text'])).toEqual([null, 'a']);
  await expect(load(first, { model: firstModel, views: true }, ledger('a lot'))).rejects.toThrow(
    /sums|entry_view/,
  );
  await database.sql.unsafe(`drop view "${schema}".sums`);
  await load(first, { model: firstModel, views: true }, ledger('a lot'));
  expect((await rowsOf('entry_view')).map((row) => row['amount'])).toEqual(['1', '3', 'a lot']);
});

test('views of another model over the same tables come back', async () => {
  await load(first, { model: firstModel, views: true }, ledger('1'));
  await database.sql.unsafe(`alter view "${schema}".entry_view rename to theirs`);
  await load(first, { model: firstModel, saveMode: 'overwrite' }, ledger('2'));
  expect(await views()).toEqual(['theirs']);
  const { changes } = await load(first, { model: firstModel }, ledger('a lot'));
  expect(await views()).toEqual([]);
  expect(changes.join()).toMatch(/theirs: view dropped because it no longer fits its tables: .*operator/);
});

test('whichever version loads last, rows of all versions tell their values', async () => {
  const reference = bytesOf(
    new TextDecoder().decode(ledger('0')).replace('<amount>0</amount>', '<reference>R</reference>'),
  );
  await load(first, { model: firstModel, views: true }, ledger('12.50'));
  await load(third, { model: thirdModel }, reference);
  for (const [source, model, document] of [
    [first, firstModel, ledger('1')],
    [third, thirdModel, reference],
  ] as const) {
    const found = (await rowsOf('entry_view')).slice(0, 2);
    expect(found.map((row) => [row['amount'], row['reference'], row['way']])).toEqual([
      ['12.50', null, 'DBIT'],
      [null, 'R', 'DBIT'],
    ]);
    await load(source, { model }, document);
  }
});
