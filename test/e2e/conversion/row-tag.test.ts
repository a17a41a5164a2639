/** `--row-tag`: every element of a name inside a larger file is a document of its own. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const schema = (declarations: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" xmlns="urn:o" elementFormDefault="qualified">
  ${declarations}</xs:schema>`;
const orderDeclaration = (
  occurrence: string,
): string => `<xs:element name="order"${occurrence}><xs:complexType><xs:sequence>
  <xs:element name="kind" type="xs:QName"/><xs:element name="item" type="xs:string" maxOccurs="unbounded"/>
  <xs:any namespace="##other" minOccurs="0" maxOccurs="unbounded" processContents="lax"/>
  </xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element>`;
const xsd = schema(`<xs:element name="orders"><xs:complexType><xs:sequence>
  <xs:element name="sender" type="xs:string"/>${orderDeclaration(' maxOccurs="unbounded"')}
  </xs:sequence></xs:complexType></xs:element>`);
/** the same, where an order is what documents start with */
const part = compiled(schema(orderDeclaration('')));
const order = (id: number): string =>
  `<o:order id="${id}"><o:kind>k:big</o:kind><o:item>a${id}</o:item><o:item>b</o:item><k:note>n<k:i/></k:note></o:order>`;
/** an order of which the declarations that it needs are its own */
const alone = (id: number): string =>
  order(id).replace('<o:order', '<o:order xmlns:o="urn:o" xmlns:k="urn:k"');
const count = 3000;
const file = `<?xml version="1.0"?>
<o:orders xmlns:o="urn:o" xmlns:k="urn:k" xmlns:none="urn:none" version="2"><o:sender>ACME</o:sender>
  ${Array.from({ length: count }, (_, at) => order(at + 1)).join('\n  ')}
</o:orders>`;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let input: string;
let origin: string;

beforeAll(async () => {
  home = await trial.home();
  await mkdir(join(home.directory, 'in'));
  input = join(home.directory, 'in', 'orders.xml');
  await writeFile(input, file);
  await writeFile(join(home.directory, 'in', 'orders.xsd'), xsd);
  origin = String((await convert(home, 'xsd2er', join(home.directory, 'in', 'orders.xsd'))).origin);
  sql = await trial.metadb(home);
}, 120_000);

/** Values of `id` by table. */
async function idsIn(schema: string): Promise<Record<string, number[]>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = ${schema} and table_name like 'row%' order by 1`;
  const ids = await Promise.all(
    tables.map(async ({ name }) => {
      const found = await sql<{ id: number }[]>`select id from ${sql(schema)}.${sql(name)} order by id`;
      return [name, found.map(({ id }) => id)] as const;
    }),
  );
  return Object.fromEntries(ids);
}

describe('--row-tag', { timeout: 120_000 }, () => {
  it(
    'loads every order as a document, with an XSD that begins with the orders',
    needs('whole run'),
    async () => {
      const loaded = await convert(
        home,
        'xml2er',
        input,
        '-x',
        origin,
        '--row-tag',
        'order',
        '-o',
        'metadb:tagged',
      );
      expect(loaded).toMatchObject({ status: 'C', documents: count });
      const [{ documents, bytes }] = (await sql`
      select count(*)::int as documents, sum(bytes)::int as bytes from tagged._documents`) as unknown as [
        { documents: number; bytes: number },
      ];
      const whole = Array.from({ length: count }, (_, at) => order(at + 1)).join('');
      expect({ documents, bytes }).toEqual({ documents: count, bytes: whole.length });
      const names =
        await sql`select name from tagged._documents where document_key in (1, ${count}) order by document_key`;
      expect(names.map(({ name }) => name)).toEqual(['orders.xml#1', `orders.xml#${count}`]);
      const folder = join(home.directory, 'written');
      await convert(home, 'er2xml', '-l', String(loaded.logical), '-i', 'metadb:tagged', '-o', folder);
      const files = await readdir(folder);
      expect(files).toHaveLength(count);
      for (const id of [1, 2, 1500, count]) {
        const written = await readFile(join(folder, `orders.xml#${id}`), 'utf8');
        expect(compareXml(alone(id), written, { source: part })).toEqual([]);
      }
    },
  );

  it('infers from the elements alone where there is no XSD', async () => {
    const loaded = await convert(home, 'xml2er', input, '--row-tag', '{urn:o}order', '-o', 'metadb:inferred');
    expect(loaded).toMatchObject({ status: 'C', documents: count });
    expect(Object.keys(loaded.tables)).toContain('order');
    expect(
      await sql`select count(*)::int as orders, count(distinct id)::int as ids from inferred."order"`,
    ).toEqual([{ orders: count, ids: count }]);
  });

  it(
    'goes with keys that follow from the content: the same file again adds nothing',
    needs('whole run'),
    async () => {
      const argv = [input, '-x', origin, '--row-tag', 'order', '--keys', 'hash', '-o', 'metadb:hashed'];
      expect(await convert(home, 'xml2er', ...argv)).toMatchObject({ documents: count });
      expect(await convert(home, 'xml2er', ...argv)).toMatchObject({ status: 'C', documents: 0, rows: 0 });
      expect(await sql`select count(*)::int as n from hashed."order"`).toEqual([{ n: count }]);
    },
  );

  it.each(some(['metadb:lean', 'csv', 'parquet', 'delta', 'sqlite', 'duckdb', 'jsonl', 'tsv', 'iceberg'], 4))(
    'tells the hash of the first part alone, by which a file is known to be there: %s',
    async (kind) => {
      const few = join(home.directory, 'in', 'few.xml');
      await writeFile(
        few,
        `<o:orders xmlns:o="urn:o" xmlns:k="urn:k"><o:sender>ACME</o:sender>${order(1)}${order(2)}${order(3)}</o:orders>`,
      );
      const place = join(home.directory, 'lean', kind);
      await mkdir(join(home.directory, 'lean'), { recursive: true });
      const isDatabase = kind === 'sqlite' || kind === 'duckdb';
      const target = kind.includes(':') ? kind : isDatabase ? `${kind}:${place}.db` : place;
      const format = isDatabase || kind.includes(':') ? [] : ['-f', kind];
      const argv = [few, '-x', origin, '--row-tag', 'order', '-o', target, ...format];
      const loaded = await convert(home, 'xml2er', ...argv);
      expect(loaded).toMatchObject({ documents: 3 });
      expect(await convert(home, 'xml2er', ...argv, '--skip-loaded')).toMatchObject({ documents: 0 });
      if (kind === 'metadb:lean') {
        const rows = await sql`select name, sha256 from lean._documents order by document_key`;
        const hash = createHash('sha256')
          .update(await readFile(few))
          .digest('hex');
        const first = createHash('sha256').update(`${hash}#1`).digest('hex');
        expect(rows.map(({ name, sha256 }) => [name, sha256])).toEqual([
          ['few.xml#1', first],
          ['few.xml#2', null],
          ['few.xml#3', null],
        ]);
      }
      const written = `${place.replace(':', '-')}-written`;
      await convert(home, 'er2xml', '-l', String(loaded.logical), '-i', target, '-o', written);
      for (const id of [1, 2, 3]) {
        const back = await readFile(join(written, `few.xml#${id}`), 'utf8');
        expect(compareXml(alone(id), back, { source: part })).toEqual([]);
      }
    },
  );

  it('says so where there is no such element', async () => {
    const unknown = await runTool(home, 'xml2er', [
      input,
      '-x',
      origin,
      '--row-tag',
      'bill',
      '-o',
      'metadb:no',
    ]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr + unknown.stdout).toMatch(/--row-tag bill: no such element/);
    const none = await runTool(home, 'xml2er', [input, '--row-tag', 'bill', '-o', 'metadb:no']);
    expect(none.stderr + none.stdout).toMatch(/--row-tag bill: the input holds no such element/);
  });

  describe('of a name in several namespaces', () => {
    const rows =
      '<data xmlns="urn:d"><row id="1"><a>x</a></row><g><row id="2"/></g><o:row xmlns:o="urn:o" id="3"/><row xmlns="" id="4"/></data>';
    let several: string;
    beforeAll(async () => {
      several = join(home.directory, 'in', 'several.xml');
      await writeFile(several, rows);
      await convert(home, 'xml2er', several, '--name', 'several', '-e', 's');
    });
    it('means each element of that local name', async () => {
      const load = [several, '--row-tag', 'row', '-o', 'metadb:each_row'];
      expect(await convert(home, 'xml2er', ...load)).toMatchObject({ documents: 4, rejected: 0 });
      const once = await idsIn('each_row');
      expect(Object.values(once).toSorted()).toEqual([[1, 2], [3], [4]]);
      // what loaded the target goes on
      expect(await convert(home, 'xml2er', ...load, '--workers', '2')).toMatchObject({ documents: 4 });
      const twice = Object.entries(once).map(([table, ids]) => [table, ids.flatMap((id) => [id, id])]);
      expect(await idsIn('each_row')).toEqual(Object.fromEntries(twice));
    });

    it('means the same by an origin of whole documents', async () => {
      await convert(home, 'xml2er', several, '-x', 'several', '--row-tag', 'row', '-o', 'metadb:inner_rows');
      expect(Object.values(await idsIn('inner_rows')).toSorted()).toEqual([[1, 2], [3], [4]]);
    });

    it.each([
      ['o:row', [3]],
      ['{urn:d}row', [1, 2]],
      ['{}row', [4]],
    ])('is narrowed by a prefix that documents declare, and by a namespace: %s', async (tag, ids) => {
      const target = `metadb:narrow_${ids[0]}`;
      await convert(home, 'xml2er', several, '--row-tag', tag, '-o', target);
      expect(await idsIn(target.slice(7))).toEqual({ row: ids });
      await convert(home, 'xml2er', several, '-x', 'several', '--row-tag', tag, '-o', `${target}_x`);
      expect(Object.values(await idsIn(`${target.slice(7)}_x`)).flat()).toEqual(ids);
    });

    it.each([[], ['-x', 'several']])(
      'is refused with a prefix that nothing declares: %s',
      async (...argv) => {
        const run = await runTool(home, 'xml2er', [
          several,
          ...argv,
          '--row-tag',
          'zz:row',
          '-o',
          'metadb:no',
        ]);
        expect([run.code, run.stdout]).toEqual([
          1,
          expect.stringMatching(/declare the prefix zz; name the namespace itself, as in \{urn:o\}row,/),
        ]);
      },
    );
  });

  it('with -l of whole documents names what works', async () => {
    const small = join(home.directory, 'in', 'whole.xml');
    await writeFile(small, '<inn><stay><n>1</n></stay><stay><n>2</n></stay></inn>');
    const { origin: idSch, logical } = await convert(home, 'xml2er', small, '-o', 'metadb:whole_inn');
    const load = [small, '--row-tag', 'stay', '-o', 'metadb:stays'];
    const refused = await runTool(home, 'xml2er', [...load, '-l', String(logical)]);
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining(`which start with inn: -x ${idSch} --row-tag stay makes a logical schema`),
    ]);
    const made = await convert(home, 'xml2er', ...load, '-x', String(idSch));
    expect(await sql`select n from stays.stay order by n`).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await convert(home, 'xml2er', ...load, '-l', String(made.logical))).toMatchObject({
      documents: 2,
    });
  });

  it('leaves the origin as it was for whole documents', async () => {
    const small = join(home.directory, 'in', 'small.xml');
    await writeFile(
      small,
      `<o:orders xmlns:o="urn:o" xmlns:k="urn:k"><o:sender>ACME</o:sender>${order(1)}</o:orders>`,
    );
    await convert(home, 'xml2er', small, '-x', origin, '--row-tag', 'order', '-o', 'metadb:part_first');
    const whole = await convert(home, 'xml2er', small, '-x', origin, '-o', 'metadb:whole_then');
    expect(whole).toMatchObject({ documents: 1, tables: { orders: 1 }, xpaths: { new: 0 } });
  });

  it(
    'documents of other roots that were kept whole are left out, too, where they are there already',
    needs('whole run'),
    async () => {
      const unknown = join(home.directory, 'in', 'unknown.xml');
      await writeFile(unknown, '<unknown>1</unknown>');
      const duckdb = `duckdb:${join(home.directory, 'unknown.duckdb')}`;
      for (const target of [['metadb:unknown'], [duckdb], [join(home.directory, 'unknown'), '-f', 'csv']]) {
        const load = ['-x', origin, '-o', ...target, '--skip-loaded', '--unmapped', 'capture'];
        expect(await convert(home, 'xml2er', unknown, ...load)).toMatchObject({ documents: 1 });
        expect(await convert(home, 'xml2er', unknown, ...load)).toMatchObject({ documents: 0, status: 'C' });
      }
    },
  );
});
