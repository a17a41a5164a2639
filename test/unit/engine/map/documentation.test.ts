/** What the XSD says of elements, attributes and types reaches the tables, columns, keys and mappings that are made of them. */
import { describe, expect, it } from 'vitest';
import { dbmlDocument } from '../../../../src/engine/metadata/formats.ts';
import { describeModel } from '../../../../src/engine/metadata/described.ts';
import { enumerationsOf } from '../../../../src/engine/metadata/enumerations.ts';
import { listMappings } from '../../../../src/engine/map/mappings.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const xs = (body: string, more = ''): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" ${more}>${body}</xs:schema>`;
const note = (text: string, attributes = ''): string =>
  `<xs:annotation><xs:documentation ${attributes}>${text}</xs:documentation></xs:annotation>`;
const complex = (children: string, more = ''): string =>
  `<xs:complexType><xs:sequence>${children}</xs:sequence>${more}</xs:complexType>`;

/** Documentation of columns by table and column. */
function columnsOf(xsd: string, mapLevel: 0 | 3 = 3): Readonly<Record<string, string>> {
  const { tables } = modelOf(compiled(xsd), mapLevel);
  return Object.fromEntries(
    tables.flatMap(({ name, columns }) =>
      columns.flatMap((column) =>
        column.documentation === undefined ? [] : [[`${name}.${column.name}`, column.documentation]],
      ),
    ),
  );
}

/** Documentation of paths. */
function pathsOf(xsd: string): Readonly<Record<string, string>> {
  const source = compiled(xsd);
  const model = modelOf(source, 3);
  const lines = listMappings(source, model, source.roots.slice(0, source.primaryRoots));
  return Object.fromEntries(
    lines.flatMap(({ xpath, documentation }) =>
      xpath === null || documentation === undefined ? [] : [[xpath, documentation]],
    ),
  );
}

describe('an element that is referred to', () => {
  const ccts = (name: string, definition: string): string =>
    note(
      `<ccts:Component xmlns:ccts="urn:un:unece:uncefact:documentation:2"><ccts:ComponentType>BBIE</ccts:ComponentType>
        <ccts:DictionaryEntryName>${name}</ccts:DictionaryEntryName><ccts:Definition>${definition}</ccts:Definition>
        <ccts:Cardinality>0..1</ccts:Cardinality></ccts:Component>`,
    );
  const order = xs(
    `<xs:element name="order">${complex(
      `<xs:element ref="Date">${ccts('Order. Issue Date. Date', 'The day it was sent.')}</xs:element>
       <xs:element ref="Until" minOccurs="0"/>
       <xs:element name="line" maxOccurs="unbounded">${complex(
         `<xs:element ref="Date" minOccurs="0">${ccts('Line. Delivery. Date', 'The day it is wanted.')}</xs:element>`,
       )}</xs:element>`,
    )}</xs:element>
    <xs:element name="Date" type="xs:date">${note('Any day.')}</xs:element>
    <xs:element name="Until" type="xs:date">${note('The last day.')}</xs:element>`,
  );

  it('is described by what is said at the reference, else by its declaration', () => {
    expect(columnsOf(order)).toEqual({
      'order.date': 'Order. Issue Date. Date: The day it was sent.',
      'order.until': 'The last day.',
      'line.date': 'Line. Delivery. Date: The day it is wanted.',
    });
  });

  it('is so in the mappings, too', () => {
    expect(pathsOf(order)).toEqual({
      '/order/Date': 'Order. Issue Date. Date: The day it was sent.',
      '/order/Until': 'The last day.',
      '/order/line/Date': 'Line. Delivery. Date: The day it is wanted.',
    });
  });
});

it('a table that two elements share is described by its type, and its key by the elements', () => {
  const xsd = xs(
    `<xs:element name="sale">${complex(
      `<xs:element name="buyer" type="Party" maxOccurs="9">${note('Who pays.')}</xs:element>
       <xs:element name="seller" type="Party" maxOccurs="9">${note('Who is paid.')}</xs:element>`,
    )}</xs:element>
    <xs:complexType name="Party">${note('Somebody.')}<xs:sequence><xs:element name="name" type="xs:string">${note('As on the letter.')}</xs:element></xs:sequence></xs:complexType>`,
  );
  expect(modelOf(compiled(xsd), 3).tables.map(({ name, documentation }) => [name, documentation])).toEqual([
    ['sale', undefined],
    ['party', 'Somebody.'],
  ]);
  expect(columnsOf(xsd)).toEqual({
    'party.sale_key': 'buyer: Who pays.; seller: Who is paid.',
    'party.name': 'As on the letter.',
  });
  expect(pathsOf(xsd)).toEqual({
    '/sale/buyer': 'Who pays.',
    '/sale/buyer/name': 'As on the letter.',
    '/sale/seller': 'Who is paid.',
    '/sale/seller/name': 'As on the letter.',
  });
});

it('a value that is an attribute has what is said of its element', () => {
  const xsd = xs(
    `<xs:element name="patient">${complex(
      `<xs:element name="born" type="Day" minOccurs="0">${note('The day of birth.')}</xs:element>
       <xs:element name="blood" type="Group" minOccurs="0">${note('The blood group.')}</xs:element>`,
    )}</xs:element>
    <xs:complexType name="Day"><xs:sequence><xs:element name="remark" type="xs:string" minOccurs="0"/></xs:sequence>
      <xs:attribute name="value" type="xs:date"/><xs:attribute name="id">${note('For references.')}</xs:attribute></xs:complexType>
    <xs:complexType name="Group"><xs:attribute name="code"/></xs:complexType>`,
  );
  expect(columnsOf(xsd)).toMatchObject({
    'patient.born': 'The day of birth.',
    'patient.born_id': 'For references.',
    'patient.blood_code': 'The blood group.',
  });
  expect(pathsOf(xsd)).toMatchObject({
    '/patient/born/@value': 'The day of birth.',
    '/patient/born/@id': 'For references.',
    '/patient/blood/@code': 'The blood group.',
  });
});

const said = (annotation: string): string | undefined =>
  columnsOf(
    xs(
      `<xs:element name="a">${complex(`<xs:element name="b" type="xs:string">${annotation}</xs:element>`)}</xs:element>`,
    ),
  )['a.b'];
const all = (...inner: string[]): string => `<xs:annotation>${inner.join('')}</xs:annotation>`;
const one = (text: string, attributes = ''): string =>
  `<xs:documentation ${attributes}>${text}</xs:documentation>`;

describe('annotations', () => {
  it.each([
    ['paragraphs end where they end', all(one('First.'), one('Second')), 'First. Second'],
    ['remarks without a full stop are kept apart', all(one('First'), one('Second')), 'First; Second'],
    [
      'one language is read',
      all(one('Betrag', 'xml:lang="de"'), one('Amount', 'xml:lang="en-GB"'), one('Montant', 'xml:lang="fr"')),
      'Amount',
    ],
    [
      'without English, the first',
      all(one('Betrag', 'xml:lang="de"'), one('in Euro', 'xml:lang="de"'), one('Montant', 'xml:lang="fr"')),
      'Betrag; in Euro',
    ],
    [
      'a name and a definition by their source',
      all(
        one('InstructedAmount', 'source="Name" xml:lang="EN"'),
        one('Money to be moved.', 'source="Definition" xml:lang="EN"'),
      ),
      'InstructedAmount: Money to be moved.',
    ],
    [
      'a structure without a component around it',
      all(
        one(
          '<u:UniqueID xmlns:u="u">UN01</u:UniqueID><u:Name xmlns:u="u">Due Date</u:Name><u:Definition xmlns:u="u">When it is due.</u:Definition>',
        ),
      ),
      'Due Date: When it is due.',
    ],
    ['markup is left out', all(one('See <b>this</b> one')), 'See this one'],
    ['nothing but space is nothing', all(one(' \n ')), undefined],
  ])('%s', (_, annotation, expected) => {
    expect(said(annotation)).toBe(expected);
  });

  it('are not cut at the length of usual ones', () => {
    const long = `${'A sentence. '.repeat(250).trim()}`;
    expect(said(all(one(long)))).toBe(long);
  });
});

const value = (code: string, text?: string): string =>
  `<xs:enumeration value="${code}">${text === undefined ? '' : note(text)}</xs:enumeration>`;

it('values that are enumerated say what they mean, also where a derived type or a union repeats them', async () => {
  const source = compiled(
    xs(
      `<xs:element name="pay">${complex(
        `<xs:element name="all" type="Way"/><xs:element name="some" type="Some"/><xs:element name="any"><xs:simpleType><xs:union memberTypes="Some Other"/></xs:simpleType></xs:element>`,
      )}</xs:element>
      <xs:simpleType name="Way"><xs:restriction base="xs:token">${value('CRDT', 'Money comes in.')}${value('DBIT', 'Money goes out.')}${value('NONE')}</xs:restriction></xs:simpleType>
      <xs:simpleType name="Some"><xs:restriction base="Way">${value('DBIT')}${value('CRDT', 'Credit.')}</xs:restriction></xs:simpleType>
      <xs:simpleType name="Other"><xs:restriction base="xs:token">${value('CASH', 'In coins.')}</xs:restriction></xs:simpleType>`,
    ),
  );
  const model = modelOf(source, 3);
  const codesOf = await enumerationsOf(model, source);
  const columns = model.tables[0]!.columns.flatMap(({ name }, at) => {
    const codes = codesOf(0, at);
    return codes === null ? [] : [[name, codes.values, Object.fromEntries(codes.said)]];
  });
  expect(columns).toEqual([
    ['all', ['CRDT', 'DBIT', 'NONE'], { CRDT: 'Money comes in.', DBIT: 'Money goes out.' }],
    ['some', ['DBIT', 'CRDT'], { DBIT: 'Money goes out.', CRDT: 'Credit.' }],
    ['any', ['DBIT', 'CRDT', 'CASH'], { DBIT: 'Money goes out.', CRDT: 'Credit.', CASH: 'In coins.' }],
  ]);
  expect(
    (await dbmlDocument(await describeModel({ name: 'pay', version: 1 }, model, source))).join(''),
  ).toContain('Enum "pay_some" {\n  "DBIT" [note: \'Money goes out.\']\n  "CRDT" [note: \'Credit.\']\n}');
});

describe('members of a substitution group in one table', () => {
  it('tell their own paths, not those of a head that no document has', () => {
    const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="plan"><xs:complexType><xs:sequence><xs:element ref="shape" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
      <xs:element name="shape" type="S" abstract="true"/><xs:complexType name="S"><xs:attribute name="id"/></xs:complexType>
      <xs:element name="circle" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="S"><xs:attribute name="r"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
      <xs:element name="box" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="S"><xs:attribute name="w"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
    </xs:schema>`);
    for (const level of [0, 1, 2, 3] as const) {
      const model = modelOf(source, level);
      const shape = model.tables.find(({ name }) => name === 'shape')!;
      const paths = Object.fromEntries(shape.columns.map(({ name, xpath }) => [name, xpath]));
      const [first] = source.elements.flatMap(({ name }) =>
        /circle|box/.test(name.localName) ? [name.localName] : [],
      );
      expect(paths).toMatchObject({
        element: `/plan/${first}`,
        id: `/plan/${first}/@id`,
        r: '/plan/circle/@r',
        w: '/plan/box/@w',
      });
      const lines = new Set(model.mappings.map(({ xpath }) => xpath));
      for (const xpath of Object.values(paths)) if (xpath !== null) expect(lines).toContain(xpath);
    }
  });
});

describe('a value that the XSD says beforehand', () => {
  const person = `<xs:complexType name="Person"><xs:simpleContent><xs:extension base="xs:string">
      <xs:attribute name="lang" default="en"/><xs:attribute name="empty" default=""/></xs:extension></xs:simpleContent></xs:complexType>`;
  const book = xs(
    `${person}<xs:element name="book">${complex(
      `<xs:element name="price" default="0"><xs:simpleType><xs:restriction base="xs:decimal"/></xs:simpleType></xs:element>
       <xs:element name="author" type="Person" default="anonymous" maxOccurs="unbounded"/>
       <xs:element name="editor" type="Person" minOccurs="0" maxOccurs="unbounded"/>`,
      `<xs:attribute name="version" type="xs:string" fixed="2.1">${note('Of the format.')}</xs:attribute>`,
    )}</xs:element>`,
  );

  it('is told by the comment of its column, not where rows are of several elements', async () => {
    const { tables } = await describeModel({ name: 'books', version: 1 }, modelOf(compiled(book), 3), null);
    const told = tables.flatMap(({ name, columns }) =>
      columns.flatMap((column) =>
        column.xpath === null || name === '_documents'
          ? []
          : [[`${name}.${column.name}`, column.description]],
      ),
    );
    expect(Object.fromEntries(told)).toEqual({
      'book.version': '/book/@version; fixed 2.1: Of the format.',
      'book.price': '/book/price; default 0',
      'person.role': expect.any(String),
      'person.value': expect.not.stringContaining('anonymous'),
      'person.lang': expect.stringMatching(/\/@lang; default en/),
      'person.empty': expect.stringMatching(/\/@empty; default ""/),
    });
  });
});

const attributeOf = (name: string, type: string): string =>
  `<xs:attribute name="${name}" type="xs:${type}"/>`;
const partOf = (name: string, attributes: string, more = ''): string =>
  `<xs:element name="${name}" maxOccurs="unbounded">${complex('<xs:element name="title" type="xs:string"/>', attributes)}${more}</xs:element>`;
const planOf = (parts: string, rules = ''): string =>
  xs(`<xs:element name="plan">${complex(parts)}${rules}</xs:element>`);
const taskUses = partOf('task', attributeOf('uses', 'IDREF') + attributeOf('needs', 'IDREFS'));
const toldOf = async (xsd: string): Promise<readonly (string | undefined)[]> => {
  const { tables } = await describeModel({ name: 'plans', version: 1 }, modelOf(compiled(xsd), 3), null);
  const { columns } = tables.find(({ name }) => name === 'task')!;
  return ['uses', 'needs'].map((wanted) => columns.find(({ name }) => name === wanted)!.description);
};

describe('a reference by id', () => {
  it('says whose ids it means, where one table alone has ids', async () => {
    expect(await toldOf(planOf(partOf('machine', attributeOf('id', 'ID')) + taskUses))).toEqual([
      '/plan/task/@uses; means machine.id of the same document',
      '/plan/task/@needs; means machine.id of the same document',
    ]);
  });

  it('says what a keyref says, where several have ids, and nothing where none does', async () => {
    const parts =
      partOf('machine', attributeOf('id', 'ID')) + partOf('person', attributeOf('id', 'ID')) + taskUses;
    const rules = `<xs:key name="people"><xs:selector xpath="person"/><xs:field xpath="@id"/></xs:key>
      <xs:keyref name="uses" refer="people"><xs:selector xpath="task"/><xs:field xpath="@uses"/></xs:keyref>`;
    expect(await toldOf(planOf(parts, rules))).toEqual([
      '/plan/task/@uses; means person.id of the same document',
      '/plan/task/@needs',
    ]);
    expect(await toldOf(planOf(parts))).toEqual(['/plan/task/@uses', '/plan/task/@needs']);
  });
});
