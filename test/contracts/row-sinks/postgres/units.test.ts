/** Units that other processes write into PostgreSQL: attempts that die, wait or wake late, and what is left of their rights. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connectTarget } from '../../../../src/targets/sql/postgres/connection.ts';
import { openPostgresUnit, type PostgresUnitToken } from '../../../../src/targets/sql/postgres/units.ts';
import type { RowSink, SinkPlan, UnitReceipt, UnitSink } from '../../../../src/ports/row-sink.ts';
import { at } from '../../../unit/engine/sql/library-model.ts';
import { needs, some } from '../../../support/needs.ts';
import { eventually } from '../../../support/service/waiting.ts';
import { encodeRows, libraryPlan, libraryRows } from '../../targets/library-rows.ts';
import {
  constraintNames,
  constraints,
  createSink,
  database,
  leftovers,
  load,
  personRow,
  schema,
  useDatabase,
} from './target.ts';

useDatabase();

const child = fileURLToPath(new URL('write-unit.ts', import.meta.url));
const people = 300;
const perUnit = 100;

async function begun(plan: SinkPlan, units: number): Promise<{ sink: RowSink; token: PostgresUnitToken }> {
  const sink = createSink();
  expect(await sink.open(plan)).toBe('load');
  const token = await sink.units!.begin(units);
  if (typeof token === 'string') throw new Error(token);
  return { sink, token: token as PostgresUnitToken };
}

/** Unit 0 has the document and the library, each unit a hundred people. */
async function writeUnit(into: UnitSink, unit: number): Promise<void> {
  if (unit === 0) {
    const rows = libraryRows(1);
    await into.writeSide('documents', encodeRows('copy-text', rows.documents), 1);
    await into.write(at.library, encodeRows('copy-text', rows.tables.get(at.library)!), 1);
  }
  const rows = Array.from({ length: perUnit }, (_, i) => personRow(unit * perUnit + i + 1));
  await into.write(at.person, encodeRows('copy-text', rows), perUnit);
}

async function doUnit(token: PostgresUnitToken, unit: number): Promise<UnitReceipt> {
  const into = await openPostgresUnit(token, unit);
  try {
    await writeUnit(into, unit);
    return JSON.parse(await into.commit((receipt) => JSON.stringify(receipt))) as UnitReceipt;
  } finally {
    await into.close();
  }
}

async function publish(sink: RowSink, receipts: readonly UnitReceipt[]) {
  await sink.units!.adopt(receipts, String);
  const published = await sink.publish(async () => true, new Map());
  await sink.close();
  return published;
}

async function keysThere(): Promise<number[]> {
  const rows = await database.sql.unsafe<{ key: number }[]>(
    `SELECT person_key::int AS key FROM "${schema}"."person" ORDER BY 1`,
  );
  return rows.map(({ key }) => key);
}

const all = Array.from({ length: people }, (_, i) => i + 1);

/** Roles that a load made, and schemas and tables of staging. */
async function nothingLeft(): Promise<void> {
  const roles = await database.sql`select rolname from pg_roles where rolname like ${'\\_svc\\_staging\\_%'}
    and shobj_description(oid, 'pg_authid') like ${`% in ${database.sql.options.database}`}`;
  expect([...roles]).toEqual([]);
  expect(await leftovers()).toEqual([]);
}

/** As the role of the job, beside its units. */
async function asExecutor(token: PostgresUnitToken, statement: string): Promise<unknown> {
  const sql = connectTarget(token.address);
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 0 });
  }
}

test.each(['sequence', 'hash'] as const)(
  'keys %s: tables, keys and comments are those of the DDL',
  async (keys) => {
    const { sink, token } = await begun(libraryPlan(1, { keys }), 3);
    const receipts = await Promise.all([0, 1, 2].map((unit) => doUnit(token, unit)));
    expect(await publish(sink, receipts)).toMatchObject({
      rows: { library: 1, person: people },
      already: false,
    });
    expect(await keysThere()).toEqual(all);
    const [made, named] = [await constraints(schema), await constraintNames(schema)];
    await database.sql.unsafe(`DROP SCHEMA "${schema}" CASCADE`);
    const here = createSink();
    await here.open(libraryPlan(2, { keys }));
    for (const unit of [0, 1, 2]) {
      const direct = here as unknown as UnitSink;
      await writeUnit(direct, unit);
    }
    await here.publish(async () => true, new Map());
    await here.close();
    expect(made).toEqual(await constraints(schema));
    expect(named).toEqual(await constraintNames(schema));
    await nothingLeft();
  },
);

test('tables with rows take more, and what was made of units can be overwritten as any other', async () => {
  const first = await begun(libraryPlan(1), 1);
  await publish(first.sink, [await doUnit(first.token, 0)]);
  const second = await begun(libraryPlan(2), 1);
  await publish(second.sink, [await doUnit(second.token, 0)]);
  expect(await keysThere()).toEqual(all.slice(0, 2 * perUnit));
  const third = await begun(libraryPlan(3, { saveMode: 'overwrite' }), 1);
  await publish(third.sink, [await doUnit(third.token, 0)]);
  expect(await keysThere()).toHaveLength(perUnit);
  await load(libraryPlan(4, { saveMode: 'overwrite' }));
  await nothingLeft();
});

test('of two attempts the second waits, and takes the report of the first; its own rows go', async () => {
  const { sink, token } = await begun(libraryPlan(1), 1);
  const first = await openPostgresUnit(token, 0);
  await writeUnit(first, 0);
  // begins to copy, so that the unit is its own
  const filler = Array.from({ length: 60_000 }, (_, i) => personRow(1000 + i));
  await first.write(at.person, encodeRows('copy-text', filler), filler.length);
  await eventually('the first has claimed the unit', async () => {
    const rows =
      await database.sql`select from pg_stat_activity where usename = ${token.address.user!} and xact_start is not null`;
    return rows.length > 0 ? true : null;
  });
  const twin = doUnit(token, 0);
  const note = await first.commit((receipt) => JSON.stringify(receipt));
  expect(JSON.stringify(await twin)).toBe(note);
  await first.close();
  const receipts = [JSON.parse(note) as UnitReceipt];
  expect((await publish(sink, receipts)).rows['person']).toBe(perUnit + filler.length);
  expect(await keysThere()).toHaveLength(perUnit + filler.length);
});

/** Milliseconds after which an attempt is killed, by unit: before its first row, in its transaction, and perhaps when it has committed. */
const kills = some<readonly (readonly number[])[]>(
  [
    [[0, 8], []],
    [
      [0, 4, 12, 30],
      [0, 2, 6, 9, 16],
      [1, 20, 40, 60],
    ],
  ],
  1,
);

test.each(kills.map((deaths) => ({ deaths })))(
  'attempts killed at some moment: every row is there once ($deaths)',
  async ({ deaths }) => {
    const units = deaths.length;
    const { sink, token } = await begun(libraryPlan(1), units);
    let killed = 0;
    const attempt = async (unit: number, killAfterMs: number | null): Promise<UnitReceipt | null> => {
      const process_ = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'inherit'] });
      const rows = Array.from({ length: perUnit }, (_, i) => personRow(unit * perUnit + i + 1));
      const text = Buffer.from(encodeRows('copy-text', rows)).toString();
      process_.stdin.end(JSON.stringify({ token, unit, table: at.person, text, rows: perUnit }));
      let output = '';
      process_.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (killAfterMs !== null) setTimeout(() => process_.kill('SIGKILL'), killAfterMs);
      });
      const [code] = (await once(process_, 'close')) as [number | null];
      if (code !== 0) {
        killed += 1;
        return null;
      }
      return JSON.parse(output.split('\n').at(-2)!) as UnitReceipt;
    };
    const receipts: UnitReceipt[] = [];
    for (let unit = 0; unit < units; unit += 1) {
      let receipt: UnitReceipt | null = null;
      for (const delayMs of [...deaths[unit]!, null]) receipt ??= await attempt(unit, delayMs);
      receipts.push(receipt!);
    }
    expect(killed).toBeGreaterThan(0);
    await publish(sink, receipts);
    expect(await keysThere()).toEqual(all.slice(0, units * perUnit));
    await nothingLeft();
  },
);

test(
  'a stopped executor: its twin takes the unit from it after a minute',
  { timeout: 300_000, ...needs('whole run') },
  async () => {
    const { sink, token } = await begun(libraryPlan(1), 1);
    const stopped = await openPostgresUnit(token, 0);
    // 12 MB, so that the unit is claimed and some of it copied; then nothing more comes
    const filler = Array.from({ length: 60_000 }, (_, i) => personRow(1000 + i));
    await stopped.write(at.person, encodeRows('copy-text', filler), filler.length);
    await eventually('it has claimed the unit', async () => {
      const rows =
        await database.sql`select from pg_stat_activity where usename = ${token.address.user!} and xact_start is not null`;
      return rows.length > 0 ? true : null;
    });
    const receipt = await doUnit(token, 0);
    await expect(stopped.commit(() => 'woken')).rejects.toMatchObject({ code: 'service_unavailable' });
    await stopped.close();
    await publish(sink, [receipt]);
    expect(await keysThere()).toEqual(all.slice(0, perUnit));
    await nothingLeft();
  },
);

test('an attempt that wakes after the others were adopted writes nothing', async () => {
  const { sink, token } = await begun(libraryPlan(1), 1);
  const late = await openPostgresUnit(token, 0);
  await writeUnit(late, 0);
  const receipt = await doUnit(token, 0);
  await sink.units!.adopt([receipt], String);
  await expect(late.commit(() => 'late')).rejects.toMatchObject({
    code: expect.stringMatching(/^(service_unavailable|target_not_allowed)$/),
  });
  await late.close();
  await expect(openPostgresUnit(token, 0)).rejects.toMatchObject({ code: 'target_not_allowed' });
  await sink.publish(async () => true, new Map());
  await sink.close();
  expect(await keysThere()).toEqual(all.slice(0, perUnit));
});

test('a unit that nobody committed, or nobody told of, is missed: nothing is published', async () => {
  const { sink, token } = await begun(libraryPlan(1), 2);
  const receipt = await doUnit(token, 0);
  await expect(sink.units!.adopt([receipt, receipt], String)).rejects.toMatchObject({
    code: 'internal_error',
  });
  await sink.abort();
  await sink.close();
  await nothingLeft();
  const [row] = await database.sql`select to_regclass(${`"${schema}".person`}) as person`;
  expect(row!['person']).toBeNull();
});

test('the role of executors may put rows into staging, and nothing else', async () => {
  await load(libraryPlan(1));
  const { sink, token } = await begun(libraryPlan(2), 1);
  const [, relation] = token.relations.find(([key]) => key === at.person)!;
  const ledgerUpdate = `UPDATE ${token.ledger} SET note = ''`;
  for (const statement of [
    `SELECT * FROM ${relation}`,
    `DELETE FROM ${relation}`,
    `DROP TABLE ${relation}`,
    `SELECT * FROM "${schema}"."person"`,
    `INSERT INTO "${schema}"."person" DEFAULT VALUES`,
    `CREATE TABLE "${schema}".x ()`,
    ledgerUpdate,
    'CREATE ROLE x',
  ])
    await expect(asExecutor(token, statement), statement).rejects.toMatchObject({ code: '42501' });
  expect(JSON.stringify(token)).not.toContain(new URL(database.url).password || 'no password');
  const [role] = await database.sql<{ soon: boolean }[]>`
    select rolvaliduntil < now() + interval '5 minutes' as soon from pg_roles where rolname = ${token.address.user!}`;
  expect(role).toEqual({ soon: true });
  await sink.abort();
  await sink.close();
  await expect(asExecutor(token, 'SELECT')).rejects.toMatchObject({ code: expect.stringMatching(/^28/) });
  await nothingLeft();
});

test('a value that does not fit, and a missing one, told by units', async () => {
  const { sink, token } = await begun(libraryPlan(1), 1);
  const into = await openPostgresUnit(token, 0);
  const rows = libraryRows(1);
  await into.writeSide('documents', encodeRows('copy-text', rows.documents), 1);
  await into.write(at.library, encodeRows('copy-text', rows.tables.get(at.library)!), 1);
  into.allowNull(at.person, 4);
  await into.unconverted({ table: at.person, column: 3, rowKey: 1, text: 'many\tof them' });
  await into.write(at.person, encodeRows('copy-text', [[1, 1, null, null, null, null]]), 1);
  const receipt = JSON.parse(await into.commit((made) => JSON.stringify(made))) as UnitReceipt;
  await into.close();
  const { changes } = await publish(sink, [receipt]);
  expect(changes.join('\n')).toMatch(/widened to text/);
  const [row] = await database.sql.unsafe(`SELECT * FROM "${schema}"."person"`);
  expect(Object.values(row!)).toContain('many\tof them');
});

test('whole numbers beyond their column, told by units', async () => {
  const { sink, token } = await begun(libraryPlan(1), 1);
  const into = await openPostgresUnit(token, 0);
  const rows = libraryRows(1);
  const [first] = rows.tables.get(at.book)!;
  first![7] = null;
  await into.writeSide('documents', encodeRows('copy-text', rows.documents), 1);
  await into.write(at.library, encodeRows('copy-text', rows.tables.get(at.library)!), 1);
  await into.unconverted({ table: at.book, column: 7, rowKey: 1, text: '98765432109876543210' });
  await into.write(at.book, encodeRows('copy-text', rows.tables.get(at.book)!), 2);
  const receipt = JSON.parse(await into.commit((made) => JSON.stringify(made))) as UnitReceipt;
  await into.close();
  const { changes } = await publish(sink, [receipt]);
  expect(changes).toContain('book.pages: widened to numeric');
  const read = await database.sql.unsafe(
    `SELECT pages, pg_typeof(pages)::text AS type FROM "${schema}"."book" ORDER BY book_key`,
  );
  expect(read.map(({ pages, type }) => [pages, type])).toEqual([
    ['98765432109876543210', 'numeric'],
    ['320', 'numeric'],
  ]);
});

test('a login that may make no role: the rows come by the sink', async () => {
  const login = `units_${schema}`;
  await database.sql.unsafe(
    `CREATE ROLE "${login}" LOGIN PASSWORD 'word'; GRANT CREATE ON DATABASE "${database.sql.options.database}" TO "${login}"`,
  );
  try {
    const sink = createSink({ user: login, password: 'word' });
    await sink.open(libraryPlan(1));
    expect(await sink.units!.begin(1)).toMatch(/its user cannot create a role/);
    await writeUnit(sink as unknown as UnitSink, 0);
    await sink.publish(async () => true, new Map());
    await sink.close();
    expect(await keysThere()).toHaveLength(perUnit);
  } finally {
    await database.sql.unsafe(`DROP OWNED BY "${login}" CASCADE; DROP ROLE "${login}"`);
  }
});

test('the role and the staging of a job that died go with the next job', async () => {
  const dead = await begun(libraryPlan(1), 1);
  await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  await load(libraryPlan(2));
  await nothingLeft();
  await dead.sink.abort();
  await dead.sink.close();
});
