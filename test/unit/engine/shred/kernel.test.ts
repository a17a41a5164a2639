/** WebAssembly and TypeScript make the same rows, byte for byte: of values near every bound, and where something outgrows its place. */
import { describe, expect, it } from 'vitest';
import { compiled, inferred, modelOf } from '../../../support/models/shredding.ts';
import {
  shredPartsToBytes,
  shredToBytes,
  type ShreddingWay,
} from '../../../support/models/shredded-bytes.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { some } from '../../../support/needs.ts';

const types =
  'string normalizedString token anyURI boolean byte short int long integer nonNegativeInteger unsignedShort unsignedInt unsignedLong decimal float double date time dateTime duration hexBinary QName NMTOKENS'.split(
    ' ',
  );

const numbers = [
  '0 -0 +0 00 1 -1 +1 01 007 9 10 99 100 127 128 -128 -129 255 256 32767 32768 -32768 -32769 65535 65536',
  '2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 0002147483647 9999999999',
  '9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616',
  '1. .5 . - + +. 1.0 1.50 01.5 -0.0 5.00 12.345 123456789012345678901234567890.123456789 1e5 1E-5 1e 1e+ 1.5e308 1e309 1e-320 -1e-30',
  '3.4e38 3.5e38 1e-38 1e-46 NaN INF -INF +INF inf Infinity 0x10 1_000 ١٢ 1,5 --1 1-',
];
const flags = ['true false 1 0 True TRUE t yes 2 01'];
const dates = [
  '2026-01-01 2026-02-29 2024-02-29 1900-02-29 2000-02-29 2026-12-31 2026-13-01 2026-00-01 2026-04-31 2026-06-30 0000-01-01 0001-01-01 9999-12-31 10000-01-01 -0001-01-01 2026-1-1 2026-01-01Z 2026-01-01+02:00',
  '00:00:00 23:59:59 24:00:00 24:00:01 12:60:00 12:00:60 12:00:00. 12:00:00.5 12:00:00.50 12:00:00.123456 12:00:00.1234567 12:00:00Z 12:00:00-05:00 1:00:00',
  '2026-01-01T00:00:00 2026-01-01T00:00:00Z 2026-01-01T00:00:00.5Z 2026-01-01T00:00:00.50Z 2026-01-01T24:00:00Z 2026-01-01T00:00:00+14:00 2026-01-01T00:00:00+14:01 2026-01-01t00:00:00Z 2026-01-01T00:00:00z 2026-02-30T00:00:00Z 2026-01-01T 2026-01-01T00:00',
];
const texts = [
  '',
  ' ',
  ' \n\t ',
  'a',
  'a b',
  ' a b ',
  'a  b',
  'a\tb',
  'a\nb',
  'a&#13;b',
  '\\',
  '\\.',
  '\\N',
  'a\\b\\\\c',
  ',',
  'a,b',
  '"',
  'a"b""c',
  '&lt;&amp;&gt;',
  'Zürich café 東京 naïve 🎉',
  'x'.repeat(15),
  'x'.repeat(16),
  'x'.repeat(17),
  `${'x'.repeat(31)}\\`,
  `${'x'.repeat(15)}\n${'y'.repeat(16)}\t`,
  '<![CDATA[ <a> & b ]]>',
  'é'.repeat(40),
  'long '.repeat(100),
];
const lists = [
  '1 2 3',
  '-1\n+2\t 003',
  '1.5 -2 +3.50 .5',
  '12.25 1e5 NaN',
  'ab "c" \\d , {e}',
  '" \\ "" \\\\ "\\',
  'Zü 東京 abcd',
  'true 0',
  `${'" '.repeat(300)}x`,
];
const itemTypes = ['int', 'long', 'decimal', 'float', 'double', 'boolean', 'date', 'token', 'QName'];
const values = [...lists, ...[...numbers, ...flags, ...dates].flatMap((line) => line.split(' ')), ...texts];

const utf8Text = (value: string): string => (value.includes('<![') ? '' : value.replaceAll('"', '&quot;'));

const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="all"><xs:complexType><xs:sequence>
  <xs:element name="one" maxOccurs="unbounded"><xs:complexType><xs:sequence>${types
    .map((type) => `<xs:element name="e-${type}" type="xs:${type}" minOccurs="0" nillable="true"/>`)
    .join('')}
    <xs:element name="short" minOccurs="0"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="5"/></xs:restriction></xs:simpleType></xs:element>
    <xs:element name="amount" minOccurs="0"><xs:simpleType><xs:restriction base="xs:decimal"><xs:totalDigits value="6"/><xs:fractionDigits value="2"/></xs:restriction></xs:simpleType></xs:element>
    ${itemTypes.map((type) => `<xs:element name="l-${type}" minOccurs="0"><xs:simpleType><xs:list itemType="xs:${type}"/></xs:simpleType></xs:element>`).join('')}
    <xs:element name="l-short" minOccurs="0"><xs:simpleType><xs:list><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="3"/></xs:restriction></xs:simpleType></xs:list></xs:simpleType></xs:element>
    <xs:element name="note" minOccurs="0"><xs:complexType mixed="true"><xs:sequence><xs:element name="b" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
  </xs:sequence>${types.map((type) => `<xs:attribute name="a-${type}" type="xs:${type}"/>`).join('')}</xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;

function elementOf(value: string): string {
  const attributes = types.map((type) => `a-${type}="${utf8Text(value)}"`).join(' ');
  const children = [
    ...types.map((type) => `e-${type}`),
    'short',
    'amount',
    ...[...itemTypes, 'short'].map((type) => `l-${type}`),
  ];
  return `<one ${attributes}>${children.map((name) => `<${name}>${value}</${name}>`).join('\n  ')}<note>${value}<b>${value}</b>tail</note></one>`;
}

const documents = [
  `<all>${values.map(elementOf).join('\n')}</all>`,
  // surrounded by white space
  `<all>${values.map((value) => elementOf(` ${value}\n`)).join('')}</all>`,
  `<all><one><e-int xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"/><unknown a="1"><b/></unknown>stray<note/></one><one other="1"/><other/></all>`,
];

const ways: readonly ShreddingWay[] = (['copy-text', 'csv', 'words', 'json-lines'] as const).flatMap(
  (encoding) => (['plain', 'shared'] as const).map((tokenizer) => ({ encoding, tokenizer, kernelFrom: 0 })),
);

function expectSame(model: RelationalModel, texts: readonly string[], way: ShreddingWay): void {
  const expected = shredToBytes(model, texts, { ...way, kernelFrom: Infinity, tokenizer: 'plain' });
  expect(shredToBytes(model, texts, way)).toEqual(expected);
}

const jsonLines: ShreddingWay = { encoding: 'json-lines', tokenizer: 'shared', kernelFrom: 0 };

/** Most are alike; some are left to TypeScript, whole or in part. */
function partOf(at: number): string {
  const odd = at % 97 === 5 ? ' xmlns:x="urn:x"' : '';
  const left = at % 89 === 7 ? '<unknown>\n</unknown> text ' : '';
  return `<all${odd}><one a-int="${at}"><e-string>text ${at}</e-string>${left}<note>a<b>${at}</b></note></one></all>`;
}

function part(size: number): string {
  return `<one><e-string>${'text\t'.repeat(size / 5)}</e-string><note>${'n'.repeat(size)}<b>x</b></note></one>`;
}

describe('rows by WebAssembly are those by TypeScript', () => {
  it.each(ways)('values of every type, in elements and attributes: $encoding, $tokenizer', (way) => {
    const model = modelOf(compiled(schema), 3);
    expectSame(model, documents, way);
    expectSame(model, documents, {
      ...way,
      widensInPlace: false,
      hashes: ['01', 'ab', 'ff'].map((two) => two.repeat(32)),
    });
  });

  it.each(ways)('thousands of parts of a larger document: $encoding, $tokenizer', (way) => {
    const parts = Array.from({ length: 4000 }, (_, at) => partOf(at));
    const larger = `<larger a="1">\n${parts.join('\n')}</larger>`;
    const model = modelOf(compiled(schema), 3);
    const plain: ShreddingWay = { encoding: way.encoding, tokenizer: 'plain', kernelFrom: Infinity };
    for (const more of [{}, { hashes: ['0f'.repeat(32)] }, { extra: ['x'], windowBytes: 3000 }]) {
      const { taken, ...rows } = shredPartsToBytes(model, larger, 'all', { ...way, ...more }, true);
      expect({ ...rows, taken: 0 }).toEqual(
        shredPartsToBytes(model, larger, 'all', { ...plain, ...more }, false),
      );
      if (way.tokenizer === 'shared') expect(taken).toBeGreaterThan(3900);
      else expect(taken).toBe(0);
    }
  });

  it('keys from hashes in a part where another row of the table is TypeScript’s before', () => {
    const alike = '<all><one a-int="1"/></all>'.repeat(3);
    const larger = `<larger>${alike}<all><one xmlns:x="urn:x" a-int="2"/><one a-int="3"/></all>${alike}</larger>`;
    const model = modelOf(compiled(schema), 3);
    const way: ShreddingWay = { ...ways[1]!, hashes: ['0f'.repeat(32)] };
    const { taken, ...rows } = shredPartsToBytes(model, larger, 'all', way, true);
    expect(taken).toBe(6);
    expect({ ...rows, taken: 0 }).toEqual(
      shredPartsToBytes(model, larger, 'all', { ...way, kernelFrom: Infinity }, false),
    );
  });

  it.each(some(values, 12))('a column that was guessed from %j', (value) => {
    const well = value.includes('<![') || value === '' ? 'x' : value;
    const model = modelOf(inferred([`<all>${elementOf(well)}${elementOf(well)}</all>`]), 3);
    for (const scalesDecimals of [false, true])
      for (const encoding of ['copy-text', 'json-lines'] as const)
        expectSame(model, documents.slice(0, 1), { ...jsonLines, encoding, scalesDecimals });
  });

  it.each([
    [false, []],
    [true, ['1.50', '3.0', '-0.10']],
  ])('decimals that were guessed, where the target gives them a scale: %s', (scalesDecimals, kept) => {
    const document = `<all>${['1.50', '1.5', '2', '20', '3.0', '-0.10', '0.101'].map((n) => `<v>${n}</v>`).join('')}</all>`;
    const model = modelOf(inferred([document]), 3);
    for (const way of ways) expectSame(model, [document], { ...way, scalesDecimals });
    const { tables } = shredToBytes(model, [document], { ...ways[1]!, scalesDecimals });
    const beside = (tables.get('lexical') ?? '').split('\n').filter((line) => line !== '');
    expect(beside.map((line) => line.split('\t').at(-1))).toEqual(kept);
  });

  it('batches that end anywhere', () => {
    const model = modelOf(compiled(schema), 3);
    const short = [`<all>${texts.slice(0, 12).map(elementOf).join('\n')}</all>`];
    for (let windowBytes = 16; windowBytes < 200; windowBytes += 3)
      expectSame(model, short, {
        ...jsonLines,
        encoding: windowBytes % 2 === 0 ? 'copy-text' : 'json-lines',
        windowBytes,
      });
  });

  it('extra columns, new for each document', () => {
    const model = modelOf(compiled(schema), 3);
    const column = {
      type: { kind: 'text' },
      nullable: true,
      xpath: null,
      path: '',
      sourceType: null,
      references: null,
    } as const;
    const wider = {
      ...model,
      tables: model.tables.map((table) => ({
        ...table,
        columns: [
          ...table.columns,
          { ...column, name: 'extra_1', role: 'extra' as const },
          { ...column, name: 'extra_2', role: 'extra' as const },
          { ...column, name: 'extra_3', role: 'extra' as const },
        ],
      })),
    };
    for (const way of ways) expectSame(wider, documents.slice(1), { ...way, extra: ['a\tb,"c"', '#', null] });
    expectSame(wider, documents.slice(1), { ...ways[0]!, extra: ['x'.repeat(100_000), '#', null] });
    const quotes = '"\u0001\u001f'.repeat(3000);
    expectSame(wider, documents.slice(2), { ...jsonLines, extra: [quotes, '#', null] });
    expectSame(wider, documents.slice(2), { ...jsonLines, extra: [quotes.repeat(3), '#', null] });
  });

  it('values, rows and depths that outgrow the kernel’s memory, and what comes after them', () => {
    const sizes = [10, 60_000, 130_000, 300_000, 700_000, 10, 1_500_000, 200, 90_000];
    for (const way of [ways[1]!, jsonLines])
      expectSame(modelOf(compiled(schema), 3), [`<all>${sizes.map(part).join('')}</all>`], way);
    const depth = 1400;
    const deep = `<a>${'<b><c>1</c>'.repeat(depth)}${'</b>'.repeat(depth)}<c>2</c></a>`;
    expectSame(modelOf(inferred([deep]), 3), [deep, '<a><b><c>3</c></b></a>', deep], ways[1]!);
  });

  it('lines of JSON whose values take more there than they are', () => {
    const texts = ['"', '&#34;é', '\\', 'a,b'].flatMap((text) =>
      [10, 4000, 14_000, 26_000, 27_000, 80_000, 159_000].map((size) => text.repeat(size)),
    );
    const document = `<all>${texts.map((text) => `<one><e-string>${text}</e-string><note>${text}<b>x</b></note></one>`).join('')}</all>`;
    expectSame(modelOf(compiled(schema), 3), [document], jsonLines);
    const halves = '.5 '.repeat(30_000);
    const lists = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="all"><xs:complexType><xs:sequence><xs:element name="list" maxOccurs="unbounded"><xs:simpleType><xs:list itemType="xs:decimal"/></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
    const numbers = ['1', '+1 .5 007', '', halves, 'x', '2 3', halves].map((list) => `<list>${list}</list>`);
    expectSame(modelOf(compiled(lists), 3), [`<all>${numbers.join('')}</all>`], jsonLines);
  });

  it('many rows: buffers are handed over when they are full', () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, index) => `<r i="${index}"><t>${'y'.repeat(index % 70)}</t><u>${index}</u></r>`,
    );
    const text = `<all>${rows.join('\n')}</all>`;
    const model = modelOf(inferred([text]), 0);
    for (const way of ways) expectSame(model, [text, text], way);
  });
});
