/** `unload`: a document's rows leave the target, and nothing else does. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';
import { deltaReader } from '../../contracts/row-sinks/readers.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));
const [first, second, third] = ['first.xml', 'second.xml', 'third.xml'].map((name) => join(fixtures, name));

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let sql: Sql;
let origin: string;
let logical: string;

beforeAll(async () => {
  home = await trial.home();
  service = await trial.service(home);
  origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
  sql = await trial.metadb(home);
}, 120_000);

/** Numbers of rows of the tables that have some, but for the ledger and the counters. */
async function contents(target: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
     where table_schema = ${target} and table_name not in ('_loads', '_keys') order by 1`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from ${sql(target)}.${sql(name)}`;
    if (row!.n > 0) found[name] = row!.n;
  }
  return found;
}

const constraints = async (target: string): Promise<unknown> =>
  await sql`select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
             where connamespace = ${target}::regnamespace order by 1, 2`;

async function load(target: string, ...documents: string[]): Promise<void> {
  const done = await convert(home, 'xml2er', ...documents, '-x', origin, '-o', `metadb:${target}`);
  logical = String(done.logical);
}

const item = (command: string, value: string) => ({ command, enabled: true, value });

describe('unload', { timeout: 120_000 }, () => {
  it('leaves the target as if the document had never been loaded', needs('whole run'), async () => {
    await load('never', second!, third!);
    await load('gone', second!, first!, third!);
    const keys = await constraints('gone');
    const before = await contents('gone');
    const dry = await convert(home, 'unload', '-l', logical, '-i', 'metadb:gone', '-D', 'first.xml', '-s');
    expect(dry).toMatchObject({ status: 'C', documents: 1 });
    expect(await contents('gone')).toEqual(before);
    const done = await convert(home, 'unload', '-l', logical, '-i', 'metadb:gone', '-D', 'first.xml');
    expect(done).toMatchObject({ status: 'C', documents: 1, tables: dry.tables });
    expect(await contents('gone')).toEqual(await contents('never'));
    expect(await constraints('gone')).toEqual(keys);
    const [ledger] = await sql`select sum(documents)::int as documents from gone._loads`;
    expect(ledger).toEqual({ documents: 2 });
  });

  it('removes every document of the name, and says when there is none', async () => {
    await load('twice', first!);
    await load('twice', first!);
    const argv = ['-l', logical, '-i', 'metadb:twice', '-D', 'first.xml'];
    expect(await convert(home, 'unload', ...argv)).toMatchObject({ documents: 2 });
    expect(await contents('twice')).toEqual({});
    const again = await runTool(home, 'unload', argv);
    expect(again.code).toBe(1);
    expect(again.stdout + again.stderr).toMatch(/no document called first\.xml was loaded/);
  });

  it(
    'leaves Delta tables as if the document had never been loaded, in a version of those that had it',
    needs('whole run'),
    async () => {
      const lake = (name: string): string => join(home.directory, `lake-${name}`);
      const loadInto = async (name: string, ...documents: string[]): Promise<void> => {
        for (const document of documents)
          await convert(home, 'xml2er', document, '-x', origin, '-o', lake(name), '-f', 'delta');
      };
      const rowsIn = async (name: string): Promise<Record<string, number>> => {
        const { tables } = JSON.parse(await readFile(join(lake(name), 'manifest.json'), 'utf8')) as {
          tables: { name: string }[];
        };
        const counts: Record<string, number> = {};
        for (const { name: table } of tables.toSorted((a, b) => a.name.localeCompare(b.name))) {
          const { length } = (await deltaReader(lake(name)).read(table))!;
          if (length > 0 && table !== '_loads') counts[table] = length;
        }
        return counts;
      };
      await loadInto('never', second!, third!);
      await loadInto('gone', second!, first!, third!);
      const before = await rowsIn('gone');
      const argv = ['-i', lake('gone'), '-D', 'first.xml'];
      const dry = await convert(home, 'unload', ...argv, '-s');
      expect(dry).toMatchObject({ status: 'C', documents: 1 });
      expect(await rowsIn('gone')).toEqual(before);
      expect(await convert(home, 'unload', ...argv)).toMatchObject({ documents: 1, tables: dry.tables });
      expect(await rowsIn('gone')).toEqual(await rowsIn('never'));
      const ledger = (await deltaReader(lake('gone')).read('_loads'))!;
      expect(ledger.reduce((sum, row) => sum + Number(row.documents), 0)).toBe(2);
      const again = await runTool(home, 'unload', argv);
      expect(again.stdout + again.stderr).toMatch(/no document called first\.xml was loaded/);
      const back = join(home.directory, 'lake-back');
      expect(await convert(home, 'er2xml', '-i', lake('gone'), '-o', back)).toMatchObject({ documents: 2 });
      expect((await readdir(back)).toSorted()).toEqual(['second.xml', 'third.xml']);
      // as it was when the second job had ended
      const earlier = join(home.directory, 'lake-earlier');
      await convert(home, 'er2xml', '-i', lake('gone'), '--version', '1', '-o', earlier);
      expect((await readdir(earlier)).toSorted()).toEqual(['first.xml', 'second.xml']);
      for (const [place, version, why] of [
        [lake('gone'), '9', 'the newest is 3'],
        ['metadb:gone', '1', 'omit it'],
      ] as const) {
        const refused = await runTool(home, 'er2xml', [
          '-i',
          place,
          '--version',
          version,
          '-o',
          `${earlier}-no`,
        ]);
        expect(refused.code).toBe(1);
        expect(refused.stdout + refused.stderr).toContain(why);
      }
      // what is loaded next has keys of its own
      await loadInto('gone', first!);
      expect(await rowsIn('gone')).toEqual(before);
    },
  );

  it('takes rows out of a table of another version that no foreign key leads to', async () => {
    await load('keyless', first!, second!);
    // as a load makes a table whose rows hang from any of many
    await sql.unsafe(`create table keyless.extra (extra_key bigint primary key, document_key bigint);
      insert into keyless.extra select document_key + 10, document_key from keyless._documents;
      insert into keyless._keys values ('extra', 20)`);
    const [made] =
      await sql`select tableowner as owner from pg_tables where schemaname = 'keyless' and tablename = 'item'`;
    await sql`alter table keyless.extra owner to ${sql(made!['owner'] as string)}`;
    await convert(home, 'unload', '-l', logical, '-i', 'metadb:keyless', '-D', 'first.xml');
    expect([
      ...(await sql`select d.name from keyless.extra join keyless._documents d using (document_key)`),
    ]).toEqual([{ name: 'second.xml' }]);
    expect(await contents('keyless')).toMatchObject({ extra: 1, _documents: 1 });
  });

  it('removes no row of a table that is somebody else’s: it says which refers to the rows', async () => {
    await load('foreign', first!);
    await sql.unsafe('create table "foreign".notes (item bigint references "foreign".item, note text)');
    await sql.unsafe('insert into "foreign".notes select min(item_key), \'mine\' from "foreign".item');
    const before = await contents('foreign');
    const refused = await runTool(home, 'unload', ['-l', logical, '-i', 'metadb:foreign', '-D', 'first.xml']);
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toMatch(/notes/);
    expect(await contents('foreign')).toEqual(before);
  });

  it('runs as a job over REST', async () => {
    await load('rest', first!, second!);
    const { jobs } = await service.client.run([
      {
        app_name: 'unload',
        source: {},
        target: { generation: [item('-l', logical), item('-i', 'metadb:rest'), item('-D', 'first.xml')] },
      },
    ]);
    expect(await service.client.ended(jobs[0]!)).toMatchObject({ status: 'C', msg_proc_qty: 1 });
    expect((await contents('rest'))['_documents']).toBe(1);
  });
});
