/** Tables of a target whose owner lets triggers, rules, defaults and operators of their own run with what a load writes. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import type { SinkPlan } from '../../../src/ports/row-sink.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { encodeRows, libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { needs, some } from '../../support/needs.ts';

const trial = useTrial();
let database: TestDatabase;
let schema = '';
let number = 0;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

beforeEach(() => {
  schema = `code_${(number += 1)}`;
});

async function load(plan: SinkPlan): Promise<Awaited<ReturnType<typeof loadLibrary>>> {
  const sink = createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true });
  try {
    return await loadLibrary(sink, plan, 2);
  } finally {
    await sink.close();
  }
}

/** With rows beside the tables, too. */
async function loadBeside(plan: SinkPlan): Promise<void> {
  const sink = createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true });
  try {
    await sink.open(plan);
    const rows = libraryRows(plan.idJob, 2, await sink.keyOffsets());
    await writeLibrary(sink, rows);
    const kept = [1, 2].map((at) => [1, 'library', 1, at, '/library/x', 'element', '<x/>']);
    await sink.writeSide('unmapped', encodeRows(sink.encoding, kept), kept.length);
    await sink.writeSide('lexical', encodeRows(sink.encoding, [[1, 'library', 1, 'name', ' x ']]), 1);
    await sink.publish(async () => true, rows.lastKeys);
  } finally {
    await sink.close();
  }
}

const count = async (table: string): Promise<number> =>
  (await database.sql.unsafe<{ n: number }[]>(`select count(*)::int as n from ${schema}.${table}`))[0]!.n;

const dropping = (table: string): string =>
  `create function ${schema}.none() returns trigger language plpgsql as 'begin return null; end';
   create trigger none before insert on ${schema}.${table} for each row execute function ${schema}.none()`;

test.for([
  ['a trigger that drops rows', () => dropping('person'), 'person'],
  ['a trigger on the documents', () => dropping('_documents'), '_documents'],
  [
    'a rule that does nothing instead',
    () => `create rule none as on insert to ${schema}.person do instead nothing`,
    'person',
  ],
  [
    'a rule that puts rows elsewhere',
    () =>
      `create table ${schema}.elsewhere (like ${schema}.person);
       create rule away as on insert to ${schema}.person do instead insert into ${schema}.elsewhere values (new.*)`,
    'person',
  ],
  [
    'a trigger that changes keys',
    () =>
      `create function ${schema}.other() returns trigger language plpgsql as 'begin new.person_key := new.person_key + 1000000; return new; end';
       create trigger other before insert on ${schema}.person for each row execute function ${schema}.other()`,
    'person',
  ],
] as const)('%s: the load fails, and leaves nothing', async ([, code, table]) => {
  await load(libraryPlan(1));
  const before = [await count('person'), await count('_documents'), await count('_loads')];
  await database.sql.unsafe(code());
  await expect(load(libraryPlan(2))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(new RegExp(`^${table}: triggers or rules`)),
  });
  expect([await count('person'), await count('_documents'), await count('_loads')]).toEqual(before);
});

/** A function that takes away all persons but the first, and then does the rest. */
const removing = (type: string, rest: string): string =>
  `create function ${schema}.removing() returns ${type} language plpgsql as
    'begin delete from ${schema}.person where person_key > (select min(person_key) from ${schema}.person); ${rest}; end'`;

const side = '_unmapped';
test.for(
  some(
    [
      ['_loads', () => dropping('_loads')],
      ['_keys', () => `${dropping('_keys')}; delete from ${schema}._keys`],
      ['_unmapped', () => dropping(side)],
      [
        '_unmapped',
        () =>
          `create table ${schema}.away (like ${schema}.${side});
       create rule away as on insert to ${schema}.${side} do instead insert into ${schema}.away values (new.*)`,
      ],
      ['_lexical', () => dropping('_lexical')],
      [
        'person',
        () =>
          `create function ${schema}.fine(text) returns boolean language plpgsql as 'begin delete from ${schema}.person where person_key > (select min(person_key) + 1 from ${schema}.person); return true; end';
       alter table ${schema}._lexical add check (${schema}.fine(column_name)) not valid`,
      ],
      [
        'person',
        () =>
          `create function ${schema}.later() returns trigger language plpgsql as 'begin delete from ${schema}.person where person_key = new.person_key; return null; end';
       create constraint trigger later after insert on ${schema}.person deferrable initially deferred
         for each row execute function ${schema}.later()`,
      ],
      [
        'person',
        () =>
          `${removing('trigger', 'return new')};
       create function ${schema}.put_off() returns trigger language plpgsql as 'begin set constraints all deferred; return new; end';
       create trigger put_off before insert on ${schema}._loads for each row execute function ${schema}.put_off();
       create constraint trigger later after insert on ${schema}._loads deferrable initially deferred
         for each row execute function ${schema}.removing()`,
      ],
      [
        'person',
        () =>
          `${removing('trigger', 'return null')};
       alter table ${schema}._unmapped rename to _former;
       create table ${schema}._unmapped (like ${schema}._former) partition by hash (document_key);
       create table ${schema}.only_part partition of ${schema}._unmapped for values with (modulus 1, remainder 0);
       insert into ${schema}._unmapped select * from ${schema}._former;
       create constraint trigger later after insert on ${schema}.only_part deferrable initially deferred
         for each row execute function ${schema}.removing()`,
      ],
      [
        'person',
        () =>
          `${removing('integer', 'return 1')};
       alter table ${schema}._loads add column extra integer default 1;
       alter table ${schema}._loads alter column extra set default ${schema}.removing()`,
      ],
      [
        'person',
        () =>
          `${removing('integer', 'return 1')};
       create function ${schema}.indexed(bigint) returns integer language plpgsql immutable as 'begin return ${schema}.removing(); end';
       create index on ${schema}._loads (${schema}.indexed(job)) where job > 1`,
      ],
    ] as const,
    2,
  ),
)('what is kept out of %s, or taken away again, is no load', async ([table, code]) => {
  await loadBeside(libraryPlan(1));
  const before = [await count('person'), await count('_documents'), await count('_loads'), await count(side)];
  await database.sql.unsafe(code());
  await expect(loadBeside(libraryPlan(2))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(new RegExp(`^${table}: triggers or rules`)),
  });
  expect([
    await count('person'),
    await count('_documents'),
    await count('_loads'),
    await count(side),
  ]).toEqual(before);
});

test.for(some(['person', '_loads'] as const, 2))(
  'rows of %s that a policy hides are no load',
  async (table) => {
    const role = `hidden_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
    await database.sql.unsafe(
      `create role ${role} login password 'hidden'; create schema ${schema} authorization ${role}`,
    );
    const url = new URL(database.url);
    url.username = role;
    url.password = 'hidden';
    const loadAs = async (idJob: number): Promise<void> => {
      const sink = createPostgresRowSink({ url: url.href, sqlSchema: schema, createSchema: false });
      try {
        await loadLibrary(sink, libraryPlan(idJob), 2);
      } finally {
        await sink.close();
      }
    };
    try {
      await loadAs(1);
      const before = [await count('person'), await count('_loads')];
      await database.sql.unsafe(
        `alter table ${schema}.${table} enable row level security, force row level security;
       create policy none on ${schema}.${table} using (false) with check (true)`,
      );
      await expect(loadAs(2)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(new RegExp(`^${table}: .*row security`)),
      });
      expect([await count('person'), await count('_loads')]).toEqual(before);
      await database.sql.unsafe(`create policy all_rows on ${schema}.${table} using (true)`);
      await loadAs(3);
      expect(await count('_loads')).toBe(2);
    } finally {
      await database.sql.unsafe(`drop schema ${schema} cascade; drop role ${role}`);
    }
  },
);

test('triggers that look on do no harm', async () => {
  await load(libraryPlan(1));
  const before = await count('person');
  await database.sql.unsafe(
    `create table ${schema}.seen (at int);
     create function ${schema}.look() returns trigger language plpgsql as 'begin insert into ${schema}.seen values (1); return null; end';
     create trigger look after insert on ${schema}.person for each row execute function ${schema}.look()`,
  );
  await load(libraryPlan(2));
  expect([await count('person'), await count('seen')]).toEqual([2 * before, before]);
});

test('functions and operators that are called as those of the server are not run', async () => {
  await load(libraryPlan(1));
  await database.sql.unsafe(
    `create schema if not exists ${schema}_own;
     create function public.count(bigint) returns bigint language sql as 'select 7';
     create function public.format_type(oid, int) returns text language sql as $$ select 'text' $$;
     create function public.standing(bigint, integer) returns bigint language sql as 'select 0::bigint';
     create operator public.+ (leftarg = bigint, rightarg = integer, function = public.standing);
     create function public.same(bigint, bigint) returns boolean language sql as 'select true';
     create operator public.= (leftarg = bigint, rightarg = bigint, function = public.same);
     alter database ${new URL(database.url).pathname.slice(1)} set search_path = public, pg_catalog`,
  );
  const before = await count('person');
  await load(libraryPlan(2));
  expect(await count('person')).toBe(2 * before);
});

test.for(
  some(
    [
      [
        'CREATE TABLE',
        `execute format('create trigger away before insert on %s for each row execute function public.away()', made.object_identity)`,
      ],
      [
        'CREATE TABLE',
        `execute format('create constraint trigger away after insert on %s deferrable initially deferred for each row execute function public.away()', made.object_identity)`,
      ],
      [
        'ALTER TABLE',
        `execute format('delete from %s where ctid = (select max(ctid) from %1$s)', made.object_identity)`,
      ],
    ] as const,
    2,
  ),
)('rows that functions at each %s take away are missed', async ([tag, what]) => {
  const code = await trial.emptyDatabase();
  await code.sql.unsafe(`
    create function public.away() returns trigger language plpgsql as $$
    begin
      if tg_when = 'AFTER' then execute format('delete from %I.%I where ctid = (select max(ctid) from %1$I.%2$I having count(*) > 1)', tg_table_schema, tg_table_name); end if;
      return null;
    end $$;
    create function public.seen() returns event_trigger language plpgsql as $$
    declare made record;
    begin
      for made in select * from pg_event_trigger_ddl_commands() where exists (select from pg_attribute where attrelid = objid and attname = 'per%cent')
      loop ${what}; end loop;
    end $$;
    create event trigger seen on ddl_command_end when tag in ('${tag}') execute function public.seen()`);
  const sink = createPostgresRowSink({ url: code.url, sqlSchema: 'taken', createSchema: true });
  try {
    await expect(loadLibrary(sink, libraryPlan(1), 2)).rejects.toThrow(/kept out|stored 0|pending trigger/);
  } finally {
    await sink.close();
  }
  expect(await code.sql`select from pg_class where relname = '_documents'`).toHaveLength(0);
});

test('time limits that a role has for people are not for a load', needs('whole run'), async () => {
  const role = `hasty_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await database.sql.unsafe(
    `create role ${role} login password 'hasty'; create schema ${schema} authorization ${role};
     alter role ${role} set idle_session_timeout = '1s'; alter role ${role} set transaction_timeout = '1s';
     alter role ${role} set statement_timeout = '1s'; alter role ${role} set idle_in_transaction_session_timeout = '1s'`,
  );
  const url = new URL(database.url);
  url.username = role;
  url.password = 'hasty';
  const sink = createPostgresRowSink({ url: url.href, sqlSchema: schema, createSchema: false });
  try {
    const plan = libraryPlan(1);
    await sink.open(plan);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const rows = libraryRows(1, 2, await sink.keyOffsets());
    await writeLibrary(sink, rows);
    await sink.publish(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return true;
    }, rows.lastKeys);
    expect(await count('_loads')).toBe(1);
  } finally {
    await sink.close();
    await database.sql.unsafe(`drop schema ${schema} cascade; drop role ${role}`);
  }
});
