/** Models without their inactive content. */
import { describe, expect, it } from 'vitest';
import { leaveOutInactive } from '../../../../src/engine/map/deactivate.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../../src/engine/model/source-model.ts';
import { compiled, modelOf, outline, shred } from '../../../support/models/shredding.ts';

const xsd = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const orders = compiled(
  xsd(`<xs:element name="orders"><xs:complexType><xs:sequence>
    <xs:element name="order" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="note" type="xs:string" minOccurs="0"/>
      <xs:element name="shipTo" type="Address"/>
      <xs:element name="billTo" type="Address" minOccurs="0"/>
      <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="sku" type="xs:string"/>
        <xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence><xs:attribute name="no" type="xs:int" use="required"/></xs:complexType></xs:element>
      <xs:any namespace="##other" minOccurs="0" maxOccurs="unbounded" processContents="lax"/>
    </xs:sequence><xs:attribute name="id" type="xs:int"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="Address"><xs:sequence>
    <xs:element name="street" type="xs:string"/><xs:element name="city" type="xs:string"/>
  </xs:sequence></xs:complexType>`),
);

const document = `<orders><order id="1"><note>n</note><shipTo><street>S</street><city>C</city></shipTo>
  <billTo><street>T</street><city>D</city></billTo>
  <line no="1"><sku>a</sku><tag>x</tag><tag>y</tag></line><line no="2"><sku>b</sku></line>
  <x:more xmlns:x="urn:x">1</x:more></order></orders>`;

/** Every line at the paths, and below them. */
function without(source: SourceModel, model: RelationalModel, ...paths: readonly string[]): RelationalModel {
  const identities = model.mappings
    .filter(({ xpath }) => paths.some((path) => xpath === path || xpath?.startsWith(`${path}/`)))
    .map((line) => `${line.nodeType} ${line.nodeType === 'any' ? line.sourceType : ''} ${line.xpath}`);
  expect(identities.length).toBeGreaterThan(0);
  return leaveOutInactive(source, model, new Set(identities));
}

/** Every reference of a model leads to something. */
function checkReferences(model: RelationalModel): void {
  const column = (table: number, at: number): void => {
    expect(at).toBeGreaterThanOrEqual(-1);
    if (at >= 0) expect(model.tables[table]!.columns[at]).toBeDefined();
  };
  for (const table of model.tables) {
    for (const { references } of table.columns)
      if (references !== null) expect(model.tables[references]).toBeDefined();
  }
  for (const node of model.nodes) {
    expect(model.tables[node.table]).toBeDefined();
    for (const at of [node.textColumn, node.presenceColumn, node.nilColumn, node.anyAttributeColumn])
      column(node.table, at);
    for (const attribute of node.attributes) column(node.table, attribute.column);
    for (const edge of [...node.edges, ...node.typeEdges])
      column(model.nodes[edge.node]!.table, edge.parentKeyColumn);
  }
  for (const line of model.mappings) {
    expect(model.tables[line.table]).toBeDefined();
    if (line.column !== null) column(line.table, line.column);
  }
}

describe('inactive content', () => {
  it('nothing inactive leaves the model as it is', () => {
    const model = modelOf(orders, 1);
    expect(leaveOutInactive(orders, model, new Set())).toBe(model);
    expect(leaveOutInactive(orders, model, new Set(['element  /elsewhere']))).toBe(model);
  });

  it.each([0, 1, 2, 3] as const)(
    'a column goes, and its values are ignored, at level %i',
    (level: MapLevel) => {
      const whole = modelOf(orders, level);
      const model = without(orders, whole, '/orders/order/note', '/orders/order/line/@no');
      checkReferences(model);
      expect(outline(model)).not.toMatch(/\bnote\b|\bno integer/);
      expect(model.tables).toHaveLength(whole.tables.length);
      const before = shred(whole, [document]);
      const { rows, deviations } = shred(model, [document]);
      expect([...deviations.ignored]).toEqual([
        ['/orders/order/note', 1],
        ['/orders/order/line/@no', 2],
      ]);
      expect(deviations.total).toBe(0);
      expect(rows['_unmapped']).toEqual(before.rows['_unmapped']);
      expect(rows['line']!.map((row) => row['sku'])).toEqual(['a', 'b']);
      expect(rows['order']![0]).toMatchObject({ id: '1' });
    },
  );

  it('a table goes with all that hangs from it', () => {
    const model = without(orders, modelOf(orders, 1), '/orders/order/line');
    checkReferences(model);
    expect(model.tables.map(({ name }) => name)).toEqual(['orders', 'order', 'order_any']);
    const { rows, deviations } = shred(model, [document]);
    expect([...deviations.ignored]).toEqual([['/orders/order/line', 6]]);
    expect(deviations.total).toBe(0);
    expect(rows['order_any']).toHaveLength(1);
    const left = model.mappings.filter(({ active }) => active === false);
    expect(left.map(({ xpath, table, column }) => [xpath, model.tables[table]!.name, column])).toEqual([
      ['/orders/order/line', 'order', null],
      ['/orders/order/line/@no', 'order', null],
      ['/orders/order/line/sku', 'order', null],
      ['/orders/order/line/tag', 'order', null],
      ...(left.length > 4 ? [['/orders/order/line/tag', 'order', null]] : []),
    ]);
  });

  it('a folded element goes when all of it is inactive', () => {
    const model = without(orders, modelOf(orders, 1), '/orders/order/billTo');
    checkReferences(model);
    expect(outline(model)).not.toContain('bill_to');
    expect(outline(model)).toContain('ship_to_city');
    const { deviations } = shred(model, [document]);
    expect([...deviations.ignored]).toEqual([['/orders/order/billTo', 2]]);
    expect(deviations.total).toBe(0);
  });

  it('one of the paths to a shared table goes, the table stays for the other', () => {
    const whole = modelOf(orders, 2);
    expect(whole.tables.map(({ name }) => name)).toContain('address');
    const model = without(orders, whole, '/orders/order/billTo');
    checkReferences(model);
    const { rows, deviations } = shred(model, [document]);
    expect(rows['address']!.map((row) => row['city'])).toEqual(['C']);
    expect([...deviations.ignored]).toEqual([['/orders/order/billTo', 2]]);
    expect(deviations.total).toBe(0);
  });

  it('a value inside a shared table stays until every path to it is inactive', () => {
    const whole = modelOf(orders, 2);
    const one = without(orders, whole, '/orders/order/billTo/city');
    expect(one.tables.find(({ name }) => name === 'address')!.columns.map(({ name }) => name)).toContain(
      'city',
    );
    const both = without(orders, whole, '/orders/order/billTo/city', '/orders/order/shipTo/city');
    checkReferences(both);
    expect(both.tables.find(({ name }) => name === 'address')!.columns.map(({ name }) => name)).not.toContain(
      'city',
    );
    const { deviations } = shred(both, [document]);
    expect([...deviations.ignored]).toEqual([
      ['/orders/order/shipTo/city', 1],
      ['/orders/order/billTo/city', 1],
    ]);
  });

  it('content of a wildcard goes with its table', () => {
    const whole = modelOf(orders, 1);
    const model = leaveOutInactive(orders, whole, new Set(['any any /orders/order']));
    checkReferences(model);
    expect(model.tables.map(({ name }) => name)).not.toContain('order_any');
    const { deviations } = shred(model, [document]);
    expect([...deviations.ignored.values()]).toEqual([1]);
    expect(deviations.total).toBe(0);
  });

  it('the same input makes the same model', () => {
    const [one, other] = [1, 2].map(() =>
      JSON.stringify(without(orders, modelOf(orders, 3), '/orders/order/line/tag')),
    );
    expect(one).toBe(other);
  });

  it('recursion is left out below the element that stays', () => {
    const parts = compiled(
      xsd(`<xs:element name="part" type="Part"/><xs:complexType name="Part"><xs:sequence>
        <xs:element name="weight" type="xs:int"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/>
      </xs:sequence></xs:complexType>`),
    );
    const whole = modelOf(parts, 1);
    const weights = whole.mappings.filter(({ xpath }) => xpath?.endsWith('/weight'));
    expect(weights.length).toBeGreaterThan(1);
    const model = without(parts, whole, ...weights.map(({ xpath }) => xpath!));
    checkReferences(model);
    const { rows, deviations } = shred(model, [
      '<part><weight>1</weight><part><weight>2</weight><part><weight>3</weight></part></part></part>',
    ]);
    expect(rows['part']).toHaveLength(3);
    expect([...deviations.ignored.values()].reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(deviations.total).toBe(0);
  });
});
