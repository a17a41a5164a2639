/** GET /v2/schema/dictionary: what it says of columns, as a workbook and as Markdown, and what is refused. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { compiled, modelOf, statisticsOf } from '../../../support/models/shredding.ts';
import { readZip } from '../../../support/read-zip.ts';

const annotated = (name: string, definition: string): string =>
  `<xs:annotation><xs:documentation source="Name">${name}</xs:documentation><xs:documentation source="Definition">${definition}</xs:documentation></xs:annotation>`;

const xsd = (label: string, year: string): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="museum"><xs:complexType><xs:sequence>
    <xs:element name="work" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="ttl" type="xs:string">${label}</xs:element>
      <xs:element name="yr" type="xs:int" minOccurs="0">${year}</xs:element>
    </xs:sequence>
      <xs:attribute name="tech" default="ink"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="oil"><xs:annotation><xs:documentation>On canvas.</xs:documentation></xs:annotation></xs:enumeration><xs:enumeration value="ink"/></xs:restriction></xs:simpleType></xs:attribute>
    </xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;

async function createMuseum(
  label: string,
  documents: readonly string[],
  year = annotated('Year', 'When it was | finished.'),
) {
  const app = await createTestApp();
  const { catalog } = app.adapters;
  const source = compiled(xsd(label, year));
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg: 1,
    idParentSch: null,
    idJob: null,
    name: 'museum',
    sourceType: 'xsd',
    model: source,
    files: [],
  });
  await catalog.createLogicalSchema(1, idSch, modelOf(source, 1), null);
  if (documents.length > 0) {
    const statistics = statisticsOf(documents);
    await catalog.saveStatistics(1, idSch, 7, statistics, () => statistics);
  }
  return { ...app, path: `/v2/schema/dictionary/${idSch}` };
}

const title = annotated('Title', 'What it is called.');
const documents = [
  '<museum><work tech="oil"><ttl>A</ttl><yr>1889</yr></work><work><ttl>B</ttl></work></museum>',
  '<museum><work><ttl>C</ttl></work><work tech="ink"><ttl>D</ttl></work></museum>',
];

describe('GET /v2/schema/dictionary', () => {
  it('has a line for each column in Markdown: name, definition, path, type, codes, sample, NULL', async () => {
    const { send, path } = await createMuseum(title, documents);
    const answer = await send(`${path}?format=md`);
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
      200,
      'text/markdown; charset=utf-8',
    ]);
    expect(answer.headers.get('Content-Disposition')).toContain('filename="museum-dictionary.md"');
    const lines = (await answer.text()).split('\n');
    expect(lines).toContain('# museum, version 1');
    expect(lines).toContain('## work');
    expect(lines).toContain(
      '| yr | Year | When it was \\| finished. | /museum/work/yr | integer |  |  | 1889 | 75 % |',
    );
    expect(lines).toContain(
      '| ttl | Title | What it is called. | /museum/work/ttl | text, not null |  |  | A | 0 % |',
    );
    expect(lines).toContain(
      '| tech |  |  | /museum/work/@tech | varchar(3), default ink |  | oil: On canvas.; ink | ink | 50 % |',
    );
    expect(lines.slice(lines.indexOf('## Codes'))).toEqual([
      '## Codes',
      '',
      '### /museum/work/@tech',
      '',
      '| code | label | documentation |',
      '| --- | --- | --- |',
      '| oil |  | On canvas. |',
      '| ink |  |  |',
      '',
    ]);
    expect(lines.find((line) => line.startsWith('| work\\_key |'))).toContain('|  | row key |  |');
    expect(lines.find((line) => line.startsWith('| museum\\_key |') && /refers/.test(line))).toContain(
      'refers to museum',
    );
  });

  it('is a workbook without a format, whose shares are numbers', async () => {
    const { send, path } = await createMuseum(title, documents);
    const answer = await send(path);
    expect(answer.headers.get('Content-Disposition')).toContain('museum-dictionary.xlsx');
    const parts = await readZip(new Uint8Array(await answer.arrayBuffer()));
    const names = [...parts.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)];
    expect(names.map(([, name]) => name)).toEqual(['dictionary', 'tables', 'codes']);
    const codes = [...parts.get('xl/worksheets/sheet3.xml')!.matchAll(/<t [^>]*>([^<]*)</g)];
    expect(codes.map(([, text]) => text)).toEqual([
      'type',
      'code',
      'label',
      'documentation',
      '/museum/work/@tech',
      'oil',
      'On canvas.',
      '/museum/work/@tech',
      'ink',
    ]);
    const sheet = parts.get('xl/worksheets/sheet1.xml')!;
    expect(sheet).toMatch(/>Year<.*>When it was \| finished\.<.*>1889<.*<v>0\.75<\/v>/);
  });

  it('leaves samples and shares empty where nothing was read, and takes a colon for no name', async () => {
    const plain = '<xs:annotation><xs:documentation>Note: not the artist.</xs:documentation></xs:annotation>';
    const { send, path } = await createMuseum(plain, [], plain.replace('Note: not', 'Not'));
    const text = await (await send(`${path}?format=md`)).text();
    expect(text).toContain(
      '| ttl |  | Note: not the artist. | /museum/work/ttl | text, not null |  |  |  |  |',
    );
  });

  it('refuses other formats, and hides what is not there', async () => {
    const { send, path, newKey } = await createMuseum(title, []);
    expect((await send(`${path}?format=docx`)).status).toBe(400);
    expect((await send(`${path}?id_lschma=999`)).status).toBe(404);
    const { key } = await newKey(2, ['schemas:read']);
    expect((await send(path, { key })).status).toBe(404);
  });
});
