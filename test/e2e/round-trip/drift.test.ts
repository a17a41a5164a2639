/** `--on-drift`: documents that hold content unknown to the schema that they are loaded by. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { some } from '../../support/needs.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const first = '<o xmlns="urn:o"><id>1</id><line n="1"><sku>A</sku></line></o>';
/** Each has something of its own that the first has not. */
const drifting = {
  'repeat.xml':
    '<o xmlns="urn:o"><id>2</id><line n="1"><sku>A</sku></line><line n="2"><sku>B</sku></line></o>',
  'attribute.xml': '<o xmlns="urn:o" lang="en"><id>3</id><line n="3"><sku>C</sku></line></o>',
  'child.xml':
    '<o xmlns="urn:o"><id>4</id><line n="4"><sku>D</sku><x:tag xmlns:x="urn:x" a="1">t</x:tag></line></o>',
  'text.xml': '<o xmlns="urn:o"><id>5</id>free text<line n="5"><sku>E</sku></line></o>',
};
const all: Readonly<Record<string, string>> = { 'first.xml': first, ...drifting };

describe('--on-drift', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  const at = (name: string): string => join(home.directory, 'in', name);
  const later = (): string[] => Object.keys(drifting).map(at);

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
    await mkdir(at(''));
    for (const [name, text] of Object.entries(all)) await writeFile(at(name), text);
  });

  const targets: readonly (readonly [name: string, ...argv: string[]])[] = [
    ['metadb'],
    ['folder', '-f', 'parquet'],
    ['sqlite'],
    ['duckdb'],
    ['delta', '-f', 'delta'],
    ['csv', '-f', 'csv'],
  ];
  it.each(some(targets, 3))(
    'evolve makes the next version and loads by it what comes back equal, with the rows before: %s',
    async (kind, ...format) => {
      for (const level of ['0', '3']) {
        const name = `evolve_${kind}_${level}`;
        const path = at(name);
        const target =
          kind === 'metadb'
            ? `metadb:${name}`
            : kind === 'sqlite' || kind === 'duckdb'
              ? `${kind}:${path}.${kind}`
              : path;
        const before = await convert(
          home,
          'xml2er',
          at('first.xml'),
          '-g',
          level,
          '--name',
          name,
          '-o',
          target,
          ...format,
        );
        const evolved = await convert(
          home,
          'xml2er',
          ...later(),
          '--on-drift',
          'evolve',
          '-o',
          target,
          ...format,
        );
        expect(evolved).toMatchObject({ documents: 4, unmapped: { values: 0, documents: 0 } });
        expect(evolved.origin).not.toBe(before.origin);
        const version = await service.client.get<{ name: string; id_parent_sch: number; version: number }>(
          `/v2/schema/${evolved.origin}`,
        );
        expect(version).toMatchObject({ name, id_parent_sch: before.origin, version: 2 });
        await convert(home, 'er2xml', '-i', target, '-o', `${path}-back`);
        for (const [document, text] of Object.entries(all))
          expect([document, compareXml(text, await readFile(join(`${path}-back`, document)))]).toEqual([
            document,
            [],
          ]);
        // what has evolved knows them all
        const again = await convert(
          home,
          'xml2er',
          ...later(),
          '-x',
          String(before.origin),
          '--on-drift',
          'evolve',
          '-o',
          target,
          ...format,
        );
        expect(again).toMatchObject({ origin: evolved.origin, unmapped: { values: 0 } });
      }
    },
  );

  it('evolve gives each value its column', async () => {
    await convert(home, 'xml2er', at('first.xml'), '--name', 'columns', '-o', 'metadb:columns');
    await convert(home, 'xml2er', ...later(), '--on-drift', 'evolve', '-o', 'metadb:columns');
    const rows = await sql`
      select d.name, o.id::int as id, o.lang, l.n::int as n, l.sku, l.tag, l.tag_a::int as a from columns.o
        join columns._documents d using (document_key) join columns.line l using (o_key)
       where d.name <> 'first.xml' order by o.id, l.n`;
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['repeat.xml', 2, null, 1, 'A', null, null],
      ['repeat.xml', 2, null, 2, 'B', null, null],
      ['attribute.xml', 3, 'en', 3, 'C', null, null],
      ['child.xml', 4, null, 4, 'D', 't', 1],
      ['text.xml', 5, null, 5, 'E', null, null],
    ]);
    expect(await sql`select line_n::int as n, line_sku as sku from columns.o where id = 1`).toEqual([
      { n: 1, sku: 'A' },
    ]);
    expect(await sql`select content from columns.o_text`).toEqual([{ content: 'free text' }]);
  });

  it('evolve adds a root element, over REST, and a rerun loads by the version that was made', async () => {
    await writeFile(at('other.xml'), '<p xmlns="urn:o"><id>6</id></p>');
    const { origin } = await convert(
      home,
      'xml2er',
      at('first.xml'),
      '--name',
      'rooted',
      '-o',
      'metadb:rooted',
    );
    const uploaded = await service.client.upload('xml', 'other.xml', await readFile(at('other.xml')));
    const { jobs } = await service.client.run([
      execution(
        'xml2er',
        uploaded,
        [
          ['-o', 'metadb:rooted'],
          ['--on-drift', 'evolve'],
        ],
        String(origin),
      ),
    ]);
    const job = await service.client.ended(jobs[0]!);
    expect(job).toMatchObject({ status: 'C', failure: null });
    expect(job.id_sch).not.toBe(origin);
    expect(await sql`select id::int as id from rooted.p`).toEqual([{ id: 6 }]);
    const { jobs: rerun } = await service.client.get<{ jobs: number[] }>(`/v2/run/rerun/${job.id_job}`);
    expect(await service.client.ended(rerun[0]!)).toMatchObject({ status: 'C', id_sch: job.id_sch });
    expect(await sql`select id::int as id from rooted.p`).toEqual([{ id: 6 }, { id: 6 }]);
  });

  it('fail stops with the paths, and publishes nothing', async () => {
    await convert(home, 'xml2er', at('first.xml'), '--name', 'failing', '-o', 'metadb:failing');
    const { code, stdout } = await runTool(home, 'xml2er', [
      ...later(),
      '--on-drift',
      'fail',
      '-o',
      'metadb:failing',
    ]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^failed: the schema has no place for /m)]);
    for (const path of [
      '/o/line',
      '/o/@lang',
      '/o/line/{urn:x}tag',
      '/o (text, once in text.xml: free text)',
    ])
      expect(stdout).toContain(path);
    expect(await sql`select id::int as id from failing.o`).toEqual([{ id: 1 }]);
  });

  it.each([
    ['--parent', []],
    ['--on-drift', ['evolve']],
  ])(
    'keep names the option last, and %s with -S m loads anew what lies in _unmapped',
    async (flag, value) => {
      const name = `kept${flag.replaceAll('-', '_')}`;
      const { origin } = await convert(
        home,
        'xml2er',
        at('first.xml'),
        '--name',
        name,
        '-o',
        `metadb:${name}`,
      );
      const { stdout } = await runTool(home, 'xml2er', [...later(), '-o', `metadb:${name}`]);
      expect(stdout.trimEnd().split('\n').at(-1)).toBe(
        'content was kept in _unmapped: --on-drift evolve gives it a place; with -S m it loads these documents again',
      );
      const load = [at('first.xml'), ...later(), '-S', 'm', '-o', `metadb:${name}`];
      const given = flag === '--parent' ? String(origin) : value[0]!;
      const repaired = await convert(home, 'xml2er', ...load, flag, given);
      expect(repaired.merged).toMatchObject({ inserted: 0, replaced: 4, unchanged: 1 });
      expect(await sql`select * from ${sql(name)}._unmapped`).toEqual([]);
      expect(await sql`select count(*)::int as n from ${sql(name)}.line`).toEqual([{ n: 5 }]);
      for (const more of [[], ['--on-drift', 'evolve']])
        expect((await convert(home, 'xml2er', ...load, ...more)).merged).toMatchObject({ unchanged: 5 });
    },
  );

  it('a schema of an XSD does not evolve, which the last line says', async () => {
    await writeFile(
      at('o.xsd'),
      '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" elementFormDefault="qualified"><xs:element name="o"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:schema>',
    );
    const load = [at('first.xml'), '--xsd', at('o.xsd'), '-o', 'metadb:declared', '--on-drift', 'evolve'];
    const { code, stdout } = await runTool(home, 'xml2er', load);
    expect([code, stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      'content was kept in _unmapped: --xsd with a set that declares it gives it a place; with -S m it loads these documents again',
    ]);
  });
});
