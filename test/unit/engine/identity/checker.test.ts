/** key, unique and keyref of documents, scoped as XSD Part 1 §3.11 says. */
import { describe, expect, it } from 'vitest';
import { createIdentityChecker, type IdentityChecker } from '../../../../src/engine/identity/checker.ts';
import type { MapLevel } from '../../../../src/engine/model/relational-model.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { bytesOf, compiled, modelOf } from '../../../support/models/shredding.ts';

const xs = (body: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">${body}</xs:schema>`;

const shop = xs(`
  <xs:element name="shop"><xs:complexType><xs:sequence>
    <xs:element name="part" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="name" type="xs:token" minOccurs="0" nillable="true"/></xs:sequence>
      <xs:attribute name="no" type="xs:decimal"/></xs:complexType></xs:element>
    <xs:element ref="order" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType>
    <xs:key name="partNo"><xs:selector xpath="t:part"/><xs:field xpath="@no"/></xs:key>
    <xs:unique name="partName"><xs:selector xpath="t:part"/><xs:field xpath="t:name"/></xs:unique>
    <xs:keyref name="linePart" refer="t:partNo"><xs:selector xpath=".//t:line"/><xs:field xpath="t:part"/></xs:keyref>
    <xs:keyref name="boxLine" refer="t:lineNo"><xs:selector xpath=".//t:box"/><xs:field xpath="."/></xs:keyref>
  </xs:element>
  <xs:element name="order"><xs:complexType><xs:sequence>
    <xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="part" type="xs:decimal"/></xs:sequence><xs:attribute name="no" type="xs:int"/></xs:complexType></xs:element>
    <xs:element name="box" type="xs:int" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType>
    <xs:key name="lineNo"><xs:selector xpath="t:line"/><xs:field xpath="@no"/></xs:key></xs:element>`);

function check(
  xsd: string,
  documents: readonly string[],
  options: { level?: MapLevel; pieceBytes?: number; maxHeldBytes?: number; maxSituationParts?: number } = {},
): IdentityChecker {
  const names = createNameTable();
  const checker = createIdentityChecker(modelOf(compiled(xsd), options.level ?? 3), names, options)!;
  for (const [at, document] of documents.entries()) {
    checker.beginDocument(`${at + 1}.xml`);
    const tokenizer = createXmlTokenizer({
      names,
      onBatch: (batch) => checker.consume(batch, (record) => tokenizer.locate(record)),
    });
    const bytes = bytesOf(document);
    const piece = options.pieceBytes ?? bytes.length;
    for (let from = 0; from < bytes.length; from += piece) tokenizer.write(bytes.slice(from, from + piece));
    tokenizer.end();
  }
  return checker;
}

/** Three elements in each, so many levels deep, all with one id. */
const tree = (name: string, depth: number): string =>
  `<${name} id="1">${depth === 0 ? '' : ['p', 'q', 'q'].map((inner) => tree(inner, depth - 1)).join('')}</${name}>`;
/** Elements with these numbers, with others inside. */
const numbered = (...numbers: readonly number[]): string =>
  `<r xmlns="urn:t" no="1">${numbers.map((no) => `<e no="${no}"><f id="${no}" no="${no + 9}"/></e>`).join('')}</r>`;
const shopOf = (content: string): string => `<shop xmlns="urn:t">${content}</shop>`;
const faults = (checker: IdentityChecker): string[] =>
  checker.broken.map(
    ({ name, fault, count, sample, document, line }) =>
      `${name.replace('{urn:t}', '')} ${fault} ${count} × ${sample} (${document}:${line})`,
  );

describe('a shop with parts and orders', () => {
  const good = shopOf(`<part no="1"><name>nut</name></part><part no="2"/><part no="3"/>
    <order><line no="1"><part>1.0</part></line><line no="2"><part>02</part></line><box>2</box></order>
    <order><line no="1"><part>3</part></line><box>1</box></order>`);

  it.each([0, 1, 2, 3] as const)('that keeps its rules, level %i', (level) => {
    const checker = check(shop, [good, good], { level });
    expect(faults(checker)).toEqual([]);
    expect(checker.unfinished).toBe(0);
  });

  it('a key that stands twice, by value, once per document', () => {
    const twice = shopOf('<part no="1"/>\n<part no="1.00"/>\n<part no="+01"/>');
    expect(faults(check(shop, [twice, good]))).toEqual(['partNo repeated 2 × 1 (1.xml:2)']);
  });

  it('a key without its field; a unique may go without', () => {
    expect(faults(check(shop, [shopOf('<part no="1"/>\n<part/>')]))).toEqual([
      'partNo incomplete 1 ×  (1.xml:2)',
    ]);
  });

  it('unique values collapse white space and leave out what is nil', () => {
    const names = ['a  b', ' a b ', '', ''].map((name, at) => `<part no="${at}"><name>${name}</name></part>`);
    const nil =
      '<part no="9"><name xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/></part>';
    expect(faults(check(shop, [shopOf(names.join('') + nil + nil.replace('9', '8'))]))).toEqual([
      'partName repeated 2 × a b (1.xml:1)',
    ]);
  });

  it('references that lead nowhere are counted, the first told with its place', () => {
    const dangling = shopOf(
      '<part no="1"/><order>\n<line no="1"><part>7</part></line>\n<line no="2"><part>7</part></line>\n<line no="3"><part>1</part></line></order>',
    );
    expect(faults(check(shop, [dangling]))).toEqual(['linePart dangling 2 × 7 (1.xml:2)']);
  });

  it('the key of each order is its own, and seen from the shop all are there', () => {
    const text = shopOf(
      '<part no="1"/><order><line no="1"><part>1</part></line><box>2</box></order><order><line no="2"><part>1</part></line><box>3</box></order>',
    );
    expect(faults(check(shop, [text]))).toEqual(['boxLine dangling 1 × 3 (1.xml:1)']);
  });

  it('finds the same wherever the text is cut', () => {
    const text = shopOf(
      '<part no="1"><name>x</name></part>\n<part no="1"><name>x</name></part><order><line no="1"><part>5</part></line></order>',
    );
    for (const pieceBytes of [1, 7, 50]) {
      expect(faults(check(shop, [text], { pieceBytes }))).toEqual(faults(check(shop, [text])));
    }
  });

  it('stops at its limit and says so', () => {
    const parts = Array.from({ length: 50 }, (_, at) => `<part no="${at}"/>`).join('');
    const checker = check(shop, [shopOf(`${parts}<part no="1"/>`), good], { maxHeldBytes: 40 * 64 });
    expect(checker.unfinished).toBe(1);
    expect(faults(checker)).toEqual([]);
  });

  it('counts what short values cost beside their characters, a document once', () => {
    const lines = Array.from({ length: 200 }, (_, at) => `<line no="${at}"><part>1</part></line>`).join('');
    const order = shopOf(`<part no="1"/><order>${lines}</order>`);
    expect(check(shop, [order, order], { maxHeldBytes: 10_000 }).unfinished).toBe(2);
    expect(check(shop, [order, order], { maxHeldBytes: 201 * 70 }).unfinished).toBe(0);
  });

  it('stops at a value that is longer than all that it may hold', () => {
    const long = shopOf(`<part no="1"><name>${'x'.repeat(5000)}</name></part><part no="1"/>`);
    const checker = check(shop, [long, good], { maxHeldBytes: 4000, pieceBytes: 100 });
    expect(checker.unfinished).toBe(1);
    expect(faults(checker)).toEqual([]);
  });

  it('tells values of several fields apart that have line ends in them', () => {
    const pairs = xs(`<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="p" maxOccurs="unbounded"><xs:complexType><xs:attribute name="a" type="xs:string"/><xs:attribute name="b" type="xs:string"/></xs:complexType></xs:element>
      </xs:sequence></xs:complexType>
      <xs:unique name="pair"><xs:selector xpath="t:p"/><xs:field xpath="@a"/><xs:field xpath="@b"/></xs:unique></xs:element>`);
    const document = '<r xmlns="urn:t"><p a="x&#10;y" b="z"/><p a="x" b="y&#10;z"/></r>';
    expect(faults(check(pairs, [document]))).toEqual([]);
  });
});

describe('paths', () => {
  it('alternatives, any names, more than one field', () => {
    const xsd = xs(`<xs:element name="r"><xs:complexType><xs:choice maxOccurs="unbounded">
        <xs:element name="a" type="T"/><xs:element name="b" type="T"/><xs:element name="c" type="T"/></xs:choice></xs:complexType>
      <xs:unique name="pair"><xs:selector xpath="t:a|t:b"/><xs:field xpath="@x"/><xs:field xpath="t:y|t:z"/></xs:unique>
      <xs:key name="every"><xs:selector xpath="*"/><xs:field xpath="@id"/></xs:key></xs:element>
      <xs:complexType name="T"><xs:choice minOccurs="0"><xs:element name="y" type="xs:string"/><xs:element name="z" type="xs:string"/></xs:choice><xs:attribute name="x"/><xs:attribute name="id"/></xs:complexType>`);
    const document = `<r xmlns="urn:t"><a id="1" x="1"><y>q</y></a><b id="2" x="1"><z>q</z></b><c id="3" x="1"><y>q</y></c><a id="3" x="2"><y>q</y></a></r>`;
    expect(faults(check(xsd, [document]))).toEqual([
      'pair repeated 1 × 1, q (1.xml:1)',
      'every repeated 1 × 3 (1.xml:1)',
    ]);
  });

  it.each([
    ['what several paths select is selected once', 't:e | *', '@no | @no'],
    ['`.//.` selects the element and all inside', './/.', '@no'],
    ['`.//@id` is of any element inside', 't:e', './/@id'],
  ])('%s', (_, selector, field) => {
    const xsd = xs(`<xs:element name="r" type="r"/>
      <xs:complexType name="r"><xs:sequence><xs:element name="e" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
        <xs:sequence><xs:element name="f" minOccurs="0"><xs:complexType><xs:attribute name="id"/><xs:attribute name="no"/></xs:complexType></xs:element></xs:sequence>
        <xs:attribute name="no"/></xs:complexType></xs:element></xs:sequence><xs:attribute name="no"/></xs:complexType>`).replace(
      '<xs:element name="r" type="r"/>',
      `<xs:element name="r" type="r"><xs:key name="k"><xs:selector xpath="${selector}"/><xs:field xpath="${field}"/></xs:key></xs:element>`,
    );
    expect(faults(check(xsd, [numbered(2, 3, 4)]))).toEqual([]);
    expect(faults(check(xsd, [numbered(2, 3, 2)]))).toHaveLength(1);
    expect(faults(check(xsd, [numbered(2, 3, 2)]))[0]).toContain('k repeated');
  });

  it('elements that xsi:type widens, and rules on elements inside themselves', () => {
    const xsd =
      xs(`<xs:element name="node" type="N"><xs:unique name="child"><xs:selector xpath="t:node"/><xs:field xpath="@id"/></xs:unique></xs:element>
      <xs:complexType name="N"><xs:sequence><xs:element ref="node" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="id"/></xs:complexType>
      <xs:complexType name="M"><xs:complexContent><xs:extension base="N"><xs:sequence><xs:element name="extra" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>`);
    const document = `<node xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="1"><node id="1" xsi:type="M"><node id="1"/>
      <node id="1"/><extra/></node><node id="2"/></node>`;
    expect(faults(check(xsd, [document]))).toEqual(['child repeated 1 × 1 (1.xml:2)']);
  });

  it('a reference or unique value is asked of elements that have its attribute alone, a key of all', () => {
    const xsd = xs(`<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="a" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id"/><xs:attribute name="x"/><xs:attribute name="y"/><xs:attribute name="to"/></xs:complexType></xs:element>
      </xs:sequence></xs:complexType>
      <xs:key name="id"><xs:selector xpath="*"/><xs:field xpath="@id"/></xs:key>
      <xs:unique name="pair"><xs:selector xpath=".//t:a"/><xs:field xpath="@x"/><xs:field xpath="@y"/></xs:unique>
      <xs:keyref name="to" refer="t:id"><xs:selector xpath=".//*"/><xs:field xpath="@to"/></xs:keyref></xs:element>`);
    const document = `<r xmlns="urn:t"><a id="1" x="1"/><a x="1" id="2"/><a id="3" y="1" x="1"/><a x="1" y="1" to="3" id="4"/>
      <a to="9"/><a id="1" to="4"/></r>`;
    expect(faults(check(xsd, [document]))).toEqual([
      'pair repeated 1 × 1, 1 (1.xml:1)',
      'id incomplete 1 ×  (1.xml:2)',
      'id repeated 1 × 1 (1.xml:2)',
      'to dangling 1 × 9 (1.xml:2)',
    ]);
  });

  it('rules with the same fields of one element each find its values, and one with others its own', () => {
    const xsd = xs(`<xs:element name="r"><xs:complexType><xs:sequence>
        <xs:element name="a" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id"/><xs:attribute name="v"/></xs:complexType></xs:element>
      </xs:sequence></xs:complexType>
      <xs:key name="whole"><xs:selector xpath="t:a"/><xs:field xpath="@id"/><xs:field xpath="@v"/></xs:key>
      <xs:unique name="turned"><xs:selector xpath=".//t:a"/><xs:field xpath="@v"/><xs:field xpath="@id"/></xs:unique>
      <xs:unique name="again"><xs:selector xpath="*"/><xs:field xpath="@id"/><xs:field xpath="@v"/></xs:unique>
      <xs:unique name="single"><xs:selector xpath="t:a"/><xs:field xpath="@v"/></xs:unique>
      <xs:keyref name="itself" refer="t:whole"><xs:selector xpath="t:a"/><xs:field xpath="@id"/><xs:field xpath="@v"/></xs:keyref></xs:element>`);
    const document =
      '<r xmlns="urn:t"><a id="1" v="1"/><a id="1" v="2"/><a id="2" v="1"/>\n<a id="1" v="2"/>\n<a id="3"/></r>';
    expect(faults(check(xsd, [document])).toSorted()).toEqual([
      'again repeated 1 × 1, 2 (1.xml:2)',
      'single repeated 2 × 1 (1.xml:1)',
      'turned repeated 1 × 2, 1 (1.xml:2)',
      'whole incomplete 1 × 3,  (1.xml:3)',
      'whole repeated 1 × 1, 2 (1.xml:2)',
    ]);
  });

  it('elements within one another in many ways, few of which are known at a time', () => {
    const xsd =
      xs(`<xs:element name="p" type="N"><xs:unique name="child"><xs:selector xpath="*"/><xs:field xpath="@id"/></xs:unique></xs:element>
      <xs:element name="q" type="N"/>
      <xs:complexType name="N"><xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element ref="p"/><xs:element ref="q"/></xs:choice><xs:attribute name="id"/></xs:complexType>`);
    const document = tree('p', 5).replace('<p', '<p xmlns="urn:t"');
    const few = check(xsd, [document], { maxSituationParts: 5 }).broken;
    expect(few).toEqual(check(xsd, [document]).broken);
    expect(few[0]!.count).toBeGreaterThan(80);
  });

  it('a model without constraints has no checker', () => {
    const names = createNameTable();
    expect(createIdentityChecker(modelOf(compiled(xs('<xs:element name="r"/>')), 0), names)).toBeNull();
  });
});

const natural = (level: MapLevel): string[] => {
  const model = modelOf(compiled(shop), level);
  return model.identityRules!.map(({ name, kind, refers, tables }) => {
    const places = tables.map(({ table, columns }) => {
      const { name: tableName, columns: all } = model.tables[table]!;
      return `${tableName}(${columns.map((at) => all[at]!.name).join(', ')})`;
    });
    const to = refers === null ? '' : ` -> ${model.identityRules![refers]!.name.localName}`;
    return `${kind} ${name.localName}${to}: ${places.join(', ')}`;
  });
};

describe('natural keys of tables', () => {
  it.each([0, 1, 2, 3] as const)('are the columns that the fields lead to, level %i', (level) => {
    expect(natural(level)).toEqual([
      'key partNo: part(no)',
      'unique partName: part(name)',
      'keyref linePart -> partNo: line(part)',
      'keyref boxLine -> lineNo: box(value)',
      'key lineNo: line(no)',
    ]);
  });
});

const long = (end: string): string => 'x'.repeat(40_000) + end;
const listOf = (ones: readonly string[], uses: readonly string[] = []): string =>
  `<list xmlns="urn:t">${ones.map((id) => `<one id="${id}" part="1"/>`).join('')}${uses.map((id) => `<use id="${id}"/>`).join('')}</list>`;

describe('long values', () => {
  const named = xs(`<xs:element name="list"><xs:complexType><xs:sequence>
      <xs:element name="one" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id"/><xs:attribute name="part"/></xs:complexType></xs:element>
      <xs:element name="use" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="id"/></xs:complexType></xs:element>
    </xs:sequence></xs:complexType>
    <xs:key name="id"><xs:selector xpath="t:one"/><xs:field xpath="@id"/></xs:key>
    <xs:unique name="pair"><xs:selector xpath="t:one"/><xs:field xpath="@id"/><xs:field xpath="@part"/></xs:unique>
    <xs:keyref name="used" refer="t:id"><xs:selector xpath="t:use"/><xs:field xpath="@id"/></xs:keyref></xs:element>`);
  it('are told apart and known again, wherever they differ', () => {
    const ends = ['a', 'b', 'ab', 'ba', 'x', ''];
    const starts = ends.map((end) => end + long(''));
    expect(faults(check(named, [listOf([...new Set([...ends.map(long), ...starts])])]))).toEqual([]);
    const broken = check(named, [listOf([long('a'), long('b'), long('a')], [long('b'), long('c')])]).broken;
    expect(broken.map(({ name, fault, count }) => [name, fault, count])).toEqual([
      ['{urn:t}id', 'repeated', 1],
      ['{urn:t}pair', 'repeated', 1],
      ['{urn:t}used', 'dangling', 1],
    ]);
    expect(broken[2]!.sample).toMatch(/^x{20}/);
  });

  it('of one length are found as short ones are', () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `${'y'.repeat(17_000)}${10_000 + at}`);
    expect(check(named, [listOf(ids, ids)]).broken).toEqual([]);
  });

  it('count as long as the document is read', () => {
    const ids = Array.from({ length: 40 }, (_, at) => long(`${100 + at}`));
    expect(check(named, [listOf(ids), listOf(['a'])], { maxHeldBytes: 1_000_000 }).unfinished).toBe(0);
    const different = ids.map((_, at) => `${100 + at}`.repeat(8000));
    expect(check(named, [listOf(different)], { maxHeldBytes: 1_000_000 }).unfinished).toBe(1);
  });
});
