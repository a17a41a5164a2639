/** The tools by hand: alone on a home folder, and beside a running service. */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { compareWithDocuments } from '../../support/service/census.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';
import { freightDocumentFolder, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { expectDocumentsIn, readSchema, tablesOf } from '../../support/service/schema.ts';
import { convert, runTool, type Summary } from '../../support/service/tools.ts';
import { needs, programOf, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const first = join(freightDocumentFolder, 'manifest-1.xml');
const second = join(freightDocumentFolder, 'manifest-2.xml');
const [firstDocument, secondDocument] = freightDocuments;

describe('the tools by hand', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  /** what the tools made before any service had run in this home */
  let alone: { readonly xsd: Summary; readonly xml: Summary; readonly help: number | null };
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    const xsd = await convert(home, 'xsd2er', freightXsdFolder, '--name', 'freight');
    const xml = await convert(
      home,
      'xml2er',
      freightDocumentFolder,
      '-x',
      String(xsd.origin),
      '-o',
      'metadb:alone',
    );
    const { code } = await runTool(home, 'xml2er', ['--help']);
    alone = { xsd, xml, help: code };
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  it('start the database themselves; a service of the same home then shows what they made', async () => {
    const { xsd, xml } = alone;
    expect(xsd).toEqual({
      job: 1,
      origin: 1,
      logical: 1,
      schema_chosen: null,
      status: 'C',
      documents: 3,
      rejected: 0,
      unknown_root: 0,
      unmapped: { values: 0, documents: 0 },
      rows: 0,
      tables: {},
      xpaths: { mapped: expect.any(Number), new: 0 },
      bytes: expect.any(Number),
      seconds: expect.any(Number),
      mb_per_s: expect.any(Number),
      steps: expect.any(Array),
    });
    expect(stepsOf(xsd)).toEqual(['start', 'schema', 'compile', 'map', 'store']);
    expect(stepsOf(xml)).toEqual(['start', 'schema', 'inputs', 'target', 'load', 'publish', 'record']);
    for (const { seconds, cpu_seconds: cpu } of [...xsd.steps, ...xml.steps])
      expect([typeof seconds, typeof cpu]).toEqual(['number', 'number']);
    expect(resultOf(await service.client.job(xml.job!))).toEqual(xml);
    expect(xml).toMatchObject({ job: 2, origin: 1, logical: 1, status: 'C', documents: 3, rejected: 0 });
    expect(xml.xpaths).toEqual({ mapped: xsd.xpaths.mapped, new: 0 });
    expect(xml.bytes).toBe(freightDocuments.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
    const counts = await countRows(sql, 'alone');
    expect(xml.tables).toEqual(counts);
    expect(xml.rows).toBe(Object.values(counts).reduce((sum, rows) => sum + rows, 0));
    await expectDocumentsIn(sql, 'alone', await readSchema(service.client, 1), freightDocuments);
    expect(await service.client.job(2)).toMatchObject({
      job_type: 'Parse',
      status: 'C',
      id_sch: 1,
      id_lschma: 1,
      msg_proc_qty: 3,
      parm_path_input: freightDocumentFolder,
      parm_path_output: 'metadb:alone',
      failure: null,
    });
  });

  it('exit with 0, 1 and 2, and say why', async () => {
    expect(alone.help).toBe(0);
    const failed = await runTool(home, 'xml2er', [join(freightDocumentFolder, 'none.xml'), '--json']);
    expect(failed.code).toBe(1);
    expect(failed.summary).toMatchObject({ status: 'F', rows: 0 });
    expect(failed.stdout).toContain('none.xml');
    expect(await service.client.job(failed.summary!.job!)).toMatchObject({
      status: 'F',
      failure: expect.stringContaining('none.xml'),
    });
    expect(resultOf(await service.client.job(failed.summary!.job!))).toEqual(failed.summary);
    expect(failed.summary).toMatchObject({
      origin: null,
      schema_chosen: null,
      xpaths: { mapped: null, new: null },
      bytes: null,
      steps: [{ name: 'start' }, { name: 'schema' }, { name: 'inputs' }],
    });
    const unknown = await runTool(home, 'xml2er', [first, '-x', '999', '--json']);
    expect(unknown.code).toBe(1);
    expect(unknown.stdout).toContain('failed: -x 999: there is no such origin');
    const before = await jobCount();
    expect((await runTool(home, 'xml2er', ['--version'])).stdout).toMatch(/^xml2er \d+\.\d+\.\d+\n$/);
    for (const argv of [
      [],
      ['--no-such-option', first],
      [first, '-g', '9'],
      [first, '-p', 'x'],
      ['-x', '1'],
    ]) {
      const { code, stderr, stdout } = await runTool(home, 'xml2er', argv);
      expect(code, argv.join(' ')).toBe(2);
      expect(stdout + stderr).toContain('xml2er');
    }
    expect(await jobCount()).toBe(before);
  });

  const jobCount = async (): Promise<number> =>
    (await service.client.get<{ total_elements: number }>('/v2/executions/all')).total_elements;

  it('append, overwrite, refuse and ignore, as -S says', async () => {
    const load = (mode: string, ...inputs: string[]): Promise<Summary> =>
      convert(home, 'xml2er', ...inputs, '-x', '1', '-o', 'metadb:modes', '-S', mode);
    const view = await readSchema(service.client, 1);
    await load('e', first);
    await load('a', first);
    await load('a', second);
    await expectDocumentsIn(sql, 'modes', view, [firstDocument!, firstDocument!, secondDocument!]);
    const [keys] =
      await sql`select count(*)::int as rows, count(distinct package_key)::int as keys, max(package_key)::int as last
      from modes.package`;
    expect(keys).toEqual({ rows: 12, keys: 12, last: 12 });
    expect(await sql`select documents::int from modes._loads order by job`).toEqual([
      { documents: 1 },
      { documents: 1 },
      { documents: 1 },
    ]);

    const refused = await runTool(home, 'xml2er', [
      first,
      '-x',
      '1',
      '-o',
      'metadb:modes',
      '-S',
      'e',
      '--json',
    ]);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/failed: .*already hold rows/);
    const ignored = await load('i', first);
    expect(ignored).toMatchObject({ status: 'C', documents: 0, rows: 0 });
    await expectDocumentsIn(sql, 'modes', view, [firstDocument!, firstDocument!, secondDocument!]);

    await load('o', second);
    await expectDocumentsIn(sql, 'modes', view, [secondDocument!]);
    await load('a', first);
    await expectDocumentsIn(sql, 'modes', view, [secondDocument!, firstDocument!]);
  });

  it('-S w makes every table and no row, -S p writes the DDL to the log', async () => {
    const made = await convert(home, 'xml2er', first, '-x', '1', '-o', 'metadb:empty', '-S', 'w');
    expect(made.rows).toBe(0);
    const { schema } = await readSchema(service.client, 1);
    const counts = await countRows(sql, 'empty', true);
    expect(Object.keys(counts)).toHaveLength(schema.table_count);
    expect(new Set(Object.values(counts))).toEqual(new Set([0]));
    const printed = await runTool(home, 'xml2er', [first, '-x', '1', '-o', 'metadb:printed', '-S', 'p']);
    expect(printed.code).toBe(0);
    expect(printed.stdout).toMatch(/create table "package"/i);
    expect(await tablesOf(sql, 'printed')).toEqual([]);
  });

  it.each(some([1, 0, 2, 3], 2))('map level %i: other tables, the same content', async (level) => {
    const { schema, mapping } = await (async () => {
      const xsd = await convert(
        home,
        'xsd2er',
        freightXsdFolder,
        '-g',
        String(level),
        '--name',
        `level-${level}`,
      );
      const argv = ['-x', String(xsd.origin), '-o', `metadb:level_${level}`];
      await convert(home, 'xml2er', freightDocumentFolder, ...argv);
      return readSchema(service.client, xsd.origin!);
    })();
    expect(schema.map_level).toBe(level);
    const tables = await countRows(sql, `level_${level}`);
    expect('carrier' in tables).toBe(level === 0);
    expect('party' in tables).toBe(level >= 2);
    await expectDocumentsIn(sql, `level_${level}`, { schema, mapping }, freightDocuments);
  });

  it('infer a schema where there is no XSD', async () => {
    const { stdout, summary: made } = await runTool(home, 'xml2er', [
      freightDocumentFolder,
      '-o',
      'metadb:inferred',
      '--name',
      'inferred',
      '--rename',
      'goods=cargo,godos=cargoes',
      '--json',
    ]);
    // what a mistyped name would have renamed is told, and nothing else
    expect(stdout.match(/^.*--rename.*$/gm)).toEqual([
      '--rename godos=cargoes: no table or column would be called godos',
    ]);
    expect(made).toMatchObject({ status: 'C', documents: 3, rejected: 0, xpaths: { new: 0 } });
    const view = await readSchema(service.client, made!.origin!);
    expect(view.schema).toMatchObject({ name: 'inferred', source_type: 'xml', root_elements: ['manifest'] });
    await expectDocumentsIn(sql, 'inferred', view, freightDocuments);
    const typeOf = (xpath: string): string | null | undefined =>
      view.mapping.find((entry) => entry.xpath === xpath && entry.data_type !== null)?.data_type;
    expect(typeOf('/manifest/shipment/pickup')).toBe('date');
    expect(typeOf('/manifest/created')).toBe('timestamptz');
    // 00123 among them: a number would lose its zeros
    expect(typeOf('/manifest/shipment/package/goods')).toBe('text');
  });

  it('read stdin', async () => {
    const argv = ['-', '-x', '1', '-o', 'metadb:from_stdin', '--json'];
    const { code, summary } = await runTool(home, 'xml2er', argv, firstDocument!.text);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ documents: 1 });
    await expectDocumentsIn(sql, 'from_stdin', await readSchema(service.client, 1), [
      { ...firstDocument!, name: 'stdin.xml' },
    ]);
  });

  describe('a folder of CSV files', () => {
    it('grows with each job, and says what is in it', needs('whole run'), async () => {
      const folder = join(home.directory, 'csv');
      const once = await convert(home, 'xml2er', first, '-x', '1', '-o', folder, '-f', 'csv');
      const twice = await convert(home, 'xml2er', second, '-x', '1', '-o', folder);
      const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
        tables: { name: string; rows: number }[];
      };
      const sum = (table: string): number => (once.tables[table] ?? 0) + (twice.tables[table] ?? 0);
      for (const { name, rows } of manifest.tables)
        if (!name.startsWith('_')) expect(rows, name).toBe(sum(name));
      expect(manifest.tables.map(({ name }) => name)).toEqual(
        expect.arrayContaining(Object.keys({ ...once.tables, ...twice.tables })),
      );
      const refused = await runTool(home, 'xml2er', [first, '-x', '1', '-o', folder, '-S', 'e']);
      expect(refused.code).toBe(1);
      const names = await readdir(folder);
      expect(names).toContain('load.sql');
      expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
    });

    it(
      'loads into an empty database by its own script: the same content again',
      needs(['postgresql', 'psql']),
      async () => {
        const folder = join(home.directory, 'script');
        await convert(home, 'xml2er', freightDocumentFolder, '-x', '1', '-o', folder);
        let external: ExternalPostgres | null = null;
        try {
          external = await startExternalPostgres();
          const settings = { cwd: folder, env: { ...process.env, PGCLIENTENCODING: 'UTF8' } };
          const psql = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', external.url, '-f', 'load.sql'];
          await promisify(execFile)(programOf('psql')!, psql, settings);
          const { schema, mapping } = await readSchema(service.client, 1);
          const input = { mapping, namespaces: schema.namespaces, documents: freightDocuments };
          const [place] = await external.sql<{ name: string }[]>`
            select table_schema as name from information_schema.tables where table_name = 'manifest'`;
          expect(await compareWithDocuments(external.sql, place!.name, input)).toEqual([]);
        } finally {
          await external?.stop();
        }
      },
    );
  });
});

function resultOf({ params_json: params }: { readonly params_json: string }): unknown {
  return (JSON.parse(params) as { readonly result?: unknown }).result;
}

function stepsOf({ steps }: Summary): string[] {
  return steps.map(({ name }) => name);
}

/** Rows by table of the model; empty tables are left out unless asked for. */
async function countRows(sql: Sql, sqlSchema: string, all = false): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of await tablesOf(sql, sqlSchema)) {
    if (name.startsWith('_')) continue;
    const [row] = await sql<
      { rows: number }[]
    >`select count(*)::int as rows from ${sql(sqlSchema)}.${sql(name)}`;
    if (all || row!.rows > 0) counts[name] = row!.rows;
  }
  return counts;
}
