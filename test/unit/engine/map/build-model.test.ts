/** Relational models at the four map levels. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, inferred, modelOf, outline } from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const order = xs(`
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="date" type="xs:date"/>
    <xs:element name="shipTo" type="Address"/>
    <xs:element name="billTo" type="Address" minOccurs="0"/>
    <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="sku" type="xs:string"/>
      <xs:element name="price" type="Amount"/>
      <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence><xs:attribute name="no" type="xs:positiveInteger" use="required"/></xs:complexType></xs:element>
  </xs:sequence><xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element>
  <xs:complexType name="Address"><xs:sequence>
    <xs:element name="street" type="xs:string" maxOccurs="3"/>
    <xs:element name="city"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="40"/></xs:restriction></xs:simpleType></xs:element>
  </xs:sequence></xs:complexType>
  <xs:complexType name="Amount"><xs:simpleContent><xs:extension base="Money"><xs:attribute name="currency" type="xs:string" use="required"/></xs:extension></xs:simpleContent></xs:complexType>
  <xs:simpleType name="Money"><xs:restriction base="xs:decimal"><xs:totalDigits value="18"/><xs:fractionDigits value="2"/></xs:restriction></xs:simpleType>
`);

describe('columns of xs:float', () => {
  it('hold the digits that documents give, of which 24 bits would drop some', () => {
    const source = compiled(xs('<xs:element name="amount" type="xs:float"/>'));
    expect(outline(modelOf(source, 3))).toContain('value double!');
  });
});

describe('the four map levels on an order', () => {
  const source = compiled(order);

  it('0 plain: each complex element its own table, repeated simple ones too', () => {
    expect(outline(modelOf(source, 0))).toBe(
      [
        'order: order_key bigint!, document_key bigint!, id integer!, date date!',
        'ship_to: ship_to_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, city text(40)!',
        'bill_to: bill_to_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, city text(40)!',
        'line: line_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, no bigint!, sku text!',
        'ship_to_street: ship_to_street_key bigint!, document_key bigint!, ship_to_key bigint! -> ship_to, position integer!, value text!',
        'bill_to_street: bill_to_street_key bigint!, document_key bigint!, bill_to_key bigint! -> bill_to, position integer!, value text!',
        'price: price_key bigint!, document_key bigint!, line_key bigint! -> line, position integer!, currency text!, value numeric(18,2)!',
        'tag: tag_key bigint!, document_key bigint!, line_key bigint! -> line, position integer!, value text!',
      ].join('\n'),
    );
  });

  it('1 elevate: a child that occurs at most once is folded into its parent', () => {
    expect(outline(modelOf(source, 1))).toBe(
      [
        'order: order_key bigint!, document_key bigint!, id integer!, date date!, ship_to_city text(40)!, bill_to_city text(40)',
        'ship_to_street: ship_to_street_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, value text!',
        'bill_to_street: bill_to_street_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, value text!',
        'line: line_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, no bigint!, sku text!, price numeric(18,2)!, price_currency text!',
        'tag: tag_key bigint!, document_key bigint!, line_key bigint! -> line, position integer!, value text!',
      ].join('\n'),
    );
  });

  it('2 reuse: a named type used in several places is one table, whose rows are known by their keys', () => {
    expect(outline(modelOf(source, 2)).split('\n').slice(0, 2)).toEqual([
      'order: order_key bigint!, document_key bigint!, id integer!, date date!, ship_to_key bigint! -> address, bill_to_key bigint -> address',
      'address: address_key bigint!, document_key bigint!, position integer!, city text(40)!',
    ]);
  });

  it('2 reuse: where uses repeat, each has a nullable parent key, beside those that do not', () => {
    const several = order.replace('name="billTo"', 'maxOccurs="3" name="billTo"');
    expect(
      outline(modelOf(compiled(several), 2))
        .split('\n')
        .slice(0, 2),
    ).toEqual([
      'order: order_key bigint!, document_key bigint!, id integer!, date date!, ship_to_key bigint! -> address',
      'address: address_key bigint!, document_key bigint!, order_key bigint -> order, position integer!, city text(40)!',
    ]);
  });

  it('3 both: a type that makes rows of its own is reused, all else is folded', () => {
    expect(outline(modelOf(source, 3))).toBe(
      [
        'order: order_key bigint!, document_key bigint!, id integer!, date date!, ship_to_key bigint! -> address, bill_to_key bigint -> address',
        'address: address_key bigint!, document_key bigint!, position integer!, city text(40)!',
        'line: line_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, no bigint!, sku text!, price numeric(18,2)!, price_currency text!',
        'street: street_key bigint!, document_key bigint!, address_key bigint! -> address, position integer!, value text!',
        'tag: tag_key bigint!, document_key bigint!, line_key bigint! -> line, position integer!, value text!',
      ].join('\n'),
    );
  });

  it('3 both: a type that is columns alone is folded at all its places', () => {
    const model = modelOf(compiled(order.replace('maxOccurs="3"', '')), 3);
    expect(outline(model).split('\n')[0]).toBe(
      'order: order_key bigint!, document_key bigint!, id integer!, date date!, ship_to_street text!, ship_to_city text(40)!, bill_to_street text, bill_to_city text(40)',
    );
  });
});

describe('recursion', () => {
  const source = compiled(
    xs(`<xs:element name="part" type="Part"/>
      <xs:complexType name="Part"><xs:sequence><xs:element name="name" type="xs:string"/>
      <xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>`),
  );

  it.each([0, 1, 2, 3] as const)('closes on its own table at level %i', (level) => {
    expect(outline(modelOf(source, level))).toBe(
      'part: part_key bigint!, document_key bigint!, parent_part_key bigint -> part, position integer, name text!',
    );
  });

  it('is written out once in the mapping', () => {
    const paths = modelOf(source, 1).mappings.map((mapping) => mapping.xpath);
    expect(paths).toEqual(['/part', '/part/name', '/part/part', '/part/part/name']);
  });

  it('ends where an abstract head leads back to itself', () => {
    const expression = compiled(
      xs(`<xs:element name="formula"><xs:complexType><xs:sequence><xs:element ref="expr"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="expr" type="Expr" abstract="true"/><xs:complexType name="Expr" abstract="true"/>
        <xs:element name="num" substitutionGroup="expr"><xs:complexType><xs:complexContent><xs:extension base="Expr"><xs:attribute name="v" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
        <xs:element name="plus" substitutionGroup="expr"><xs:complexType><xs:complexContent><xs:extension base="Expr"><xs:sequence><xs:element ref="expr" maxOccurs="unbounded"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:element>`),
    );
    const model = modelOf(expression, 0);
    expect(model.tables.map((table) => table.name)).toEqual(['formula', 'expr']);
    expect(outline(model)).toContain('element text!');
  });
});

describe('structure columns', () => {
  it('show presence where nothing else does', () => {
    const source = compiled(
      xs(`<xs:element name="a"><xs:complexType><xs:sequence>
        <xs:element name="flag" minOccurs="0"><xs:complexType/></xs:element>
        <xs:element name="opt" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="sure" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="x" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
        <xs:element name="n" type="xs:int" nillable="true"/>
      </xs:sequence></xs:complexType></xs:element>`),
    );
    expect(outline(modelOf(source, 1))).toBe(
      'a: a_key bigint!, document_key bigint!, flag boolean, opt_present boolean, opt_x text, sure_x text, n_nil boolean, n integer',
    );
  });

  it('keep positions where the model implies no order', () => {
    const source = compiled(
      xs(
        `<xs:element name="a"><xs:complexType><xs:all><xs:element name="x" type="xs:int"/><xs:element name="y" type="xs:int"/></xs:all></xs:complexType></xs:element>`,
      ),
    );
    expect(outline(modelOf(source, 1))).toBe(
      'a: a_key bigint!, document_key bigint!, x_position integer, x integer!, y_position integer, y integer!',
    );
  });

  it('make way for names of the source', () => {
    const source = inferred([
      '<r><i position="a" r_key="b" i_key="c">v</i><i position="" r_key="" i_key=""/></r>',
    ]);
    const columns = modelOf(source, 1).tables[1]!.columns.map((column) => column.name);
    expect(new Set(columns).size).toBe(columns.length);
    expect(columns).toEqual(expect.arrayContaining(['position', 'r_key', 'i_key', 'value']));
  });
});

describe('mixed content and wildcards', () => {
  it('get tables of their own', () => {
    const source = compiled(
      xs(`<xs:element name="p"><xs:complexType mixed="true"><xs:sequence>
        <xs:element name="b" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:any minOccurs="0" maxOccurs="unbounded" namespace="##other" processContents="lax"/></xs:sequence></xs:complexType></xs:element>`),
    );
    expect(outline(modelOf(source, 1))).toBe(
      [
        'p: p_key bigint!, document_key bigint!',
        'p_text: p_text_key bigint!, document_key bigint!, p_key bigint! -> p, position integer!, content text!',
        'p_any: p_any_key bigint!, document_key bigint!, p_key bigint! -> p, position integer!, content text!',
        'b: b_key bigint!, document_key bigint!, p_key bigint! -> p, position integer!, value text!',
      ].join('\n'),
    );
  });
});

describe('sizes', () => {
  it('stay bounded where writing every path out would not', () => {
    const levels = Array.from({ length: 30 }, (_, i) => {
      const inner = `T${i + 1}`;
      return `<xs:complexType name="T${i}"><xs:sequence><xs:element name="a" type="${inner}" maxOccurs="2"/><xs:element name="b" type="${inner}" maxOccurs="2"/></xs:sequence></xs:complexType>`;
    });
    const source = compiled(
      xs(
        `<xs:element name="r" type="T0"/><xs:element name="s" type="T28"/>${levels.join('')}<xs:complexType name="T30"><xs:attribute name="v" type="xs:int"/></xs:complexType>`,
      ),
    );
    for (const level of [0, 1, 2, 3] as const) {
      const model = modelOf(source, level);
      expect(model.tables.length).toBeLessThan(100);
      expect(model.mappings.length).toBeLessThan(81_000);
      // the deepest paths are left out, and no table is without one
      const paths = new Set(model.mappings.map(({ xpath }) => xpath));
      for (const path of ['/s/a/b', '/s/b/b/@v', '/r/a/b/a/b/a/b/a/b/a']) expect(paths).toContain(path);
      const listed = new Set(model.mappings.map(({ table }) => table));
      expect(model.tables.filter((_, table) => !listed.has(table)).map(({ name }) => name)).toEqual([]);
    }
  });

  it('gives the same model for the same input', () => {
    expect(JSON.stringify(modelOf(compiled(order), 3))).toBe(JSON.stringify(modelOf(compiled(order), 3)));
  });
});

it('lists what stands below the second round of a recursion', () => {
  const source = compiled(
    xs(`<xs:element name="box" type="Box"/><xs:complexType name="Box"><xs:sequence>
      <xs:element name="goods" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="mark" type="xs:string" maxOccurs="3"/></xs:sequence><xs:attribute name="id"/></xs:complexType></xs:element>
      <xs:element name="box" type="Box" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>`),
  );
  const paths = modelOf(source, 1)
    .mappings.filter((mapping) => mapping.column !== null)
    .map((mapping) => mapping.xpath);
  expect(paths).toEqual(['/box/goods/@id', '/box/goods/mark', '/box/box/goods/@id', '/box/box/goods/mark']);
});

describe('two roots of one type', () => {
  const source = compiled(
    xs(`<xs:element name="routes" type="Routes"/><xs:element name="alternatives" type="Routes"/>
      <xs:complexType name="Routes"><xs:sequence><xs:element name="vehicle" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id"/></xs:complexType></xs:element></xs:sequence></xs:complexType>`),
  );

  it('have tables of their own where every path has', () => {
    const names = modelOf(source, 0).tables.map(({ name }) => name);
    expect(names).toEqual(['routes', 'alternatives', 'routes_vehicle', 'alternatives_vehicle']);
  });

  it.each([2, 3] as const)('share theirs, and say which they were, level %i', async (level) => {
    expect(outline(modelOf(source, level))).toBe(
      [
        'routes: routes_key bigint!, document_key bigint!, element text!',
        'vehicle: vehicle_key bigint!, document_key bigint!, routes_key bigint! -> routes, position integer!, id text',
      ].join('\n'),
    );
    const documents = ['<alternatives><vehicle id="a"/></alternatives>', '<routes><vehicle/></routes>'];
    const written = await roundTrip(modelOf(source, level), documents);
    expect(documents.flatMap((text, at) => compareXml(bytesOf(text), written[at]!, { source }))).toEqual([]);
  });
});

describe('what a person would write otherwise', () => {
  it('mixed content with nothing to mix is text', async () => {
    const source = compiled(
      xs(`<xs:element name="case"><xs:complexType><xs:sequence><xs:element name="error" minOccurs="0" maxOccurs="unbounded"><xs:complexType mixed="true"><xs:attribute name="type"/></xs:complexType></xs:element>
        <xs:element name="note" minOccurs="0"><xs:complexType mixed="true"/></xs:element></xs:sequence></xs:complexType></xs:element>`),
    );
    const model = modelOf(source, 1);
    expect(outline(model)).toBe(
      [
        'case: case_key bigint!, document_key bigint!, note text',
        'error: error_key bigint!, document_key bigint!, case_key bigint! -> case, position integer!, type text, value text!',
      ].join('\n'),
    );
    const documents = [
      '<case><error type="x"> a <!-- c -->b </error><error/><note> </note></case>',
      '<case><note/></case>',
      '<case><error>odd <b>bold</b> end</error></case>',
    ];
    const written = await roundTrip(model, documents);
    expect(documents.flatMap((text, at) => compareXml(bytesOf(text), written[at]!, { source }))).toEqual([]);
  });

  it('an attribute called like an element beside it says so', () => {
    const source = compiled(
      xs(
        `<xs:element name="party"><xs:complexType><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="role" maxOccurs="2"/></xs:sequence><xs:attribute name="name"/><xs:attribute name="role"/></xs:complexType></xs:element>`,
      ),
    );
    expect(outline(modelOf(source, 1)).split('\n')[0]).toBe(
      'party: party_key bigint!, document_key bigint!, name_attr text, role text, name text!',
    );
  });
});
