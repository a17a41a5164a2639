/** `--workers N`: the same rows, findings and faults as with one, whoever reads a document. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type Summary } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const run = promisify(execFile);

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="trades"><xs:complexType><xs:sequence>
  <xs:element name="trade" maxOccurs="unbounded"><xs:complexType><xs:sequence>
    <xs:element name="amount" type="xs:decimal"/><xs:element name="leg" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;
const source = compiled(xsd);
const documents = 60;
/** documents of unlike lengths; some with content that the schema has no place for, and values their columns cannot hold */
const trades = (document: number): string =>
  `<trades>${Array.from({ length: 1 + ((document * 37) % 400) }, (_, at) => {
    const amount = document % 10 === 3 && at === 0 ? 'n/a' : `${document}.${at}0`;
    const legs = '<leg>a</leg><leg/><leg>ü &amp; b</leg>'.slice(0, [0, 12, 18, 38][at % 4]);
    const unknown = document % 7 === 0 && at === 1 ? '<note by="x">kept</note>' : '';
    return `<trade id="${document * 1000 + at}"><amount>${amount}</amount>${legs}${unknown}</trade>`;
  }).join('')}</trades>`;
const nameOf = (document: number): string => `t${String(document).padStart(3, '0')}.xml`;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let folder: string;
let origin: string;

beforeAll(async () => {
  home = await trial.home();
  folder = join(home.directory, 'in');
  await mkdir(join(folder, 'documents'), { recursive: true });
  for (let document = 1; document <= documents; document += 1)
    await writeFile(join(folder, 'documents', nameOf(document)), trades(document));
  await run('tar', ['-czf', join(folder, 'documents.tgz'), '-C', join(folder, 'documents'), '.']);
  await writeFile(join(folder, 'trades.xsd'), xsd);
  origin = String((await convert(home, 'xsd2er', join(folder, 'trades.xsd'))).origin);
  sql = await trial.metadb(home);
}, 120_000);

/** Rows of a table without keys and load times, in the order of their keys. */
async function rowsOf(schema: string, table: string): Promise<unknown[]> {
  const rows = await sql.unsafe(`
    SELECT to_jsonb(t) - ARRAY['trades_key','trade_key','leg_key','document_key','parent_key','row_key','job','job_uuid','loaded_at'] AS row
      FROM "${schema}"."${table}" t `);
  return rows.map(({ row }) => JSON.stringify(row)).toSorted();
}

/** Keys that no row has, of a load with `--workers 3`. */
async function gapsOf(schema: string, threadsFrom: string): Promise<number> {
  const to = ['-x', origin, '--workers', '3', '-S', 'o', '-o', `metadb:${schema}`];
  const environment = { SVC_WORKER_THREADS_FROM: threadsFrom };
  const { code } = await runTool(home, 'xml2er', [join(folder, 'documents'), ...to], '', environment);
  expect(code).toBe(0);
  const [row] = await sql.unsafe(`SELECT max(trade_key) - count(*) AS gaps FROM ${schema}.trade`);
  return Number(row!['gaps']);
}

const comparable = (summary: Summary): unknown => {
  const { documents: loaded, rejected, rows, tables, xpaths, bytes } = summary;
  return { loaded, rejected, rows, tables, xpaths, bytes };
};

async function detailsOf(job: unknown): Promise<Record<string, unknown>> {
  const [row] =
    await sql`select summary::jsonb->'details' as details from svc.job where id_job = ${Number(job)}`;
  // several workers leave gaps between the keys they give
  const { keys: _, ...details } = (row as unknown as { details: Record<string, unknown> }).details;
  return details;
}

describe('--workers', { timeout: 120_000 }, () => {
  it.each(some(['documents', 'documents.tgz'], 1))(
    '%s: rows and findings are those of one worker',
    async (input) => {
      const load = (workers: string, target: string) =>
        convert(
          home,
          'xml2er',
          join(folder, input),
          '-x',
          origin,
          '--workers',
          workers,
          '-S',
          'o',
          '-o',
          target,
        );
      const one = await load('1', 'metadb:one');
      const many = await load('3', 'metadb:many');
      expect(one).toMatchObject({ status: 'C', documents });
      expect(comparable(many)).toEqual(comparable(one));
      for (const table of ['trades', 'trade', 'leg', '_documents', '_unmapped', '_lexical'])
        expect(await rowsOf('many', table), table).toEqual(await rowsOf('one', table));
      // the last keys differ: those of threads have gaps
      const { keys: _last, ...details } = await detailsOf(many.job);
      expect({ ...details, keys: expect.anything() as unknown }).toEqual({
        ...(await detailsOf(one.job)),
        keys: expect.anything() as unknown,
      });
      expect(details['unmapped']).not.toEqual([]);
      // keys ascend with the documents
      const [{ ascending }] = (await sql`
      select bool_and(t.first > t.before) as ascending from (
        select min(tr.trade_key) as first, lag(max(tr.trade_key)) over (order by d.document_key) as before
          from many._documents d join many.trades t using (document_key) join many.trade tr using (trades_key, document_key)
         group by d.document_key) t where t.before is not null`) as unknown as [{ ascending: boolean }];
      expect(ascending).toBe(true);
      const written = join(home.directory, `written-${input}`);
      await convert(home, 'er2xml', '-l', String(many.logical), '-i', 'metadb:many', '-o', written);
      expect(await readdir(written)).toHaveLength(documents);
      for (const document of [1, 7, 13, 33, documents])
        expect(
          compareXml(trades(document), await readFile(join(written, nameOf(document)), 'utf8'), { source }),
        ).toEqual([]);
    },
  );

  it('begins no threads for documents that one has read sooner', async () => {
    // threads leave gaps between the keys of their units
    expect(await gapsOf('alone', '64 MiB')).toBe(0);
    expect(await gapsOf('shared', '1 B')).toBeGreaterThan(0);
    expect(await rowsOf('alone', 'trade')).toEqual(await rowsOf('shared', 'trade'));
  });

  it(
    'appends to what is there, infers the same statistics, and takes hashed keys',
    needs('whole run'),
    async () => {
      const input = join(folder, 'documents');
      const first = await convert(home, 'xml2er', input, '--workers', '3', '-o', 'metadb:added');
      const again = await convert(
        home,
        'xml2er',
        input,
        '-x',
        String(first.origin),
        '--workers',
        '2',
        '-o',
        'metadb:added',
      );
      expect(again).toMatchObject({ status: 'C', documents, tables: first.tables });
      const [{ rows, keys }] = (await sql`
      select count(*)::int as rows, count(distinct trade_key)::int as keys from added.trade`) as unknown as [
        { rows: number; keys: number },
      ];
      expect(rows).toBe(keys);
      for (const target of [join(home.directory, 'added.duckdb'), join(home.directory, 'added')]) {
        const out = target.endsWith('.duckdb') ? ['-o', `duckdb:${target}`] : ['-o', target, '-f', 'csv'];
        const written = join(home.directory, `written-${out.length}`);
        for (const part of [input, join(folder, 'documents.tgz')])
          await convert(home, 'xml2er', part, '-x', origin, '--workers', '2', ...out);
        const read = [
          '-l',
          String((await convert(home, 'xml2er', input, '-x', origin, '-s', ...out)).logical),
        ];
        const { documents: found } = await convert(home, 'er2xml', ...read, '-i', out[1]!, '-o', written);
        expect(found, target).toBe(2 * documents);
        for (const name of await readdir(written)) {
          const document = Number(/t(\d+)/.exec(name)![1]);
          expect(
            compareXml(trades(document), await readFile(join(written, name), 'utf8'), { source }),
          ).toEqual([]);
        }
      }
      const statistics = async (workers: string): Promise<unknown> => {
        const { job } = await convert(
          home,
          'xml2er',
          input,
          '-x',
          origin,
          '--workers',
          workers,
          '-S',
          'o',
          '-o',
          'metadb:counted',
        );
        const [row] = await sql`select statistics from svc.job_statistics where id_job = ${Number(job)}`;
        return row;
      };
      expect(await statistics('4')).toEqual(await statistics('1'));
      const hashed = (workers: string) =>
        convert(
          home,
          'xml2er',
          input,
          '-x',
          origin,
          '--keys',
          'hash',
          '--workers',
          workers,
          '-o',
          'metadb:hashed',
        );
      const [once, twice] = [await hashed('3'), await hashed('1')];
      expect(once).toMatchObject({ status: 'C', documents });
      expect(twice).toMatchObject({ status: 'C', rows: 0 });
    },
  );

  it('shares one large document, which stays one', async () => {
    const input = join(folder, 'year.xml');
    const all = Array.from({ length: 150 }, (_, at) =>
      trades(at + 1).slice('<trades>'.length, -'</trades>'.length),
    );
    const year = `<?xml version="1.0"?>\n<trades of="2026">\n${all.join('\n<!-- <trade> -->')}\n<rest>kept</rest></trades>`;
    await writeFile(input, year);
    const argv = (workers: string, schema: string, ...more: string[]) =>
      [input, '-x', origin, '--workers', workers, '-o', `metadb:${schema}`, ...more] as const;
    const one = await convert(home, 'xml2er', ...argv('1', 'year_one'));
    const many = await convert(home, 'xml2er', ...argv('3', 'year_many'));
    expect(one).toMatchObject({ status: 'C', documents: 1 });
    expect(comparable(many)).toEqual(comparable(one));
    for (const table of ['trades', 'trade', 'leg', '_documents', '_unmapped', '_lexical'])
      expect(await rowsOf('year_many', table), table).toEqual(await rowsOf('year_one', table));
    const statistics = async ({ job }: Summary): Promise<unknown> =>
      (await sql`select statistics from svc.job_statistics where id_job = ${Number(job)}`)[0];
    expect(await statistics(many)).toEqual(await statistics(one));
    // each range has keys of its own
    const [gaps] = await sql`select max(trade_key) - count(*) as gaps from year_many.trade`;
    expect(Number(gaps!['gaps'])).toBeGreaterThan(0);
    const written = join(home.directory, 'written-year');
    await convert(home, 'er2xml', '-l', String(many.logical), '-i', 'metadb:year_many', '-o', written);
    expect(compareXml(year, await readFile(join(written, 'year.xml'), 'utf8'), { source })).toEqual([]);
    const output = async (...of: Parameters<typeof argv>): Promise<string> => {
      const { stdout, stderr } = await runTool(home, 'xml2er', argv(...of));
      return stdout + stderr;
    };
    expect(await output('2', 'year_hashed', '--keys', 'hash')).toContain(
      'year.xml is not split among threads or executors: its row keys are hashes',
    );
    const at = year.lastIndexOf('</trade>', year.length - 100_000);
    await writeFile(input, `${year.slice(0, at)}</trada>${year.slice(at + '</trada>'.length)}`);
    const fault = async (workers: string) => /failed: .*/.exec(await output(workers, 'no'))![0];
    expect(await fault('2')).toBe(await fault('1'));
  });

  it('shares one large file at its row elements', needs('whole run'), async () => {
    const input = join(folder, 'day.xml');
    const day = Array.from({ length: 100 }, (_, at) =>
      trades(at + 1).slice('<trades>'.length, -'</trades>'.length),
    );
    await writeFile(input, `<trades>\n${day.join('\n')}\n</trades>`);
    const load = (workers: string, target: string) =>
      convert(home, 'xml2er', input, '--row-tag', 'trade', '--workers', workers, '-o', target);
    const [one, many] = [await load('1', 'metadb:day_one'), await load('2', 'metadb:day_many')];
    expect(many.documents).toBeGreaterThan(10_000);
    expect(comparable(many)).toEqual(comparable(one));
    for (const table of ['trade', 'leg', '_documents'])
      expect(await rowsOf('day_many', table), table).toEqual(await rowsOf('day_one', table));
    const broken = join(folder, 'broken-day.xml');
    const fault = async (workers: string): Promise<string> => {
      const args = [
        broken,
        '-x',
        String(one.origin),
        '--row-tag',
        'trade',
        '--workers',
        workers,
        '-o',
        'metadb:no',
      ];
      const { stdout, stderr } = await runTool(home, 'xml2er', args);
      return /failed: .*/.exec(stdout + stderr)![0];
    };
    // the range that begins the file is loaded last
    for (const at of [[80], [0, 80], [99]]) {
      const lines = day.map((text, line) =>
        at.includes(line) ? text.replace('</trade>', '</trada>') : text,
      );
      await writeFile(broken, `<trades>\n${lines.join('\n')}\n</trades>`);
      expect(await fault('2')).toBe(await fault('1'));
    }
  });

  it(
    'tells the first document at fault, publishes nothing, and skips those that are to be skipped',
    needs('whole run'),
    async () => {
      const input = join(folder, 'broken');
      await mkdir(input, { recursive: true });
      for (let document = 1; document <= documents; document += 1) {
        const text = trades(document);
        const broken = document === 41 || document === 17;
        await writeFile(join(input, nameOf(document)), broken ? text.replace('</trade>', '</trada>') : text);
      }
      const args = [input, '-x', origin, '--workers', '4', '-o', 'metadb:broken'] as const;
      const refused = await runTool(home, 'xml2er', args);
      expect(refused.code).toBe(1);
      expect(refused.stderr + refused.stdout).toContain('t017.xml: line 1, column');
      expect(refused.stderr + refused.stdout).not.toContain('t041.xml');
      expect(await sql`select 1 from pg_tables where schemaname = 'broken'`).toHaveLength(0);
      const skipped = await convert(home, 'xml2er', ...args, '--on-error', 'skip');
      expect(skipped).toMatchObject({ status: 'C', documents: documents - 2, rejected: 2 });
    },
  );
});
