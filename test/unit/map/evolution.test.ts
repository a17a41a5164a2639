import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../src/engine/map/prune.ts';
import { compiled, modelOf, outline, shred, statisticsOf } from '../../support/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${body}</xs:schema>`;

const first = xs(`<xs:element name="order"><xs:complexType><xs:sequence>
  <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="tax" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:int"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>`);
const second = xs(`<xs:element name="order"><xs:complexType><xs:sequence>
  <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="tax" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:decimal"/><xs:attribute name="code" type="xs:string"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
  <xs:element name="tax" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="rate" type="xs:int"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>`);

describe('a next version', () => {
  const before = modelOf(compiled(first), 1);

  it('keeps the names of what was there, though by itself it would choose others', () => {
    expect(before.tables.map((table) => table.name)).toEqual(['order', 'line', 'tax']);
    expect(modelOf(compiled(second), 1).tables.map((table) => table.name)).toEqual([
      'order',
      'line',
      'order_tax',
      'line_tax',
    ]);
    const after = buildRelationalModel(compiled(second), { mapLevel: 1, previous: before });
    expect(after.tables.map((table) => table.name)).toEqual(['order', 'line', 'order_tax', 'tax']);
    expect(outline(after)).toContain(
      'tax: tax_key bigint!, line_key bigint! -> line, position integer!, rate numeric, code text',
    );
  });

  it('is the same model when nothing changed', () => {
    const after = buildRelationalModel(compiled(first), { mapLevel: 1, previous: before });
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });
});

describe('pruning', () => {
  const source = compiled(
    xs(`<xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="shape" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="a" type="T" minOccurs="0"/><xs:element name="b" type="T" minOccurs="0" maxOccurs="9"/></xs:sequence><xs:attribute name="x"/><xs:attribute name="y"/></xs:complexType></xs:element>
      <xs:complexType name="T"><xs:sequence><xs:element name="u" type="xs:int" minOccurs="0"/><xs:element name="v" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>
      <xs:element name="shape" type="S" abstract="true"/><xs:complexType name="S"><xs:attribute name="id"/></xs:complexType>
      <xs:element name="circle" type="S" substitutionGroup="shape"/>
      <xs:element name="box" substitutionGroup="shape"><xs:complexType><xs:complexContent><xs:extension base="S"><xs:attribute name="w"/></xs:extension></xs:complexContent></xs:complexType></xs:element>`),
  );
  const document = '<r x="1"><circle id="c"/><a><u>5</u></a></r>';

  it('leaves out what documents never used, and loads what they do', () => {
    const pruned = pruneSourceModel(source, statisticsOf([document]));
    const model = modelOf(pruned, 1);
    expect(outline(model)).toBe(
      [
        'r: r_key bigint!, document_key bigint!, x text, a_present boolean, a_u integer',
        'shape: shape_key bigint!, r_key bigint! -> r, position integer!, element text!, id text',
      ].join('\n'),
    );
    expect(shred(model, [document]).drift.total).toBe(0);
  });

  it('keeps later content as unmapped', () => {
    const model = modelOf(pruneSourceModel(source, statisticsOf([document])), 1);
    const { rows } = shred(model, ['<r y="2"><box w="3"/></r>']);
    expect(rows['_unmapped']!.map((row) => row['xpath'])).toEqual(['/r/@y', '/r/box']);
  });
});
