/** Documents to rows. */
import { describe, expect, it } from 'vitest';
import { compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const stays = compiled(
  xs(`<xs:element name="stays"><xs:complexType><xs:sequence>
    <xs:element name="stay" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="guest" type="xs:string"/>
      <xs:element name="nights" type="xs:int" nillable="true" minOccurs="0"/>
      <xs:element name="extra" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>`),
);

const loadStrictly = (document: string) => shred(modelOf(stays, 1), [document], { unmapped: 'fail' });

describe('rows', () => {
  it('have keys, parent keys and positions over all children', () => {
    const { rows } = shred(modelOf(stays, 1), [
      '<stays><stay id="7"><guest>A</guest><extra>x</extra><extra>y</extra></stay><stay id="8"><guest>B</guest><nights>3</nights></stay></stays>',
      '<stays><stay id="9"><guest>C</guest></stay></stays>',
    ]);
    expect(rows['stays']).toEqual([
      { stays_key: '1', document_key: '1' },
      { stays_key: '2', document_key: '2' },
    ]);
    expect(rows['stay']).toEqual([
      {
        stay_key: '1',
        document_key: '1',
        stays_key: '1',
        position: '1',
        id: '7',
        guest: 'A',
        nights_nil: null,
        nights: null,
      },
      {
        stay_key: '2',
        document_key: '1',
        stays_key: '1',
        position: '2',
        id: '8',
        guest: 'B',
        nights_nil: null,
        nights: '3',
      },
      {
        stay_key: '3',
        document_key: '2',
        stays_key: '2',
        position: '1',
        id: '9',
        guest: 'C',
        nights_nil: null,
        nights: null,
      },
    ]);
    expect(rows['extra']).toEqual([
      { extra_key: '1', document_key: '1', stay_key: '1', position: '2', value: 'x' },
      { extra_key: '2', document_key: '1', stay_key: '1', position: '3', value: 'y' },
    ]);
    expect(rows['_documents']!.map((row) => row['name'])).toEqual(['document-1.xml', 'document-2.xml']);
  });

  it('are numbered from where the target stands', () => {
    const keyOffsets = new Map([
      ['stay', 100],
      ['_documents', 4],
    ]);
    const { rows } = shred(modelOf(stays, 1), ['<stays><stay id="1"><guest/></stay></stays>'], {
      keyOffsets,
    });
    expect(rows['stay']![0]).toMatchObject({ stay_key: '101', stays_key: '1', guest: '' });
    expect(rows['stays']![0]).toEqual({ stays_key: '1', document_key: '5' });
  });

  it('are the same however the document is cut', () => {
    const document =
      '<stays><stay id="7"><guest>Ä &amp; Ö<![CDATA[ <x> ]]></guest><extra>\n</extra></stay></stays>';
    const whole = shred(modelOf(stays, 1), [document]).rows;
    for (const pieceBytes of [1, 2, 3, 7])
      expect(shred(modelOf(stays, 1), [document], { pieceBytes }).rows).toEqual(whole);
    expect(whole['stay']![0]!['guest']).toBe('Ä & Ö <x> ');
  });
});

describe('nil, empty and absent', () => {
  it('are told apart', () => {
    const { rows } = shred(modelOf(stays, 1), [
      `<stays xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><stay id="1"><guest/><nights xsi:nil="true"/></stay><stay id="2"><guest>B</guest><nights/></stay><stay id="3"><guest>C</guest></stay></stays>`,
    ]);
    expect(rows['stay']!.map((row) => [row['guest'], row['nights_nil'], row['nights']])).toEqual([
      ['', 't', null],
      ['B', null, null],
      ['C', null, null],
    ]);
    expect(rows['_lexical']).toEqual([
      { document_key: '1', table_name: 'stay', row_key: '2', column_name: 'nights', content: '' },
    ]);
  });
});

function load(document: string) {
  return shred(modelOf(stays, 1), [document]);
}

describe('deviations from the schema', () => {
  it('unknown elements are kept whole, with their own namespaces', () => {
    const { rows, deviations } = load(
      '<stays><stay id="1"><guest>A</guest><p:vip xmlns:p="urn:x" a="1">gold<p:b/>&lt;</p:vip></stay></stays>',
    );
    expect(rows['_unmapped']).toEqual([
      {
        document_key: '1',
        parent_table: 'stay',
        parent_key: '1',
        position: '2',
        xpath: '/stays/stay/{urn:x}vip',
        kind: 'element',
        content: '<p:vip xmlns:p="urn:x" a="1">gold<p:b/>&lt;</p:vip>',
      },
    ]);
    expect(deviations.total).toBe(1);
  });

  it('unknown attributes and stray text are kept', () => {
    const { rows } = load('<stays><stay id="1" vip="yes">stray<guest>A</guest></stay></stays>');
    expect(
      rows['_unmapped']!.map((row) => [row['kind'], row['xpath'], row['position'], row['content']]),
    ).toEqual([
      ['attribute', '/stays/stay/@vip', '0', 'yes'],
      ['text', '/stays/stay', '1', 'stray'],
    ]);
  });

  it('a second occurrence where one fits is kept beside', () => {
    const { rows } = load('<stays><stay id="1"><guest>A</guest><guest>B</guest></stay></stays>');
    expect(rows['stay']![0]!['guest']).toBe('A');
    expect(rows['_unmapped']![0]).toMatchObject({
      xpath: '/stays/stay/guest',
      position: '2',
      content: '<guest>B</guest>',
    });
  });

  it('values that do not fit are given to the sink to widen their column', () => {
    const { rows, unconvertedValues, nullAllowed, model } = load(
      '<stays><stay id="eight"><guest>A</guest><nights>many</nights></stay></stays>',
    );
    expect(rows['stay']![0]).toMatchObject({ id: null, nights: null });
    expect(
      unconvertedValues.map(({ table, column, rowKey, text }) => [
        model.tables[table]!.columns[column]!.name,
        rowKey,
        text,
      ]),
    ).toEqual([
      ['id', 1, 'eight'],
      ['nights', 1, 'many'],
    ]);
    expect(nullAllowed.map(({ column }) => model.tables[1]!.columns[column]!.name)).toEqual(['id']);
  });

  it('required values that are missing drop the NOT NULL of their column', () => {
    const { nullAllowed, model } = load('<stays><stay><nights>1</nights></stay></stays>');
    expect(nullAllowed.map(({ table, column }) => model.tables[table]!.columns[column]!.name)).toEqual([
      'id',
      'guest',
    ]);
  });

  it('stop the document where that was asked for', () => {
    expect(() => shred(modelOf(stays, 1), ['<stays><x/></stays>'], { unmapped: 'fail' })).toThrow(
      /no place for this element/,
    );
  });

  it('a root the schema does not know is refused where nothing is captured, and those it knows are named', () => {
    expect(() => loadStrictly('<other/>')).toThrow(
      /document-1.xml: line 1, column 1: the root element <other> is not in the schema, which knows stays/,
    );
    expect(() => loadStrictly('<stays xmlns="urn:later"/>')).toThrow(
      /the root element <\{urn:later\}stays> is not in the schema \(its stays is of no namespace\), which knows stays$/,
    );
  });

  it('a document with such a root is kept whole, whatever pieces it comes in', () => {
    const document =
      '<p:other xmlns:p="urn:o" xmlns="urn:d" a="p:x"> text <!-- c --><in><p:in/></in>\n<x>\u00e9</x></p:other>';
    for (const pieceBytes of [1, 7, 1000]) {
      const { rows, deviations } = shred(modelOf(stays, 1), [document, '<stays/>', document], {
        pieceBytes,
        keepsOtherRoots: true,
      });
      const kept = rows['_unmapped']!.map((row) => [
        row['document_key'],
        row['parent_table'],
        row['content'],
      ]);
      const content =
        '<p:other xmlns:p="urn:o" xmlns="urn:d" a="p:x"> text <in><p:in/></in>\n<x>\u00e9</x></p:other>';
      expect(kept).toEqual([
        ['1', '_documents', content],
        ['3', '_documents', content],
      ]);
      expect([...deviations.paths.values()]).toMatchObject([
        { xpath: '/{urn:o}other', count: 2, where: 'document-1.xml: line 1, column 1' },
      ]);
      expect(rows['_documents']).toHaveLength(3);
    }
  });

  it('unless it is too long to be held, that was not asked for, or it is an XSD', () => {
    const part = `<x>${'long '.repeat(1_000_000)}</x>`;
    expect(() =>
      shred(modelOf(stays, 1), [`<other>${part.repeat(8)}</other>`], { keepsOtherRoots: true }),
    ).toThrow(
      /line 1, column 1: the root element <other> is not in the schema.* too long to be stored as a whole/,
    );
    expect(() => shred(modelOf(stays, 1), ['<other/>'])).toThrow(
      /the root element <other> is not in the schema, which knows stays$/,
    );
    const xsd = '<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema"/>';
    expect(() => shred(modelOf(stays, 1), [xsd], { keepsOtherRoots: true })).toThrow(
      /an XSD, not a document/,
    );
  });
});

describe('polymorphism', () => {
  const shapes = compiled(
    xs(`<xs:element name="drawing"><xs:complexType><xs:sequence><xs:element ref="shape" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="shape" type="Shape" abstract="true"/>
    <xs:complexType name="Shape"><xs:attribute name="id" type="xs:int"/></xs:complexType>
    <xs:element name="circle" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="Shape"><xs:attribute name="r" type="xs:decimal"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
    <xs:element name="box" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="Shape"><xs:attribute name="w" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType></xs:element>`),
  );

  it('substitution members share their head table and say which they are', () => {
    const { rows } = shred(modelOf(shapes, 0), [
      '<drawing><circle id="1" r="2.50"/><box id="2" w="3"/></drawing>',
    ]);
    expect(rows['shape']).toEqual([
      {
        shape_key: '1',
        document_key: '1',
        drawing_key: '1',
        position: '1',
        element: 'circle',
        id: '1',
        r: '2.50',
        w: null,
      },
      {
        shape_key: '2',
        document_key: '1',
        drawing_key: '1',
        position: '2',
        element: 'box',
        id: '2',
        r: null,
        w: '3',
      },
    ]);
  });

  it('xsi:type brings the columns of the derived type', () => {
    const source = compiled(
      xs(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element name="p" type="Person" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
      <xs:complexType name="Person"><xs:sequence><xs:element name="name" type="xs:string"/></xs:sequence></xs:complexType>
      <xs:complexType name="Pilot"><xs:complexContent><xs:extension base="Person"><xs:sequence><xs:element name="hours" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`),
    );
    const { rows, deviations } = shred(modelOf(source, 1), [
      '<r xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><p><name>A</name></p><p i:type="Pilot"><name>B</name><hours>12</hours></p></r>',
    ]);
    expect(rows['p']!.map((row) => [row['type'], row['name'], row['hours']])).toEqual([
      [null, 'A', null],
      ['Pilot', 'B', '12'],
    ]);
    expect(deviations.total).toBe(0);
  });
});

describe('mixed content and wildcards', () => {
  it('keep text runs and foreign markup in order', () => {
    const source = compiled(
      xs(`<xs:element name="p"><xs:complexType mixed="true"><xs:sequence>
        <xs:element name="b" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:any minOccurs="0" maxOccurs="unbounded" namespace="##other" processContents="skip"/></xs:sequence></xs:complexType></xs:element>`),
    );
    const { rows } = shred(modelOf(source, 1), [
      '<p>one <b>two</b> <b>three</b> four<y xmlns="urn:y"><z/></y></p>',
    ]);
    expect(rows['p_text']!.map((row) => [row['position'], row['content']])).toEqual([
      ['1', 'one '],
      ['3', ' '],
      ['5', ' four'],
    ]);
    expect(rows['b']!.map((row) => row['position'])).toEqual(['2', '4']);
    expect(rows['p_any']!.map((row) => [row['position'], row['content']])).toEqual([
      ['6', '<y xmlns="urn:y"><z/></y>'],
    ]);
  });
});

describe('models inferred from documents', () => {
  it('give every value back as text, whatever its type', () => {
    const documents = ['<r><v a="01" b="1">1.50</v><v a="2" b="2">2.25</v><v a="3" b="-7">10.00</v></r>'];
    const model = modelOf(inferred(documents), 1);
    expect(model.tables[1]!.columns.map((column) => `${column.name} ${column.type.kind}`)).toEqual([
      'v_key bigint',
      'document_key bigint',
      'r_key bigint',
      'position integer',
      'a text',
      'b integer',
      'value numeric',
    ]);
    expect(shred(model, documents).rows['v']!.map((row) => [row['a'], row['b'], row['value']])).toEqual([
      ['01', '1', '1.50'],
      ['2', '2', '2.25'],
      ['3', '-7', '10.00'],
    ]);
  });
});
