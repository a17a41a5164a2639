/** What XML and XSD allow, and few documents have: through the tools into tables, and compared value by value. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { compareWithDocuments } from '../../support/service/census.ts';
import { readSchema, type SchemaView } from '../../support/service/schema.ts';
import { convert, type Summary } from '../../support/service/tools.ts';
import { unusualDocuments } from '../../support/documents/unusual.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('unusual documents', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let folder: string;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
    folder = await trial.folder('unusual-');
  });

  /** Converts files by their names: an XSD set, where there is one, and documents. */
  async function load(
    name: string,
    xsd: string | null,
    documents: Readonly<Record<string, string | Uint8Array>>,
  ): Promise<{ readonly summary: Summary; readonly view: SchemaView }> {
    const place = join(folder, name);
    await mkdir(join(place, 'documents'), { recursive: true });
    for (const [file, content] of Object.entries(documents))
      await writeFile(join(place, 'documents', file), content);
    const argv = [join(place, 'documents'), '-o', `metadb:${name}`];
    if (xsd !== null) {
      await writeFile(join(place, 'schema.xsd'), xsd);
      const made = await convert(home, 'xsd2er', join(place, 'schema.xsd'), '--name', name);
      argv.push('-x', String(made.origin));
    }
    const summary = await convert(home, 'xml2er', ...argv);
    return { summary, view: await readSchema(service.client, summary.origin!) };
  }

  it.each(some(unusualDocuments, 1))('$name', async ({ name, xsd, documents, texts }) => {
    const { summary, view } = await load(name.replaceAll(/\W+/g, '_'), xsd, documents);
    const names = Object.keys(documents);
    expect(summary).toMatchObject({ documents: names.length, rejected: 0, xpaths: { new: 0 } });
    const input = {
      mapping: view.mapping,
      namespaces: view.schema.namespaces,
      documents: names.map((file) => ({ name: file, text: texts?.[file] ?? String(documents[file]) })),
    };
    expect(await compareWithDocuments(sql, name.replaceAll(/\W+/g, '_'), input)).toEqual([]);
    expect(await sql`select * from ${sql(name.replaceAll(/\W+/g, '_'))}._unmapped`.catch(() => [])).toEqual(
      [],
    );
  });

  it('a document that breaks its XSD loads; what does not fit is reported and kept', async () => {
    const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
      <xs:element name="row" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="n" type="xs:int"/><xs:element name="d" type="xs:date"/></xs:sequence>
        <xs:attribute name="id" use="required" type="xs:int"/></xs:complexType></xs:element>
      </xs:sequence></xs:complexType></xs:element></xs:schema>`;
    const document =
      '<r><row id="1"><n>1</n><d>2020-01-01</d></row><row id="two"><n>99999999999</n><d>soon</d></row>' +
      '<row><n>3</n><n>4</n></row><other a="1">x</other></r>';
    const { summary, view } = await load('deviating', xsd, { 'a.xml': document });
    expect(summary).toMatchObject({ status: 'C', documents: 1, rejected: 0 });
    const rows = await sql`select id, n, d from deviating.row order by position`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { id: '1', n: '1', d: '2020-01-01' },
      { id: 'two', n: '99999999999', d: 'soon' },
      { id: null, n: '3', d: null },
    ]);
    const kept = await sql`select xpath, kind, content from deviating._unmapped order by xpath`;
    expect(kept.map((row) => ({ ...row }))).toEqual([
      { xpath: '/r/other', kind: 'element', content: '<other a="1">x</other>' },
      { xpath: '/r/row/n', kind: 'element', content: '<n>4</n>' },
    ]);
    expect(view.mapping.find(({ xpath }) => xpath === '/r/row/n')?.data_type).toBe('integer');
    const log = await service.client.log(summary.job!).catch(() => '');
    expect(log).not.toContain('failed');
  });

  it('content of a wildcard is kept as XML that stands by itself', async () => {
    const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="env"><xs:complexType>
      <xs:sequence><xs:element name="id" type="xs:int"/><xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
      <xs:anyAttribute processContents="skip"/></xs:complexType></xs:element></xs:schema>`;
    const document =
      '<env extra="1" xmlns:q="urn:q"><id>1</id><q:x a="1">t &amp; u<y/></q:x><other>2</other></env>';
    const { summary } = await load('wildcard', xsd, { 'a.xml': document });
    expect(summary.xpaths.new).toBe(0);
    const [row] = await sql`select * from wildcard.env`;
    expect(JSON.stringify(row)).toContain('extra');
    const rows = await sql<{ position: number; content: string }[]>`
      select position, content from wildcard.env_any order by position`;
    expect(rows.map(({ position }) => position)).toEqual([2, 3]);
    expect(rows[0]!.content).toMatch(/^<(?:q:)?x [^>]*urn:q[^>]*>t &amp; u<y[^>]*\/><\/(?:q:)?x>$/);
    expect(rows[1]!.content).toMatch(/^<other[^>]*>2<\/other>$/);
  });
});
