/** Every row of every table names its document. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { loadIntoPostgres, readFromPostgres } from '../../support/round-trip/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';

const trial = useTrial();
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
});
afterAll(() => sql.end({ timeout: 1 }));

const schemaOf = (more: string): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="folder" type="Folder"/>
  <xs:complexType name="Folder"><xs:sequence>
    <xs:element name="label" type="xs:string"/>
    <xs:element name="letter" minOccurs="0" maxOccurs="unbounded"><xs:complexType mixed="true"><xs:sequence>
      <xs:element name="seal" type="Seal" minOccurs="0" maxOccurs="unbounded"/>${more}</xs:sequence></xs:complexType></xs:element>
    <xs:element ref="folder" minOccurs="0" maxOccurs="unbounded"/>
    <xs:any namespace="##other" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType>
  <xs:complexType name="Seal"><xs:attribute name="wax" type="xs:string" use="required"/></xs:complexType>
</xs:schema>`;
const source = compiled(schemaOf(''));
const laterSource = compiled(schemaOf('<xs:element name="stamp" maxOccurs="3" minOccurs="0"/>'));

const folder = (name: string, more = ''): string =>
  `<folder><label>${name}</label><letter>Dear <seal wax="red ${name}"/> reader<seal wax="blue"/></letter><letter><seal wax="green"/></letter><folder><label>${name} within</label><folder><label>deeper</label><letter>p.s.${more}</letter></folder><o:note xmlns:o="urn:other">${name}</o:note></folder></folder>`;
const documents = ['one', 'two', 'three'].map((name) => bytesOf(folder(name)));

const unequal = (written: readonly Uint8Array[], expected: readonly Uint8Array[]): unknown[] =>
  expected.flatMap((document, at) => compareXml(document, written[at]!, { source: laterSource }));

describe.each([0, 1, 2, 3] as const)('level %i', (level) => {
  it('every row of every table names its document, root elements within others, texts and wildcards too', async () => {
    const model = modelOf(source, level);
    const place = { url: database.url, sqlSchema: `each_${level}` };
    await loadIntoPostgres(place, model, documents.slice(0, 2), { id: 1, name: 'first' });
    await loadIntoPostgres(place, model, documents.slice(2), { id: 2, name: 'second' });
    const facts = await sql<{ table: string; nullable: string; type: string }[]>`
      select table_name as table, is_nullable as nullable, data_type as type from information_schema.columns
       where table_schema = ${place.sqlSchema} and column_name = 'document_key' and table_name not like ${'\\_%'} order by 1`;
    expect(facts.map(({ table }) => table)).toEqual(model.tables.map(({ name }) => name).toSorted());
    expect(facts.every(({ nullable, type }) => nullable === 'NO' && type === 'bigint')).toBe(true);
    const perDocument = await Promise.all(
      facts.map(
        ({ table }) =>
          sql`select document_key::int as key, count(*)::int as rows from ${sql(place.sqlSchema)}.${sql(table)} group by 1 order by 1`,
      ),
    );
    // the three are alike but for names: each table has as many rows of each
    for (const [at, rows] of perDocument.entries()) {
      expect(
        rows.map(({ key }) => key as number),
        facts[at]!.table,
      ).toEqual([1, 2, 3]);
      expect(new Set(rows.map(({ rows: count }) => count as number)).size).toBe(1);
    }
    const [letters] = await sql`
      select string_agg(s.wax, ',' order by s.seal_key) as waxes from ${sql(place.sqlSchema)}.seal s
        join ${sql(place.sqlSchema)}._documents d using (document_key) where d.name = 'second-1.xml'`;
    expect(letters!['waxes']).toBe('red three,blue,green');
    expect(unequal(await readFromPostgres(place, model), documents)).toEqual([]);
    expect(unequal(await readFromPostgres(place, model, 'first-2.xml'), documents.slice(1, 2))).toEqual([]);
    const indexes = await sql<{ definition: string }[]>`
      select indexdef as definition from pg_indexes where schemaname = ${place.sqlSchema} and indexdef like '%(document_key)%' and tablename = 'seal'`;
    expect(indexes.map(({ definition }) => /USING (\w+)/.exec(definition)![1])).toEqual(['brin']);
  });
});
