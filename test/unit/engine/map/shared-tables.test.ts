/** Tables that several places share, read as a person would: their names, and whether each says something. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { emptyModel } from '../../../support/models/name-meanings.ts';
import {
  bytesOf,
  compiled,
  modelOf,
  outline,
  shred,
  statisticsOf,
} from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;
const sequence = (body: string): string => `<xs:sequence>${body}</xs:sequence>`;

const nodes = compiled(
  xs(`<xs:element name="set"><xs:complexType>${sequence(
    '<xs:element name="Object" type="Object" maxOccurs="unbounded"/><xs:element name="View" type="View" maxOccurs="unbounded"/>',
  )}</xs:complexType></xs:element>
  <xs:complexType name="Object">${sequence('<xs:element name="References" type="References" minOccurs="0"/>')}</xs:complexType>
  <xs:complexType name="View">${sequence('<xs:element name="References" type="References" minOccurs="0"/>')}<xs:attribute name="id"/></xs:complexType>
  <xs:complexType name="References">${sequence('<xs:element name="Reference" type="Reference" minOccurs="0" maxOccurs="unbounded"/>')}</xs:complexType>
  <xs:complexType name="Reference">${sequence('<xs:element name="Note" type="xs:string" maxOccurs="unbounded"/>')}<xs:attribute name="to" use="required"/></xs:complexType>`),
);

/** Tables of elements `uses` whose type wraps repeated items. */
const tablesAround = (wrapper: string, uses: string): string[] =>
  modelOf(
    compiled(
      xs(`<xs:element name="a"><xs:complexType>${sequence(uses)}</xs:complexType></xs:element>
      <xs:complexType name="Place">${sequence('<xs:element name="item" type="Item" maxOccurs="unbounded"/>')}${wrapper}</xs:complexType>
      <xs:complexType name="Item"><xs:attribute name="n"/></xs:complexType>`),
    ),
    3,
  ).tables.map((table) => table.name);

/** So many elements, each with marks of one type. */
const places = (count: number): string =>
  xs(
    `<xs:element name="all"><xs:complexType><xs:sequence>${Array.from({ length: count }, (_, at) => `<xs:element name="p${at}" minOccurs="0" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="mark" type="Mark" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>`).join('')}</xs:sequence></xs:complexType></xs:element>
    <xs:complexType name="Mark"><xs:attribute name="n"/></xs:complexType>`,
  );
/** Tables of marks. */
const marks = ({ tables }: RelationalModel): string[] =>
  tables.map(({ name }) => name).filter((name) => name.endsWith('mark'));

const next = (xsd: Parameters<typeof compiled>[0], previous: RelationalModel): RelationalModel =>
  buildRelationalModel(compiled(xsd), { mapLevel: 3, previous });

describe('a type at very many places', () => {
  it('a type has tables of its places, or one for all, as it had before', () => {
    const [many, few] = [modelOf(compiled(places(17)), 3), modelOf(compiled(places(16)), 3)];
    expect(marks(many)).toEqual(Array.from({ length: 17 }, (_, at) => `p${at}_mark`));
    expect(marks(few)).toEqual(['mark']);
    expect(marks(next(places(3), many))).toEqual(['p0_mark', 'p1_mark', 'p2_mark']);
    expect(marks(next(places(17), next(places(3), many)))).toEqual(marks(many));
    expect(marks(next(places(17), few))).toEqual(['mark']);
    expect(next(places(17), many)).toEqual(many);
  });
});

describe('several elements of one row in a table that rows of others share', () => {
  const optional = 'minOccurs="0" maxOccurs="unbounded"';
  const people = compiled(
    xs(`<xs:element name="files"><xs:complexType>${sequence('<xs:element name="file" type="File" maxOccurs="unbounded"/>')}</xs:complexType></xs:element>
    <xs:complexType name="File">${sequence(
      `<xs:element name="author" type="Person" ${optional}/><xs:element name="front" minOccurs="0"><xs:complexType>${sequence(
        `<xs:element name="author" type="Person" ${optional}/><xs:element name="sign" type="xs:string" minOccurs="0"/>`,
      )}</xs:complexType></xs:element><xs:choice ${optional}><xs:element name="editor" type="Person"/><xs:element ref="thing"/></xs:choice><xs:element name="note" minOccurs="0" maxOccurs="2"><xs:complexType>${sequence(
        `<xs:element name="author" type="Person" ${optional}/><xs:element ref="thing" ${optional}/>`,
      )}</xs:complexType></xs:element><xs:element name="owner" type="Person" minOccurs="0"/>`,
    )}</xs:complexType>
    <xs:complexType name="Person">${sequence(`<xs:element name="alias" type="xs:string" ${optional}/><xs:element name="knows" type="Person" ${optional}/><xs:element name="met" type="Person" ${optional}/>`)}<xs:attribute name="name"/></xs:complexType>
    <xs:element name="thing" type="Thing" abstract="true"/>
    <xs:complexType name="Thing">${sequence(`<xs:element name="of" type="Person" ${optional}/><xs:element ref="thing" ${optional}/>`)}<xs:attribute name="n"/></xs:complexType>
    <xs:element name="cup" type="Thing" substitutionGroup="thing"/><xs:element name="pen" type="Thing" substitutionGroup="thing"/>`),
  );
  const document =
    '<files><file><author name="A"><knows name="B"><met name="C"/></knows><met name="D"/></author><front><author name="E"><alias>e</alias></author></front>' +
    '<pen n="1"><of name="F"/><cup n="2"/></pen><editor name="G"/><cup/><editor name="H"/><note><author name="I"/><pen/></note><owner name="J"><met name="K"/></owner></file>' +
    '<file><front/></file><file><editor/></file><file><front><sign>x</sign></front><author/></file></files>';

  it('hang by one key, and a column says which element each is', () => {
    const person = outline(modelOf(people, 3))
      .split('\n')
      .find((line) => line.startsWith('person:'));
    expect(person).toBe(
      'person: person_key bigint!, document_key bigint!, file_key bigint -> file, parent_person_key bigint -> person, thing_key bigint -> thing, note_key bigint -> note, position integer!, role text!, name text',
    );
    const rows = shred(modelOf(people, 3), [document]).rows['person']!;
    expect(rows.slice(0, 11).map(({ name, role }) => `${name} ${role}`)).toEqual([
      'C met',
      'B knows',
      'D met',
      'A author',
      'E front/author',
      'F of',
      'G editor',
      'H editor',
      'I author',
      'K met',
      'J owner',
    ]);
  });

  it.each([0, 1, 2, 3] as const)('come back where they were (level %i)', async (level) => {
    const [written] = await roundTrip(modelOf(people, level), [document]);
    expect(compareXml(document, written!, { source: people })).toEqual([]);
  });
});

const document = (more = ''): string =>
  `<x:invoice xmlns:x="urn:x" xmlns:p="urn:p">${more}<general><orderRef><id>1</id></orderRef><p:ref><id>2</id></p:ref><contractRef><id>3</id></contractRef></general></x:invoice>`;

const rolesOf = (model: RelationalModel, text: string): unknown =>
  shred(model, [text])
    .rows['ref']!.map(({ id, role }) => `${id} ${role}`)
    .toSorted();

describe('roles in a schema with a namespace', () => {
  const several = 'minOccurs="0" maxOccurs="9"';
  /** `more`: further content of the invoice, of which `general` in no namespace is a part. */
  const invoice = (more = ''): Record<string, string> => ({
    'a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:x" xmlns="urn:x" xmlns:p="urn:p">
      <xs:import namespace="urn:p" schemaLocation="p.xsd"/>
      <xs:complexType name="Ref">${sequence('<xs:element name="id" type="xs:string"/><xs:element name="date" type="xs:date" minOccurs="0"/>')}</xs:complexType>
      <xs:element name="general"><xs:complexType>${sequence(`<xs:element name="orderRef" type="Ref" ${several}/>`)}</xs:complexType></xs:element>
      <xs:element name="invoice"><xs:complexType>${sequence(
        `${more}<xs:element name="general"><xs:complexType>${sequence(
          `<xs:element name="orderRef" type="Ref" ${several}/><xs:element ref="p:ref" ${several}/><xs:element name="contractRef" type="Ref" ${several}/>`,
        )}</xs:complexType></xs:element>`,
      )}</xs:complexType></xs:element></xs:schema>`,
    'p.xsd':
      '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:p" xmlns:x="urn:x"><xs:import namespace="urn:x" schemaLocation="a.xsd"/><xs:element name="ref" type="x:Ref"/></xs:schema>',
  });
  const twin = '<xs:element ref="general" minOccurs="0"/>';
  const withTwin = document('<x:general><orderRef><id>4</id></orderRef></x:general>');

  it('are steps as XPaths have them', async () => {
    const source = compiled(invoice());
    for (const level of [2, 3] as const) {
      const model = modelOf(source, level);
      const way = level === 3 ? 'general/' : '';
      expect(rolesOf(model, document())).toEqual([
        `1 ${way}orderRef`,
        `2 ${way}p:ref`,
        `3 ${way}contractRef`,
      ]);
      const [written] = await roundTrip(model, [document()]);
      expect(compareXml(document(), written!, { source })).toEqual([]);
    }
  });

  it('are never alike, and stay as they are in the next version', async () => {
    const source = compiled(invoice(twin));
    const alone = modelOf(source, 3);
    expect(rolesOf(alone, withTwin)).toEqual([
      '1 {}general/{}orderRef',
      '2 general/p:ref',
      '3 general/contractRef',
      '4 general/orderRef',
    ]);
    const later = next(invoice(twin), modelOf(compiled(invoice()), 3));
    expect(rolesOf(later, withTwin)).toEqual([
      '1 general/orderRef',
      '2 general/p:ref',
      '3 general/contractRef',
      '4 general/{}orderRef',
    ]);
    for (const model of [alone, later]) {
      const [written] = await roundTrip(model, [withTwin]);
      expect(compareXml(withTwin, written!, { source })).toEqual([]);
    }
  });
});

describe('a wrapper around shared tables', () => {
  it('is no table: what it holds has a parent key for each of its places', () => {
    expect(outline(modelOf(nodes, 3)).split('\n')).toEqual([
      'set: set_key bigint!, document_key bigint!',
      'object: object_key bigint!, document_key bigint!, set_key bigint! -> set, position integer!, references_present boolean',
      'view: view_key bigint!, document_key bigint!, set_key bigint! -> set, position integer!, id text, references_present boolean',
      'reference: reference_key bigint!, document_key bigint!, object_key bigint -> object, view_key bigint -> view, position integer!, to text!',
      'note: note_key bigint!, document_key bigint!, reference_key bigint! -> reference, position integer!, value text!',
    ]);
  });

  it('comes back, also when it is empty', async () => {
    const document =
      '<set><Object><References/></Object><Object/><Object><References><Reference to="a"><Note>1</Note></Reference><Reference to="b"><Note/></Reference></References></Object>' +
      '<View id="v"><References><Reference to="c"><Note>2</Note></Reference></References></View></set>';
    for (const level of [1, 3] as const) {
      const [written] = await roundTrip(modelOf(nodes, level), [document]);
      expect(compareXml(document, written!, { source: nodes })).toEqual([]);
    }
  });

  it('stays one where it says something itself, or stands for many keys', () => {
    const places = Array.from({ length: 40 }, (_, at) => `<xs:element name="p${at}" type="Place"/>`);
    const two = places.slice(0, 2).join('');
    expect(tablesAround('', two)).toEqual(['a', 'item']);
    expect(tablesAround('<xs:attribute name="count"/>', two)).toEqual(['a', 'place', 'item']);
    expect(tablesAround('', places.join(''))).toEqual(['a', 'place', 'item']);
  });
});

const letters = (type: string): string =>
  xs(`<xs:element name="mail"><xs:complexType>${sequence(
    '<xs:element name="sent" type="Letter" maxOccurs="unbounded"/><xs:element name="received" type="Letter" maxOccurs="unbounded"/><xs:element name="parcel" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="stamp" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>',
  )}</xs:complexType></xs:element>
  <xs:complexType name="Letter">${sequence('<xs:element name="stamp" type="xs:string" maxOccurs="unbounded"/>')}</xs:complexType>`).replaceAll(
    'Letter',
    type,
  );
const second = (type: string): string => modelOf(compiled(letters(type)), 3).tables[1]!.name;

const says = (text: string): string =>
  `<xs:annotation><xs:documentation>${text}</xs:documentation></xs:annotation>`;

it('a shared table is described by its type, one of a single place by the element there', () => {
  const source = compiled(
    xs(`<xs:element name="firm"><xs:complexType>${sequence(
      `<xs:element name="office" type="Address" maxOccurs="unbounded">${says('Where people work.')}</xs:element><xs:element name="home" type="Address" maxOccurs="unbounded"/>`,
    )}</xs:complexType></xs:element>
    <xs:complexType name="Address">${says('A place that letters are sent to.')}<xs:attribute name="town"/></xs:complexType>`),
  );
  const described = (level: 1 | 3): (string | undefined)[] =>
    modelOf(source, level).tables.map((table) => table.documentation);
  expect(described(3)).toEqual([undefined, 'A place that letters are sent to.']);
  expect(described(1)).toEqual([undefined, 'Where people work.', 'A place that letters are sent to.']);
});

describe('names', () => {
  it('of what hangs from a shared table begin with that, not with the first of its places', () => {
    expect(modelOf(compiled(letters('Letter')), 3).tables.map((table) => table.name)).toEqual([
      'mail',
      'letter',
      'parcel',
      'letter_stamp',
      'parcel_stamp',
    ]);
  });

  it('of types lose their ending only where it is one', () => {
    expect([second('LetterType'), second('letter_type'), second('letterComplexType')]).toEqual(
      Array.from({ length: 3 }, () => 'letter'),
    );
    expect([second('prototype'), second('SubType'), second('sent')]).toEqual([
      'prototype',
      'sub_type',
      'sent',
    ]);
  });
});

const orders = (type: string): SourceModel =>
  compiled(
    xs(`<xs:element name="order"><xs:complexType>${sequence(
      `<xs:element name="billTo" type="${type}" minOccurs="0"/><xs:element name="shipTo" type="${type}" minOccurs="0"/><xs:element name="item" maxOccurs="unbounded"><xs:complexType>${sequence('<xs:element name="terms" type="Terms" minOccurs="0"/>')}<xs:attribute name="sku"/></xs:complexType></xs:element><xs:element name="terms" type="Terms" minOccurs="0"/>`,
    )}</xs:complexType></xs:element>
    <xs:complexType name="${type}">${sequence('<xs:element name="city" type="xs:string" minOccurs="0"/><xs:element name="line" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>')}</xs:complexType>
    <xs:complexType name="Terms">${sequence('<xs:element name="term" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>')}</xs:complexType>`),
  );

const shape = (model: RelationalModel): string[] =>
  outline(model)
    .split('\n')
    .map((line) => line.replaceAll(/ (bigint|integer|text|boolean)!?/g, ''));

const pruned = (
  documents: readonly string[],
  previous?: RelationalModel,
  source = orders('Address1'),
): RelationalModel => {
  const statistics = statisticsOf(documents);
  return buildRelationalModel(pruneSourceModel(source, statistics), {
    mapLevel: 3,
    met: { statistics, declared: source },
    ...(previous === undefined ? {} : { previous }),
  });
};

describe('a table that would only stand between others', () => {
  const first = [
    '<order><shipTo><city>Bremen</city><line>a</line><line>b</line></shipTo><item sku="1"/></order>',
    '<order><shipTo><city>Kiel</city></shipTo><item sku="2"/></order>',
  ];
  const later = [
    '<order><billTo><city>Ulm</city><line>c</line></billTo><shipTo><line>d</line></shipTo><item sku="3"><terms/></item><terms><term>x</term></terms></order>',
    '<order><billTo/><shipTo/><item sku="4"><terms><term>y</term><term>z</term></terms></item><terms/></order>',
  ];

  it('is not drawn where its keys are all that it has, and stays where several share what it says', () => {
    expect(shape(modelOf(orders('Address1'), 3))).toEqual([
      'order: order_key, document_key, bill_to_key -> address, ship_to_key -> address, terms_present',
      'address: address_key, document_key, position, city',
      'item: item_key, document_key, order_key -> order, position, sku, terms_present',
      'order_terms_term: order_terms_term_key, document_key, order_key -> order, position, value',
      'line: line_key, document_key, address_key -> address, position, value',
      'item_terms_term: item_terms_term_key, document_key, item_key -> item, position, value',
    ]);
  });

  const alone = [
    'order: order_key, document_key, ship_to_city',
    'line: line_key, document_key, order_key -> order, position, value',
    'item: item_key, document_key, order_key -> order, position, sku',
  ];

  it('is not drawn where documents had rows of its type at one place', () => {
    expect(shape(pruned(first))).toEqual(alone);
  });

  it('is not drawn by later versions either, in which its type is called by another version', () => {
    const before = pruned(first);
    expect(shape(pruned(first, before, orders('Address2')))).toEqual(alone);
    const after = pruned([...first, ...later], before, orders('Address2'));
    const [order] = shape(after);
    expect(order).toContain(' ship_to_city');
    expect(order).toContain(' bill_to_key -> address');
    const whole = modelOf(orders('Address1'), 3);
    expect(buildRelationalModel(orders('Address1'), { mapLevel: 3, previous: whole })).toEqual(whole);
    const next = buildRelationalModel(orders('Address2'), { mapLevel: 3, previous: whole });
    expect(shape(next)).toEqual(shape(whole));
  });

  it('is drawn by what goes on from a model that has it', () => {
    const before = emptyModel(3);
    const model = buildRelationalModel(orders('Address1'), { mapLevel: 3, previous: before });
    expect(shape(model)).toContain('terms: terms_key, document_key, position');
  });

  it.each([1, 3] as const)('takes nothing with it (level %i)', async (mapLevel) => {
    const source = orders('Address1');
    const before = pruned(first);
    for (const model of [modelOf(source, mapLevel), before, pruned([...first, ...later], before)]) {
      const written = await roundTrip(model, [...first, ...later]);
      for (const [at, document] of [...first, ...later].entries())
        expect(compareXml(bytesOf(document), written[at]!, { source })).toEqual([]);
    }
  });
});

const namesake = (content: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:a" xmlns="urn:a"><xs:element name="all"><xs:complexType>${sequence(content)}</xs:complexType></xs:element>
  <xs:element name="part" type="Part"/><xs:complexType name="Part"><xs:attribute name="n"/></xs:complexType></xs:schema>`;

describe('elements of one local name in two namespaces', () => {
  const own = '<xs:element name="part" type="Part" maxOccurs="9"/>';
  const ref = '<xs:element ref="part" minOccurs="0" maxOccurs="9"/>';
  const document = '<a:all xmlns:a="urn:a"><part n="1"/><part n="2"/><a:part n="3"/></a:all>';
  const roles = (model: RelationalModel) =>
    shred(model, [document]).rows['part']!.map(({ n, role }) => [n, role]);

  it('have roles that tell them apart, in every version', async () => {
    const both = modelOf(compiled(namesake(own + ref)), 3);
    expect(roles(both)).toEqual([
      ['1', '{}part'],
      ['2', '{}part'],
      ['3', 'part'],
    ]);
    const first = modelOf(
      compiled(namesake(`${own}<xs:element name="other" type="Part" maxOccurs="9"/>`)),
      3,
    );
    const later = next(
      namesake(`${own}<xs:element name="other" type="Part" minOccurs="0" maxOccurs="9"/>${ref}`),
      first,
    );
    expect(roles(later)).toEqual([
      ['1', 'part'],
      ['2', 'part'],
      ['3', 'part (2)'],
    ]);
    for (const model of [both, later, next(namesake(own + ref), later)]) {
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(document, written!)).toEqual([]);
    }
  });
});

const folded = (more: string, inner = ''): Parameters<typeof compiled>[0] =>
  xs(`<xs:element name="r"><xs:complexType>${sequence(`<xs:element name="o" type="O" maxOccurs="9"/>${more}`)}</xs:complexType></xs:element>
  <xs:complexType name="O">${sequence('<xs:element name="k" type="xs:int"/><xs:element name="b" type="T" minOccurs="0"/>')}</xs:complexType>
  <xs:complexType name="T">${sequence(`<xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:int" minOccurs="0" maxOccurs="9"/>${inner}`)}</xs:complexType>`);

/** `T` in a row, and in it `U` and `V`; `inner`: what `V` holds beside. */
const nested = (inner: string): Parameters<typeof compiled>[0] =>
  xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element name="k" type="xs:int"/><xs:element name="b" type="T" minOccurs="0"/>')}</xs:complexType></xs:element>
      <xs:complexType name="T">${sequence('<xs:element name="x" type="xs:int"/><xs:element name="c" type="U"/>')}</xs:complexType>
      <xs:complexType name="U">${sequence('<xs:element name="d" type="V"/>')}<xs:attribute name="u" use="required"/></xs:complexType>
      <xs:complexType name="V">${sequence(`<xs:element name="y" type="xs:int" maxOccurs="9"/>${inner}`)}<xs:attribute name="v" use="required"/></xs:complexType>`);

/** Sums in the rows of `A`, and of `X`, which extends it; `inner`: what `A` holds beside. */
const amounts = (inner: string): SourceModel =>
  compiled(
    xs(`<xs:element name="r" type="X"/>
    <xs:complexType name="A">${sequence(`<xs:element name="sum" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="unit"/></xs:complexType></xs:element>${inner}`)}</xs:complexType>
    <xs:complexType name="X"><xs:complexContent><xs:extension base="A">${sequence('<xs:element name="p" type="xs:int" minOccurs="0"/>')}</xs:extension></xs:complexContent></xs:complexType>`),
  );

describe('a child that a version reads in the row of its parent', () => {
  const document = '<r><o><k>1</k><b><x>2</x><y>3</y><y>4</y></b></o></r>';
  const first = modelOf(compiled(folded('')), 3);

  it.each([
    ['is used at one more place', folded('<xs:element name="z" type="T" minOccurs="0" maxOccurs="9"/>')],
    ['holds itself', folded('', '<xs:element name="t" type="T" minOccurs="0" maxOccurs="9"/>')],
    ['holds what holds it', folded('', '<xs:element name="o" type="O" minOccurs="0"/>')],
  ])('stays there when its type %s', async (_, xsd) => {
    const later = next(xsd, first);
    const [before, after] = [first, later].map((model) => shred(model, [document]).rows);
    expect(after!['o']!.map(({ k, b_x: x }) => [k, x])).toEqual([['1', '2']]);
    expect(after!['y']!.map(({ value, o_key: key }) => [value, key])).toEqual(
      before!['y']!.map(({ value, o_key: key }) => [value, key]),
    );
    expect(next(xsd, later)).toEqual(later);
    const [written] = await roundTrip(later, [document]);
    expect(compareXml(document, written!)).toEqual([]);
  });

  it.each([1, 3] as const)(
    'stays there with the children in its row when their types hold it (level %i)',
    async (mapLevel) => {
      const old = '<r><k>1</k><b><x>2</x><c u="3"><d v="4"><y>5</y><y>6</y></d></c></b></r>';
      const renewed =
        '<r><k>1</k><b><x>2</x><c u="3"><d v="4"><y>5</y><t><x>7</x><c u="8"><d v="9"><y>0</y></d></c></t></d></c></b></r>';
      const cyclic = compiled(nested('<xs:element name="t" type="T" minOccurs="0" maxOccurs="9"/>'));
      const first = modelOf(compiled(nested('')), mapLevel);
      const later = buildRelationalModel(cyclic, { mapLevel, previous: first });
      for (const document of [old, renewed]) {
        const [row] = shred(later, [document]).rows['r']!;
        expect([row!['k'], row!['b_x'], row!['b_c_u'], row!['b_c_d_v']]).toEqual(['1', '2', '3', '4']);
        const [written] = await roundTrip(later, [document]);
        expect(compareXml(document, written!)).toEqual([]);
      }
      expect(buildRelationalModel(cyclic, { mapLevel, previous: later })).toEqual(later);
    },
  );

  it.each(['', 'abstract="true"'])(
    'stays there when it is one of a substitution group that holds itself (head: %s)',
    async (head) => {
      const group = (inner: string): SourceModel =>
        compiled(
          xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element name="k" type="xs:int"/><xs:element ref="h" minOccurs="0"/>')}</xs:complexType></xs:element>
        <xs:element name="h" type="H" ${head}/><xs:element name="m" type="M" substitutionGroup="h"/>
        <xs:complexType name="H"><xs:attribute name="a"/></xs:complexType>
        <xs:complexType name="M"><xs:complexContent><xs:extension base="H">${sequence(`<xs:element name="y" type="xs:int" maxOccurs="9"/>${inner}`)}</xs:extension></xs:complexContent></xs:complexType>`),
        );
      const document = '<r><k>1</k><m a="2"><y>3</y></m></r>';
      const first = modelOf(group(''), 3);
      const later = buildRelationalModel(group('<xs:element ref="h" minOccurs="0" maxOccurs="9"/>'), {
        mapLevel: 3,
        previous: first,
      });
      expect(shred(later, [document]).rows['r']![0]).toEqual(shred(first, [document]).rows['r']![0]);
      for (const text of [document, '<r><k>1</k><m a="2"><y>3</y><m a="4"><y>5</y></m></m></r>']) {
        const [written] = await roundTrip(later, [text]);
        expect(compareXml(text, written!)).toEqual([]);
      }
    },
  );

  it('stays there when it becomes one of a choice of many documents', () => {
    const names = Array.from({ length: 8 }, (_, at) => `e${at}`);
    const bundle = (count: number): SourceModel =>
      compiled(
        xs(`<xs:element name="bundle"><xs:complexType>${sequence(
          '<xs:element name="entry" maxOccurs="9"><xs:complexType><xs:choice>' +
            names
              .slice(0, count)
              .map((name) => `<xs:element ref="${name}"/>`)
              .join('') +
            '</xs:choice></xs:complexType></xs:element>',
        )}</xs:complexType></xs:element>
        ${names.map((name) => `<xs:element name="${name}"><xs:complexType><xs:attribute name="id" use="required"/></xs:complexType></xs:element>`).join('')}`),
      );
    const first = modelOf(bundle(7), 3);
    const later = buildRelationalModel(bundle(8), { mapLevel: 3, previous: first });
    const document = '<bundle><entry><e3 id="1"/></entry></bundle>';
    const kept = (model: RelationalModel): readonly (string | null | undefined)[] =>
      shred(model, [document]).rows['entry']!.map((row) => row['e3_id']);
    expect(modelOf(bundle(8), 3).tables.map(({ name }) => name)).toContain('e3');
    expect(kept(first)).toEqual(['1']);
    expect(kept(later)).toEqual(['1']);
  });

  it('has one place in a table whose rows are of its type and of a type that extends it', async () => {
    const first = modelOf(amounts(''), 3);
    const later = buildRelationalModel(amounts('<xs:element name="note" type="A" minOccurs="0"/>'), {
      mapLevel: 3,
      previous: first,
    });
    const document =
      '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><sum unit="a"><n>1</n></sum><note><sum unit="b"><n>2</n></sum><note xsi:type="X"><sum unit="c"><n>3</n></sum><p>4</p></note></note></r>';
    const { rows } = shred(later, [document]);
    const units = Object.entries(rows).flatMap(([table, all]) =>
      all.flatMap((row) =>
        Object.entries(row).flatMap(([column, value]) =>
          /unit/u.test(column) && value !== null ? [`${table}.${column}: ${value}`] : [],
        ),
      ),
    );
    expect(units.toSorted()).toEqual(['a.sum_unit: b', 'a.sum_unit: c', 'r.sum_unit: a']);
    const [written] = await roundTrip(later, [document]);
    expect(compareXml(document, written!)).toEqual([]);
  });
});

describe('a child of a type and of one that extends it', () => {
  const set = compiled(
    xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element name="a" type="A" maxOccurs="9"/><xs:element name="x" type="X" maxOccurs="9"/><xs:element name="y" type="B" minOccurs="0"/>')}</xs:complexType></xs:element>
    <xs:complexType name="A">${sequence('<xs:element name="b" type="B"/><xs:element name="n" type="xs:int"/>')}</xs:complexType>
    <xs:complexType name="B"><xs:choice minOccurs="0" maxOccurs="9"><xs:element name="c" type="xs:int"/><xs:element name="d" type="xs:int"/></xs:choice></xs:complexType>
    <xs:complexType name="X"><xs:complexContent><xs:extension base="A">${sequence('<xs:element name="p" type="xs:int" minOccurs="0"/>')}</xs:extension></xs:complexContent></xs:complexType>`),
  );

  it('has rows for all elements of a table, though documents had it empty in those of one type', () => {
    const documents = [
      '<r><a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="A"><b/><n>1</n></a><x><b><c>5</c></b><n>6</n></x><y><c>1</c></y></r>',
    ];
    const met = { statistics: statisticsOf(documents), declared: set };
    const model = buildRelationalModel(pruneSourceModel(set, met.statistics), { mapLevel: 3, met });
    const { rows } = shred(model, documents);
    expect(model.tables.map(({ name }) => name)).toEqual(['r', 'a', 'x', 'b', 'c']);
    expect(rows['b']).toHaveLength(3);
  });
});

const attributes = (name: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `<xs:attribute name="${name}${at}"/>`).join('');

const groupOfTwo = (count: number): SourceModel =>
  compiled(
    xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element ref="h" maxOccurs="9"/>')}</xs:complexType></xs:element>
    <xs:element name="h" type="H" abstract="true"/><xs:element name="m" type="M" substitutionGroup="h"/><xs:element name="n" type="N" substitutionGroup="h"/>
    <xs:complexType name="H"/>
    <xs:complexType name="M"><xs:complexContent><xs:extension base="H">${attributes('m', 3)}</xs:extension></xs:complexContent></xs:complexType>
    <xs:complexType name="N"><xs:complexContent><xs:extension base="H">${attributes('n', count)}</xs:extension></xs:complexContent></xs:complexType>`),
  );
const typesOfTwo = (count: number): SourceModel =>
  compiled(
    xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element name="h" type="H" maxOccurs="9"/>')}</xs:complexType></xs:element>
    <xs:complexType name="H"><xs:attribute name="a"/></xs:complexType>
    <xs:complexType name="M"><xs:complexContent><xs:extension base="H">${attributes('m', 3)}</xs:extension></xs:complexContent></xs:complexType>
    <xs:complexType name="N"><xs:complexContent><xs:extension base="H">${attributes('n', count)}</xs:extension></xs:complexContent></xs:complexType>`),
  );

describe('elements and types that had a table each beside that of their head', () => {
  it.each([
    ['members of a substitution group', groupOfTwo, '<r><m m0="1"/></r>', 'm'],
    [
      'types that xsi:type names',
      typesOfTwo,
      '<r><h xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="M" m0="1"/></r>',
      'm',
    ],
  ])('keep them when a version has less to hold: %s', async (_, of, document, table) => {
    const first = modelOf(of(200), 3);
    const later = buildRelationalModel(of(2), { mapLevel: 3, previous: first });
    for (const model of [first, later]) {
      expect(shred(model, [document]).rows[table]!.map(({ m0 }) => m0)).toEqual(['1']);
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(document, written!)).toEqual([]);
    }
    expect(modelOf(of(2), 3).tables.map(({ name }) => name)).not.toContain(table);
  });
});

/** More attributes than members of a group can have in one table. */
const wide = (prefix: string): string =>
  Array.from({ length: 150 }, (_, at) => `<xs:attribute name="${prefix}${at}"/>`).join('');

/** A part holds a part; `members`: of the group of `part`. */
const nestedParts = (members: string): SourceModel =>
  compiled(
    xs(`<xs:element name="r"><xs:complexType>${sequence('<xs:element name="x" type="N" maxOccurs="9"/><xs:element ref="part" minOccurs="0" maxOccurs="9"/>')}</xs:complexType></xs:element>
    <xs:element name="part" type="N"/>
    <xs:complexType name="N">${sequence('<xs:element name="v" type="xs:int" minOccurs="0"/><xs:element ref="part" minOccurs="0"/>')}${wide('a')}</xs:complexType>${members}`),
  );

describe('an element that becomes the head of a group too wide for one table', () => {
  it('keeps one row for each element in the table of its type', async () => {
    const first = modelOf(nestedParts(''), 3);
    const later = buildRelationalModel(
      nestedParts(
        `<xs:element name="wide" type="W" substitutionGroup="part"/><xs:complexType name="W"><xs:complexContent><xs:extension base="N">${wide('b')}</xs:extension></xs:complexContent></xs:complexType>`,
      ),
      { mapLevel: 3, previous: first },
    );
    const documents = [
      '<r><x><v>1</v><part a7="a"><v>2</v><part><v>3</v></part></part></x><x/><part><v>4</v></part></r>',
      '<r><x/><wide b1="b"><v>5</v><part><v>6</v><wide/></part></wide><part/></r>',
    ];
    expect(shred(first, [documents[0]!]).rows['n']).toHaveLength(5);
    expect(shred(later, [documents[0]!]).rows['n']).toHaveLength(5);
    const written = await roundTrip(later, documents);
    for (const [at, document] of documents.entries()) expect(compareXml(document, written[at]!)).toEqual([]);
  });
});

describe('a group too wide for one table at two places of a row', () => {
  it('has roles for all of its members', async () => {
    const source = compiled(
      xs(`<xs:element name="r"><xs:complexType>${sequence(`<xs:element ref="part" minOccurs="0" maxOccurs="9"/><xs:element name="spare" minOccurs="0"><xs:complexType>${sequence('<xs:element ref="part" minOccurs="0" maxOccurs="9"/>')}<xs:attribute name="n"/></xs:complexType></xs:element>`)}</xs:complexType></xs:element>
      <xs:element name="part" type="P"/><xs:element name="wide" type="W" substitutionGroup="part"/><xs:complexType name="P">${wide('a')}</xs:complexType>
      <xs:complexType name="W"><xs:complexContent><xs:extension base="P">${wide('b')}</xs:extension></xs:complexContent></xs:complexType>`),
    );
    const document = '<r><part a7="a"/><wide b1="b"/><spare><wide b2="c"/><part a8="d"/></spare></r>';
    const model = modelOf(source, 3);
    const heads = Object.values(shred(model, [document]).rows).flat();
    expect(heads.flatMap(({ element }) => element ?? [])).toEqual([
      'part',
      'wide',
      'spare/wide',
      'spare/part',
    ]);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
  });
});
