/** Which logical schema moves rows: an existing target decides, a new one gets the default, and what one load shaped stays with its target. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { execution, type MappingAnswer } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type Summary, type ToolRun } from '../../support/service/tools.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

/** `crew`: what version 2 has beside. */
const ship = (crew = ''): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:ship" xmlns="urn:ship" elementFormDefault="qualified">
    <xs:element name="voyage"><xs:complexType><xs:sequence>
      <xs:element name="port" type="xs:string"/>${crew}
      <xs:element name="hold" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="weight" type="xs:int"/><xs:element name="cargo" type="xs:string" minOccurs="0"/>
        <xs:element name="seal" type="xs:string" minOccurs="0"/>
      </xs:sequence><xs:attribute name="deck" type="xs:int"/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="notice"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
  </xs:schema>`;
const captain = '<xs:element name="captain" type="xs:string" minOccurs="0"/>';
const full = `<voyage xmlns="urn:ship"><port>Riga</port><hold deck="2"><weight>7</weight><cargo>amber</cargo><seal>S1</seal></hold></voyage>`;
const thin = '<voyage xmlns="urn:ship"><port>Oslo</port><hold><weight>9</weight></hold></voyage>';
const later = full.replace('<hold', '<captain>Ada</captain><hold');

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let sql: Sql;
let folder: string;

beforeAll(async () => {
  home = await trial.home();
  folder = join(home.directory, 'work');
  await mkdir(folder);
  const files = {
    'one.xsd': ship(),
    'two.xsd': ship(captain),
    'full.xml': full,
    'thin.xml': thin,
    'later.xml': later,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  service = await trial.service(home);
  sql = await trial.metadb(home);
}, 120_000);

const at = (name: string): string => join(folder, name);

function schema(name: string, file = 'one.xsd', ...more: string[]): Promise<Summary> {
  return convert(home, 'xsd2er', at(file), '--name', name, ...more);
}

function load(file: string, origin: Summary, target: string, ...more: string[]): Promise<ToolRun> {
  return runTool(home, 'xml2er', [
    at(file),
    '-x',
    String(origin.origin),
    '-o',
    target,
    '--json',
    '-e',
    'd',
    ...more,
  ]);
}

async function storedSchemas(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from svc.logical_schema`;
  return row!.n;
}

/** Fingerprints of what its model was drawn from. */
async function drawnFrom(logical: number): Promise<readonly string[]> {
  const rows = await sql<{ print: string }[]>`
    select unnest(drawn_from) as print from svc.logical_schema where id_lschma = ${logical}`;
  return rows.map(({ print }) => print);
}

async function chosen(
  run: Promise<ToolRun>,
): Promise<Summary['schema_chosen'] & { readonly stdout: string }> {
  const { code, stdout, stderr, summary } = await run;
  expect(code, stdout + stderr).toBe(0);
  expect(summary!.schema_chosen!.logical).toBe(summary!.logical);
  expect(stdout).toContain(
    `logical schema ${summary!.logical} of schema ${summary!.origin}: ${summary!.schema_chosen!.why}`,
  );
  return { ...summary!.schema_chosen!, stdout };
}

const targets: readonly (readonly [name: string, target: string, options: readonly string[]])[] = [
  ['the metadata database', 'metadb:decks', []],
  ['a DuckDB file', 'duckdb:$/decks.duckdb', []],
  ['a folder of CSV files', '$/csv', ['-f', 'csv']],
  ['a folder of JSON Lines', '$/jsonl', ['-f', 'jsonl']],
  ['a folder of Parquet files', '$/parquet', ['-f', 'parquet']],
];

describe('a target decides', { timeout: 240_000 }, () => {
  let origin: Summary;
  let pruned: number;

  it('a new target has the default: what one load shaped stays with the target that it was made for', async () => {
    origin = await schema('voyages');
    pruned = (await chosen(load('thin.xml', origin, at('pruned'), '--prune'))).logical;
    const prefixed = await chosen(
      load('thin.xml', origin, at('prefixed'), '--prefix', 'x_', '--namemode', 'u'),
    );
    const level = await chosen(load('thin.xml', origin, at('level'), '-g', '0'));
    expect(new Set([origin.logical, pruned, prefixed.logical, level.logical]).size).toBe(4);
    expect((await chosen(load('thin.xml', origin, at('pruned'), '--prune'))).logical).toBe(pruned);
    // the level that the target has is no other choice
    expect((await chosen(load('full.xml', origin, at('level'), '-g', '0'))).logical).toBe(level.logical);
    expect((await chosen(load('full.xml', origin, at('level'), '-g', '2'))).logical).not.toBe(level.logical);
    const on = await chosen(load('full.xml', origin, at('prefixed')));
    expect(on.logical).toBe(prefixed.logical);
    expect(on.stdout).toContain(`-l ${origin.logical} loads with the default`);
    const { logical } = await chosen(load('full.xml', origin, at('new'), '--workers', '2'));
    expect(logical).toBe(origin.logical);
  });

  it('a pruned model is drawn anew only where documents bring what decides of it', async () => {
    const set = await schema('ferries');
    const into = async (file: string, target: string): Promise<number> =>
      (await chosen(load(file, set, at(target), '--prune', '-S', 'o'))).logical;
    const first = await into('thin.xml', 'drawn');
    const from = await drawnFrom(first);
    expect(from).toHaveLength(2);
    // other values at the same places, and the same again in a new target
    await writeFile(at('other.xml'), thin.replace('Oslo', 'Bergen').replace('9', '1234567'));
    expect(await into('other.xml', 'drawn')).toBe(first);
    expect(await into('other.xml', 'drawn elsewhere')).toBe(first);
    expect(await drawnFrom(first)).toEqual(from);
    const wider = await into('full.xml', 'drawn');
    expect(wider).not.toBe(first);
    expect(await drawnFrom(wider)).toHaveLength(2);
    expect(await into('full.xml', 'drawn')).toBe(wider);
    expect(await drawnFrom(wider)).toHaveLength(2);
  });

  it.each(some(targets, 1))('%s is loaded by what made it', async (name, text, options) => {
    const target = text.replace('$', folder);
    const made = origin.logical!;
    const into = (file: string, ...more: string[]) => chosen(load(file, origin, target, ...options, ...more));
    expect((await into('full.xml')).logical).toBe(made);
    // a variant in the same target goes on from what is there, once, and does not take it over
    const variant = (await into('thin.xml', '--prune')).logical;
    expect(variant).not.toBe(made);
    expect((await into('thin.xml', '--prune', '-S', 'a')).logical).toBe(variant);
    const again = await into('full.xml');
    expect(again.logical).toBe(made);
    expect(again.stdout).not.toContain('unmapped element');
    // unless all that the target holds is of the variant
    await into('thin.xml', '--prune', '-S', 'o');
    expect(await into('thin.xml')).toMatchObject({ logical: variant, why: 'it made what the target holds' });
    expect(await into('full.xml', '-l', String(made))).toMatchObject({ logical: made, why: '-l names it' });
    // rows are read back by what made them
    const back = at(`back ${name}`);
    const argv = ['-i', target, '-x', String(origin.origin), '-o', back, '--json'];
    const { summary, stdout } = await runTool(home, 'er2xml', argv);
    expect(summary, stdout).toMatchObject({ documents: 3, schema_chosen: { logical: made } });
    expect(compareXml(await readFile(join(back, 'full.xml'), 'utf8'), full)).toEqual([]);
  });

  it.each(some(targets, 1))(
    '%s: a dry run and -S p speak of what would be loaded, and store nothing',
    async (_, text, options) => {
      const into = (...more: string[]) =>
        load('thin.xml', origin, text.replace('$', folder), ...options, ...more);
      const before = await storedSchemas();
      const [dry, printed] = [await chosen(into('-s')), await chosen(into('-S', 'p'))];
      for (const nothing of [['-s'], ['-S', 'p']]) {
        const shaped = await into(...nothing, '-g', '1', '--prefix', 'q_');
        expect(shaped.summary, shaped.stdout).toMatchObject({
          logical: null,
          schema_chosen: { logical: null },
        });
        const told = `a new logical schema of schema ${origin.origin}, which this run does not store`;
        expect(shaped.stdout).toContain(told);
      }
      expect(await storedSchemas()).toBe(before);
      const { logical, why } = await chosen(into());
      expect([dry, printed]).toMatchObject([
        { logical, why },
        { logical, why },
      ]);
      expect(why).toMatch(/target/);
    },
  );

  it('-S p prints tables where the target cannot be asked, and says so', async () => {
    const away = 'postgresql://nobody@127.0.0.1:1/none?schema=x';
    const { code, stdout } = await load('thin.xml', origin, away, '-S', 'p');
    expect(stdout).toMatch(/cannot read from the target which schemas loaded it/);
    expect([code, stdout.includes('CREATE TABLE "voyage"')]).toEqual([0, true]);
  });

  it(
    'scripts of a folder that several logical schemas wrote name the columns of all',
    needs('whole run'),
    async () => {
      for (const format of ['csv', 'tsv', 'jsonl', 'parquet']) {
        const target = at(`mixed ${format}`);
        await chosen(load('full.xml', origin, target, '-f', format));
        await chosen(load('thin.xml', origin, target, '-f', format, '-l', String(pruned)));
        const scripts = (await readdir(target)).filter((name) => name.endsWith('.sql'));
        for (const name of scripts) {
          const text = await readFile(join(target, name), 'utf8');
          const [, columns] = /CREATE TABLE (?:IF NOT EXISTS )?["`]?hold["`]? \(([^;]*)/.exec(text)!;
          expect(columns, `${format} ${name}`).toMatch(/cargo[\s\S]*seal/);
        }
      }
    },
  );

  it(
    'a document of another root is loaded by a logical schema made from the target’s, names and all',
    needs('whole run'),
    async () => {
      await writeFile(at('notice.xml'), '<notice xmlns="urn:ship"><text>fog</text></notice>');
      const origin = await schema('notices', 'one.xsd', '--root', 'voyage');
      const target = 'metadb:notices';
      const first = await chosen(load('full.xml', origin, target, '--prefix', 'n_', '--root', 'voyage'));
      const more = await chosen(load('notice.xml', origin, target));
      expect(more.logical).not.toBe(first.logical);
      expect(more.why).toContain('documents start with notice');
      const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'notices' and table_name not like ${'\\_%'} order by 1`;
      expect(tables.map(({ name }) => name)).toEqual(['n_hold', 'n_notice', 'n_voyage']);
      expect((await chosen(load('full.xml', origin, target))).logical).not.toBe(origin.logical);
      // none of these is the default now
      expect((await chosen(load('full.xml', origin, at('notices new')))).logical).toBe(origin.logical);
    },
  );

  it(
    'the next version of a schema goes on with the names that the target has',
    needs('whole run'),
    async () => {
      const one = await schema('fleet');
      await chosen(load('full.xml', one, 'metadb:fleet_plain'));
      await chosen(load('full.xml', one, 'metadb:fleet_named', '--prefix', 'f_'));
      const two = await convert(
        home,
        'xsd2er',
        at('two.xsd'),
        '--parent',
        String(one.origin),
        '--name',
        'fleet',
      );
      const plain = await chosen(load('later.xml', two, 'metadb:fleet_plain'));
      expect(plain).toMatchObject({ logical: two.logical });
      expect(plain.why).toContain(
        `logical schema ${one.logical} of schema ${one.origin}, an earlier version`,
      );
      const named = await chosen(load('later.xml', two, 'metadb:fleet_named'));
      expect(named.logical).not.toBe(two.logical);
      expect((await chosen(load('later.xml', two, 'metadb:fleet_named'))).logical).toBe(named.logical);
      const rows = await sql`select port, captain from fleet_named.f_voyage order by f_voyage_key`;
      expect(rows.map((row) => ({ ...row }))).toEqual([
        { port: 'Riga', captain: null },
        { port: 'Riga', captain: 'Ada' },
        { port: 'Riga', captain: 'Ada' },
      ]);
      // the earlier version's own loads go on, too
      expect((await chosen(load('full.xml', one, 'metadb:fleet_plain'))).logical).toBe(one.logical);
    },
  );

  it(
    'what is deactivated stays so in variants, and a target that has it says which logical schema leaves it out',
    needs('whole run'),
    async () => {
      const { client } = service;
      const origin = await schema('secrets');
      await chosen(load('full.xml', origin, 'metadb:secrets'));
      const post = await client.post(`/v2/mapping/deactivate`, {
        id_sch: origin.origin,
        xpaths: ['/voyage/hold/seal'],
      });
      expect(post.status).toBe(200);
      const { id_lschma: without } = await client.get<{ id_lschma: number }>(
        `/v2/schema/generate/${origin.origin}`,
      );
      const kept = await chosen(load('full.xml', origin, 'metadb:secrets'));
      expect(kept.logical).toBe(origin.logical);
      expect(kept.stdout).toContain(`logical schema ${without} of schema ${origin.origin} is newer`);
      expect(kept.stdout).toContain(`/voyage/hold/seal`);
      expect(kept.stdout).toContain(`-l ${without}`);
      const seals = await sql<{ seal: string }[]>`select seal from secrets.hold`;
      expect(seals.map(({ seal }) => seal)).toEqual(['S1', 'S1']);
      expect((await chosen(load('full.xml', origin, at('secrets new')))).logical).toBe(without);
      const shaped = await chosen(load('full.xml', origin, 'metadb:secrets_shaped', '--prefix', 's_'));
      const columns = await client.get<MappingAnswer[]>(
        `/v2/mapping/get/${origin.origin}?id_lschma=${shaped.logical}`,
      );
      expect(columns.filter(({ xpath }) => xpath === '/voyage/hold/seal')).toMatchObject([
        { active: false, column_name: null },
      ]);
      const made = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns where table_schema = 'secrets_shaped' and table_name = 's_hold'`;
      expect(made.map(({ name }) => name)).not.toContain('seal');
      // -l moves the target on
      expect((await chosen(load('full.xml', origin, 'metadb:secrets', '-l', String(without)))).logical).toBe(
        without,
      );
      expect((await chosen(load('full.xml', origin, 'metadb:secrets'))).logical).toBe(without);
    },
  );

  it(
    'over REST, in workers of the service, the same; a rerun has the logical schema of the run that it repeats',
    needs('whole run'),
    async () => {
      const { client } = service;
      const origin = await schema('routes');
      const path = await client.upload('xml', 'full.xml', new TextEncoder().encode(full));
      const run = async (
        ...options: [string, string?][]
      ): Promise<{ id: number; logical: number | null }> => {
        const { jobs } = await client.run([execution('xml2er', path, options, String(origin.origin))]);
        const ended = await client.ended(jobs[0]!);
        expect(ended.status, ended.failure ?? '').toBe('C');
        return { id: ended.id_job, logical: ended.id_lschma };
      };
      const first = await run(['-o', 'metadb:routes']);
      const aside = await run(['-o', 'metadb:routes_aside'], ['--prune']);
      expect((await run(['-o', 'metadb:routes'])).logical).toBe(first.logical);

      await client.post(`/v2/mapping/deactivate`, { id_sch: origin.origin, xpaths: ['/voyage/hold/cargo'] });
      await client.get(`/v2/schema/generate/${origin.origin}`);
      const rerun = async (id: number) => {
        const { id_job } = await client.get<{ id_job: number }>(`/v2/run/rerun/${id}`);
        return await client.ended(id_job);
      };
      expect(await rerun(first.id)).toMatchObject({ status: 'C', id_lschma: first.logical });
      const again = await rerun((await rerun(aside.id)).id_job);
      expect(again).toMatchObject({ status: 'C', id_lschma: aside.logical });
      expect(await client.log(again.id_job)).toContain(
        `logical schema ${aside.logical} of schema ${origin.origin}: job`,
      );
      expect((await sql`select cargo from routes.hold`).map(({ cargo }) => cargo as string)).toEqual([
        'amber',
        'amber',
        'amber',
      ]);
      expect((await run(['-o', 'metadb:routes_new'])).logical).not.toBe(first.logical);

      // documents that made their schema: run again, they are loaded by it
      const { jobs } = await client.run([execution('xml2er', path, [['-o', 'metadb:routes_own']])]);
      const inferred = await client.ended(jobs[0]!);
      expect(await rerun(inferred.id_job)).toMatchObject({
        status: 'C',
        id_sch: inferred.id_sch,
        id_lschma: inferred.id_lschma,
      });
      const removed = await client.fetch(`/v2/schema/${inferred.id_sch}`, { method: 'DELETE' });
      expect(removed.status).toBe(204);
      const refused = await client.fetch(`/v2/run/rerun/${inferred.id_job}`);
      expect(refused.status).toBe(409);
      expect(await refused.text()).toContain(`logical schema ${inferred.id_lschma}, which was deleted`);
    },
  );

  it(
    'a target of another installation, or of a logical schema that is gone, says so and what to do',
    needs('whole run'),
    async () => {
      const origin = await schema('strangers');
      await chosen(load('full.xml', origin, 'metadb:strangers'));
      await sql`update strangers._loads set installation = 'elsewhere', model_sha256 = repeat('0', 64)`;
      const abroad = await chosen(load('full.xml', origin, 'metadb:strangers'));
      expect(abroad.logical).toBe(origin.logical);
      expect(abroad.stdout).toContain('loaded by another installation');

      await chosen(load('full.xml', origin, 'metadb:orphans'));
      // the number of a logical schema does not count, its model does
      await sql`update orphans._loads set id_sch = 998, id_lschma = 999`;
      const again = await chosen(load('full.xml', origin, 'metadb:orphans'));
      expect(again).toMatchObject({ logical: origin.logical, why: 'it made what the target holds' });
      expect(again.stdout).not.toContain('not in this metadata database');
      // as of a database that was restored: another model has got that number
      await sql`update orphans._loads set id_sch = ${origin.origin!}, id_lschma = ${origin.logical!}, model_sha256 = repeat('0', 64)`;
      const restored = await chosen(load('full.xml', origin, 'metadb:orphans'));
      expect(restored.logical).toBe(origin.logical);
      expect(restored.why).toContain('which has not loaded the target before');
      expect(restored.stdout).toContain(
        `loaded by logical schema ${origin.logical}, which is not in this metadata database`,
      );
      const other = await schema('neighbours');
      const beside = await chosen(load('full.xml', other, 'metadb:orphans'));
      expect(beside.logical).toBe(other.logical);
      expect(beside.stdout).toContain(`holds documents of other schemas, too: ${origin.origin}`);
    },
  );
});
