/** Where the catalogue says that values lie: at each place whose values a column holds, as often as it has them; and in tables that are there. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { isHere } from '../../support/needs.ts';
import type { MappingAnswer } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

interface Statistics {
  readonly xpath: string;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly occurrences: number;
}

const placeOf = (line: Pick<MappingAnswer, 'xpath' | 'table_name' | 'column_name'>): string =>
  `${line.xpath} ${line.table_name} ${line.column_name}`;

const schema = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const below = schema(`<xs:element name="team" type="R"/>
  <xs:complexType name="R"><xs:sequence><xs:element name="pos" type="P"/><xs:element name="role" type="xs:string" maxOccurs="2"/><xs:element name="user" type="R" minOccurs="0"/></xs:sequence></xs:complexType>
  <xs:complexType name="P"><xs:sequence><xs:element name="v" type="xs:string"/><xs:element name="item" type="P" minOccurs="0"/></xs:sequence></xs:complexType>`);
const belowText = `<team><pos><v>1</v><item><v>3</v></item></pos><role>a</role><user><pos><v>2</v><item><v>4</v><item><v>5</v></item></item></pos><role>b</role>
  <user><pos><v>6</v></pos><role>c</role></user></user></team>`;

const extended =
  schema(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="p" type="T"/><xs:element name="never" type="T" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="T"><xs:sequence><xs:element name="n" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="T2"><xs:complexContent><xs:extension base="T"><xs:sequence><xs:element name="ext" type="xs:string"/><xs:element name="kid" type="T" minOccurs="0" maxOccurs="2"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:element name="other"><xs:complexType><xs:sequence><xs:element name="row" maxOccurs="9"><xs:complexType><xs:attribute name="x"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`);
const extendedText = `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><p xsi:type="T2"><n>1</n><ext>outer</ext><kid xsi:type="T2"><n>2</n><ext>inner</ext></kid></p></r>`;

/** The same names again, without recursion of types. */
const nested =
  schema(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="a" type="A" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="A"><xs:sequence><xs:element name="v" type="xs:int"/><xs:element name="b" type="B" minOccurs="0"/><xs:element name="a" type="Inner" minOccurs="0" maxOccurs="3"/></xs:sequence></xs:complexType>
  <xs:complexType name="B"><xs:sequence><xs:element name="a" type="xs:string" maxOccurs="2"/><xs:element name="r"><xs:complexType><xs:attribute name="x"/></xs:complexType></xs:element></xs:sequence></xs:complexType>
  <xs:complexType name="Inner"><xs:sequence><xs:element name="v" type="xs:string"/><xs:element name="w" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>`);
const nestedText = `<r><a><v>1</v><b><a>x</a><a>y</a><r x="1"/></b><a><v>p</v><w>q</w></a><a><v>s</v></a></a><a><v>2</v></a></r>`;

const nillable = schema(
  `<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="n" nillable="true" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="v" type="xs:int" nillable="true"/><xs:element name="s" type="xs:string" nillable="true"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`,
);
const nillableText = `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><n xsi:nil="false"><v xsi:nil="false">1</v><s xsi:nil="0">a</s></n><n><v xsi:nil="true"/><s xsi:nil="1"/></n><n xsi:nil="true"/><n><v>2</v><s xsi:nil=" false "/></n></r>`;

const untyped =
  schema(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="u" maxOccurs="9"/><xs:element name="t" type="T" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="T"><xs:sequence><xs:element name="n" type="xs:string"/><xs:element name="l" type="L" minOccurs="0"/></xs:sequence><xs:attribute name="k"/></xs:complexType>
  <xs:complexType name="L"><xs:sequence><xs:element name="m" type="xs:string" maxOccurs="3"/></xs:sequence></xs:complexType>`);
const untypedText = `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><u xsi:type="T" k="1"><n>1</n><l><m>a</m></l></u><u>text</u><u><n>4</n></u><u/><t k="2"><n>2</n><l><m>b</m><m>c</m></l></t></r>`;

const contents =
  schema(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="p" type="P" maxOccurs="9"/><xs:element name="at" type="xs:dateTime" maxOccurs="9"/><xs:element name="l" type="L" minOccurs="0"/><xs:element name="m" type="L" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="when" type="xs:dateTime"/><xs:attribute name="list" type="L"/></xs:complexType></xs:element>
  <xs:complexType name="P" mixed="true"><xs:sequence><xs:element name="i" type="P" minOccurs="0" maxOccurs="9"/><xs:any minOccurs="0" namespace="urn:x" processContents="lax" maxOccurs="9"/></xs:sequence></xs:complexType>
  <xs:simpleType name="L"><xs:list itemType="xs:int"/></xs:simpleType>`);
const contentsText = `<r when="2026-01-01T00:00:00+02:00" list=" 1 2
 3 "><p>one<i>two</i>three<i/>four<z:z xmlns:z="urn:x">five</z:z> <z:z xmlns:z="urn:x"/></p><p/><p> </p><at>2026-01-01T00:00:00Z</at><at>2026-01-01T00:00:00-05:00</at><at>2026-01-01T00:00:00</at><l>1 2</l><m>4</m><m/><m>5 6 7</m></r>`;

/** Extensions of one type, of which two have an element of one name and different types; `pad`: attributes that make a row too wide for all. */
const typesOf = (pad: number): string =>
  schema(`<xs:element name="shop"><xs:complexType><xs:sequence><xs:element name="item" type="Item" maxOccurs="unbounded"/><xs:element name="top" type="Item" minOccurs="0"/><xs:element name="best" type="Book" minOccurs="0" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Item"><xs:sequence><xs:element name="title" type="xs:string"/><xs:element name="price" type="xs:decimal" minOccurs="0"/><xs:element name="maker" type="Person" minOccurs="0"/><xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="9"/><xs:element name="part" type="Item" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="id" type="xs:int"/></xs:complexType>
  <xs:complexType name="Book"><xs:complexContent><xs:extension base="Item"><xs:sequence><xs:element name="pages" type="xs:int"/><xs:element name="author" type="Person" maxOccurs="9"/></xs:sequence>${attributes('b', pad)}</xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Disc"><xs:complexContent><xs:extension base="Item"><xs:sequence><xs:element name="minutes" type="xs:int"/><xs:element name="pages" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="page" type="xs:string" maxOccurs="9"/></xs:sequence><xs:attribute name="count"/></xs:complexType></xs:element></xs:sequence><xs:attribute name="label"/>${attributes('d', pad)}</xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Audio"><xs:complexContent><xs:extension base="Book"><xs:sequence><xs:element name="reader" type="Person"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Person"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence><xs:attribute name="since" type="xs:date"/></xs:complexType>`);
const attributes = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `<xs:attribute name="${prefix}${at}"/>`).join('');
const typesText = `<shop xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <item id="1"><title>plain</title><maker since="2020-01-01"><name>m1</name></maker><tag>x</tag></item>
  <item xsi:type="Book" id="2"><title>b</title><price>1.5</price><maker><name>m2</name></maker><tag>y</tag><tag>z</tag><pages>3</pages><author><name>n</name></author><author><name>m</name></author></item>
  <item id="3" xsi:type=" Disc " label="l"><title>d</title><part xsi:type="Book"><title>inner</title><part xsi:type="Book"><title>innermost</title><pages>1</pages><author><name>q</name></author></part><pages>8</pages><author><name>p</name></author></part><part><title>part</title></part><minutes>70</minutes><pages count="2"><page>p</page><page>q</page></pages></item>
  <item xsi:type="Audio"><title>au</title><pages>9</pages><author><name>o</name></author><reader since="2021-01-01"><name>r</name></reader></item>
  <item xsi:type="Item"><title>again</title></item>
  <top xsi:type="Disc"><title>t</title><minutes>1</minutes></top>
  <best><title>best</title><pages>4</pages><author><name>s</name></author></best><best xsi:type="Audio"><title>better</title><pages>5</pages><author><name>t</name></author><reader><name>u</name></reader></best>
</shop>`;

const namesOf = (prefix: string): string[] => Array.from({ length: 42 }, (_, at) => `${prefix}${at}`);
/** A map of more than 40,000 lines, which leaves out further paths to the tables of `P` and `K`. */
const long = (() => {
  const elements = (prefix: string, type: string): string =>
    namesOf(prefix)
      .map((name) => `<xs:element name="${name}" type="${type}" minOccurs="0" maxOccurs="9"/>`)
      .join('');
  const fields = namesOf('f')
    .map((name) => `<xs:element name="${name}" type="xs:dateTime" minOccurs="0"/>`)
    .join('');
  return schema(`<xs:element name="r"><xs:complexType><xs:sequence>${elements('g', 'G')}</xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="G"><xs:sequence>${elements('p', 'P')}</xs:sequence></xs:complexType>
  <xs:complexType name="P"><xs:sequence>${fields}<xs:element name="k" type="K" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="id" type="xs:int"/></xs:complexType>
  <xs:complexType name="K" mixed="true"><xs:sequence><xs:element name="v" type="xs:int" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType>`);
})();
const longText = `<r><g0><p0 id="1"><f0>2026-01-01T00:00:00Z</f0></p0><p1/></g0>
  <g41><p41 id="2"><f0>2026-01-01T00:00:00+01:00</f0><f41>2026-01-01T00:00:00</f41><k>a<v>1</v>b<v>2</v></k></p41><p41><f0>2026-01-02T00:00:00</f0></p41><p40 id="3"/></g41></r>`;

describe('what the catalogue says', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
  }, 120_000);

  async function load(name: string, xsd: string | null, text: string, ...more: string[]): Promise<number> {
    const folder = join(home.directory, name);
    await mkdir(folder);
    if (xsd !== null) await writeFile(join(folder, `${name}.xsd`), xsd);
    await writeFile(join(folder, 'a.xml'), text);
    const { origin } = await convert(
      home,
      'xml2er',
      join(folder, 'a.xml'),
      ...(xsd === null ? ['--name', name] : ['--xsd', join(folder, `${name}.xsd`)]),
      '-o',
      `metadb:${name}`,
      ...more,
    );
    return origin!;
  }

  const tablesOf = async (name: string): Promise<string[]> =>
    (
      await sql<{ name: string }[]>`
        select table_name as name from information_schema.tables
         where table_schema = ${name} and table_name not like '\\_%' order by 1`
    ).map((row) => row.name);

  async function expectCounted(name: string, statistics: readonly Statistics[]): Promise<void> {
    const sums = new Map<string, number>();
    for (const { table_name: table, column_name: column, occurrences } of statistics) {
      const place = `${table} ${column ?? '*'}`;
      sums.set(place, (sums.get(place) ?? 0) + occurrences);
    }
    const there = await tablesOf(name);
    const counts = new Map<string, number>();
    for (const place of sums.keys()) {
      const [table, column] = place.split(' ');
      if (!there.includes(table!)) {
        counts.set(place, 0);
        continue;
      }
      const counted = column === '*' ? sql`count(*)` : sql`count(${sql(column!)})`;
      const [row] = await sql<{ n: number }[]>`select ${counted}::int as n from ${sql(`${name}.${table}`)}`;
      counts.set(place, row!.n);
    }
    expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(counts));
  }

  const cases = [
    ['below', below, belowText, ['/team/user/pos/v', '/team/user/pos/item/v', '/team/pos/item/v']],
    ['extended', extended, extendedText, ['/r/p/kid/ext', '/r/p/kid/n', '/r/p/ext']],
    ['nested', nested, nestedText, ['/r/a/v', '/r/a/b/a', '/r/a/b/r/@x', '/r/a/a/v', '/r/a/a/w']],
    ['nillable', nillable, nillableText, ['/r/n/v', '/r/n/s']],
    ['untyped', untyped, untypedText, ['/r/t/n', '/r/t/@k', '/r/t/l/m', '/r/u']],
    ['contents', contents, contentsText, ['/r/p', '/r/p/i', '/r/at', '/r/@when', '/r/l', '/r/@list', '/r/m']],
    ['types', typesOf(0), typesText, ['/shop/item/title', '/shop/item/reader/name', '/shop/best/pages']],
    [
      'types_apart',
      typesOf(120),
      typesText,
      ['/shop/item/title', '/shop/item/reader/name', '/shop/best/pages'],
    ],
    ['inferred', null, extendedText, ['/r/p/@xsi:type', '/r/p/kid/n']],
    ['inferred_nested', null, nestedText, ['/r/a/v']],
    ['inferred_contents', null, contentsText, ['/r/@when', '/r/at', '/r/@list', '/r/p/i']],
    ['inferred_nillable', null, nillableText, ['/r/n/v', '/r/n/s']],
    ['inferred_below', null, belowText, ['/team/pos/v']],
  ] as const;
  it.each(cases.map(([name, xsd, text, paths], number) => ({ name, xsd, text, paths, number })))(
    'of every place, as often as values are there: $name',
    async ({ name, xsd, text, paths, number }) => {
      const ways =
        xsd === null
          ? [[], ['-g', '0'], ['-g', '2']]
          : [[], ['--prune'], ['-g', '0'], ['-g', '1', '--prune']];
      for (const [at, more] of ways.entries()) {
        // every second way, and the other ones with the next documents; the whole run has all
        if (!isHere('whole run') && (at + number) % 2 !== 0) continue;
        const target = `${name}_${at}`;
        const origin = await load(target, xsd, text, ...more);
        const mappings = await service.client.get<MappingAnswer[]>(`/v2/mapping/get/${origin}`);
        expect(mappings.map(({ xpath }) => xpath)).toEqual(expect.arrayContaining([...paths]));
        const statistics = await service.client.get<Statistics[]>(`/v2/mapping/get_stats/${origin}`);
        for (const path of paths)
          expect([
            path,
            statistics.some(({ xpath, occurrences }) => xpath === path && occurrences > 0),
          ]).toEqual([path, true]);
        await expectCounted(target, statistics);
        const map = await (await service.client.fetch(`/v2/mapping/download/${origin}?format=csv`)).text();
        for (const path of paths) expect(map).toContain(path);
        const line = mappings.find(
          ({ xpath, column_name: column }) => xpath === paths[0] && column !== null,
        )!;
        const lineage = await service.client.get<{ source_xpath: string | null }[]>(
          `/v2/extensions/cil/lineage/${target}/${line.table_name}`,
        );
        expect(lineage.map((one) => one.source_xpath)).toContain(paths[0]);
      }
    },
  );

  it('of each place where names stand again in one another, as often as there', async () => {
    const origin = await load('again', nested, nestedText);
    const statistics = await service.client.get<Statistics[]>(`/v2/mapping/get_stats/${origin}`);
    const values = statistics.filter(({ column_name: column }) => column !== null);
    expect(Object.fromEntries(values.map(({ xpath, occurrences }) => [xpath, occurrences]))).toEqual({
      '/r/a/v': 2,
      '/r/a/b/a': 2,
      '/r/a/b/r/@x': 1,
      '/r/a/a/v': 2,
      '/r/a/a/w': 1,
    });
  });

  it('of each place that documents used, if the stored map leaves it out', async () => {
    const origin = await load('long', long, longText);
    const mappings = await service.client.get<MappingAnswer[]>(`/v2/mapping/get/${origin}`);
    expect(mappings.length).toBeGreaterThan(40_000);
    const statistics = await service.client.get<Statistics[]>(`/v2/mapping/get_stats/${origin}`);
    await expectCounted('long', statistics);
    const used = statistics.filter(({ occurrences }) => occurrences > 0);
    expect(
      used
        .map((line) => `${line.xpath} ${line.table_name}.${line.column_name ?? '*'} ${line.occurrences}`)
        .toSorted(),
    ).toEqual([
      '/r r.* 1',
      '/r/g0 g.* 1',
      '/r/g0/p0 p.* 1',
      '/r/g0/p0/@id p.id 1',
      '/r/g0/p0/f0 p.f0 1',
      '/r/g0/p1 p.* 1',
      '/r/g41 g.* 1',
      '/r/g41/p40 p.* 1',
      '/r/g41/p40/@id p.id 1',
      '/r/g41/p41 p.* 2',
      '/r/g41/p41/@id p.id 1',
      '/r/g41/p41/f0 p.f0 2',
      '/r/g41/p41/f41 p.f41 1',
      '/r/g41/p41/k k.* 1',
      '/r/g41/p41/k k_text.content 2',
      '/r/g41/p41/k/v v.* 2',
      '/r/g41/p41/k/v v.value 2',
    ]);
    const lines = new Set(mappings.map(placeOf));
    expect(used.filter((line) => !lines.has(placeOf(line)))).toEqual([]);
    expect(new Set(mappings.filter(({ id_map: id }) => id > 0).map(({ id_map: id }) => id)).size).toBe(
      mappings.length - mappings.filter(({ id_map: id }) => id === 0).length,
    );
    const field = mappings.find(({ xpath }) => xpath === '/r/g41/p41/f41');
    expect(field).toMatchObject({ id_map: 0, min_occurs: 0, max_occurs: 1, active: true });
    expect(mappings.find(({ xpath }) => xpath === '/r/g41/p41/k')).toMatchObject({ max_occurs: 9 });
    const job = await sql<{ id: number }[]>`select max(id_job)::int as id from svc.job`;
    const ofJob = await service.client.get<Statistics[]>(`/v2/mapping/get_stats/${origin}/${job[0]!.id}`);
    expect(ofJob).toEqual(statistics);
    const map = await (await service.client.fetch(`/v2/mapping/download/${origin}?format=csv`)).text();
    expect(map).toContain('/r/g41/p41/k/v');
    const { table_name: table } = used.find(({ xpath }) => xpath === '/r/g41/p41/f41')!;
    const lineage = await service.client.get<{ source_xpath: string | null }[]>(
      `/v2/extensions/cil/lineage/long/${table}`,
    );
    expect(lineage.map((one) => one.source_xpath)).toContain('/r/g41/p41/f41');
  });

  it('is the logical schema that the last load used', async () => {
    const origin = await load('shown', extended, extendedText, '--prune');
    const there = await tablesOf('shown');
    const made = async (): Promise<string[]> => {
      const ddl = await (await service.client.fetch(`/v2/schema/ddl/${origin}`)).text();
      const names = [...ddl.matchAll(/^CREATE TABLE "([^"]+)"/gm)].map(([, name]) => name!);
      return names.filter((name) => !name.startsWith('_')).toSorted();
    };
    expect(await made()).toEqual(there);
    const schema = await service.client.get<{ table_count: number }>(`/v2/schema/${origin}`);
    expect(schema.table_count).toBe(there.length);
    const mapped = await service.client.get<MappingAnswer[]>(`/v2/mapping/get/${origin}`);
    expect([...new Set(mapped.map((line) => line.table_name))].toSorted()).toEqual(there);
    const dbml = await (await service.client.fetch(`/v2/schema/export_as/${origin}?format=dbml`)).text();
    expect(dbml).not.toContain('Table "row"');
    const { tables } = await service.client.get<{ tables: { name: string }[] }>(`/v2/diagram/get/${origin}`);
    expect(
      tables
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('_'))
        .toSorted(),
    ).toEqual(there);
    // another load, and what people make
    const file = join(home.directory, 'shown', 'a.xml');
    await convert(home, 'xml2er', file, '-x', String(origin), '-o', 'metadb:whole', '--tables', 'all');
    expect(await made()).toEqual(await tablesOf('whole'));
    await convert(home, 'xml2er', file, '-x', String(origin), '-o', 'metadb:shown');
    expect(await made()).toEqual(there);
    await service.client.fetch(`/v2/schema/generate/${origin}/40`);
    expect(await made()).toEqual(await tablesOf('whole'));
  });
});
