/** Rows as JSON Lines. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ColumnType } from '../../../../src/engine/model/relational-model.ts';
import { ByteBuffer } from '../../../../src/engine/shred/byte-buffer.ts';
import type { NamedType } from '../../../../src/engine/shred/json-line-members.ts';
import { rowFormFor } from '../../../../src/engine/shred/row-output.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';
import { shredToBytes } from '../../../support/models/shredded-bytes.ts';

const utf8 = new TextEncoder();

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

function lines(columns: readonly NamedType[], rows: readonly (readonly (string | null)[])[]): string {
  const out = new ByteBuffer(64);
  const form = rowFormFor('json-lines', columns);
  for (const row of rows) {
    for (const [index, value] of row.entries())
      if (value === null) form.nothing(out, index);
      else form.text(out, index, utf8.encode(value), 0, utf8.encode(value).length);
    form.end(out);
  }
  return text(out.take());
}

/** The JSON text of one value. */
function encoded(type: ColumnType, value: string | null): string {
  const line = lines([{ name: 'v', type }], [[value]]);
  expect(line.startsWith('{"v":') && line.endsWith('}\n')).toBe(true);
  return line.slice('{"v":'.length, -'}\n'.length);
}

test.each([
  ['0', '0'],
  ['-0', '-0'],
  ['+5', '5'],
  ['007', '7'],
  ['-007.50', '-7.50'],
  ['.5', '0.5'],
  ['-.5', '-0.5'],
  ['5.', '5'],
  ['00', '0'],
  ['18446744073709551616', '18446744073709551616'],
  ['0.10000000000000000000000000000000001', '0.10000000000000000000000000000000001'],
  ['1E5', '1E5'],
  ['-01.e+05', '-1e+05'],
  ['NaN', '"NaN"'],
  ['-Infinity', '"-Infinity"'],
  ['', '""'],
  ['-', '"-"'],
  ['.', '"."'],
  ['1e', '"1e"'],
  ['1 2', '"1 2"'],
  ['0x10', '"0x10"'],
])('the number %j is %s', (value, json) => {
  expect(encoded({ kind: 'numeric' }, value)).toBe(json);
  expect(JSON.parse(json)).toBeDefined();
});

test('booleans are true and false, and what is neither is text', () => {
  expect(['t', 'f', 'x', 'true'].map((value) => encoded({ kind: 'boolean' }, value))).toEqual([
    'true',
    'false',
    '"x"',
    '"true"',
  ]);
});

test('NULL is null, and the text that stands for it in COPY is not', () => {
  expect(encoded({ kind: 'text' }, null)).toBe('null');
  expect(encoded({ kind: 'text' }, '\\N')).toBe('"\\\\N"');
});

test.each([
  [{ kind: 'integer' }, '{1,-2,+3}', '[1,-2,3]'],
  [{ kind: 'integer' }, '{}', '[]'],
  [{ kind: 'integer' }, '1 two', '"1 two"'],
  [{ kind: 'boolean' }, '{t,f}', '[true,false]'],
  [{ kind: 'date' }, '{2026-11-05,2026-11-06}', '["2026-11-05","2026-11-06"]'],
  [{ kind: 'text' }, '{"a,b","\\"","\\\\"}', '["a,b","\\"","\\\\"]'],
] as const)('a list of %o: %s', (type, value, json) => {
  expect(encoded({ ...type, list: true }, value)).toBe(json);
});

test('any text comes back from a JSON parser, control characters too', () => {
  const characters = fc.string({
    unit: fc.oneof(fc.constantFrom(...'"\\\t\n\r\u0001\u001F/{},😀é\u2028'), fc.string()),
  });
  fc.assert(
    fc.property(characters, (value) => {
      const whole = value.replaceAll('\0', '').toWellFormed();
      expect(JSON.parse(encoded({ kind: 'text' }, whole))).toBe(whole);
    }),
  );
});

test('lists of any text come back item by item', () => {
  const item = fc
    .string({ minLength: 1, unit: fc.constantFrom(...'"\\,{}ab😀') })
    .map((value) => value.toWellFormed());
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const literal = `{${items.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
      expect(JSON.parse(encoded({ kind: 'text', list: true }, literal))).toEqual(items);
    }),
  );
});

test('rows are lines, members in the order of the columns, names escaped', () => {
  const columns: NamedType[] = [
    { name: 'a"b', type: { kind: 'bigint' } },
    { name: 'c\\d', type: { kind: 'text' } },
  ];
  const rows = [
    ['1', 'x'],
    ['2', null],
  ];
  expect(lines(columns, rows)).toBe('{"a\\u0022b":1,"c\\\\d":"x"}\n{"a\\u0022b":2,"c\\\\d":null}\n');
  for (const long of ['y'.repeat(1_000_000), '"'.repeat(1_000_000)])
    expect(JSON.parse(lines(columns, [['3', long]]))).toEqual({ 'a"b': 3, 'c\\d': long });
});

const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="all"><xs:complexType><xs:sequence>
  <xs:element name="one" maxOccurs="unbounded"><xs:complexType mixed="true"><xs:sequence>
    <xs:element name="t" type="xs:string" minOccurs="0"/><xs:element name="n" type="xs:decimal" minOccurs="0"/>
    <xs:element name="i" type="xs:int" minOccurs="0"/><xs:element name="d" type="xs:double" minOccurs="0"/>
    <xs:element name="b" type="xs:boolean" minOccurs="0"/><xs:element name="many" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence><xs:attribute name="a" type="xs:string"/><xs:attribute name="l" type="xs:NMTOKENS"/></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;
const odd = [...'"\\\t\n\r\u007f\u0085\u2028\u2029\ufffd\ufeff/{},<&é東😀 aZ09.+-'];

/** As character data and in attributes. */
const escaped = (value: string): string =>
  [...value]
    .map((character) => (/[\w é]/u.test(character) ? character : `&#${character.codePointAt(0)};`))
    .join('');

const tag = (name: string, value: string | null): string =>
  value === null ? '' : `<${name}>${escaped(value)}</${name}>`;

/** The values of a row in COPY text. */
function copied(row: string): (string | null)[] {
  const meant: Record<string, string> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };
  return row
    .split('\t')
    .map((value) =>
      value === '\\N' ? null : value.replaceAll(/\\(.)/g, (_, character: string) => meant[character]!),
    );
}

const listItem = /"((?:[^"\\]|\\.)*)"/g;

/** A value of COPY text as its member is meant to be. */
function meant(value: string | null, { kind, list }: ColumnType): unknown {
  if (value === null) return null;
  if (list === true) return [...value.matchAll(listItem)].map(([, item]) => item!.replaceAll(/\\(.)/g, '$1'));
  if (kind === 'boolean' && (value === 't' || value === 'f')) return value === 't';
  const isNumber = ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double'].includes(kind);
  return isNumber && /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(value) ? Number(value) : value;
}

test('lines say what COPY text says, by WebAssembly and by TypeScript alone: texts of any characters, lone quotes, nothing at all', () => {
  const model = modelOf(compiled(schema), 3);
  const any = fc.oneof(
    fc.string({ unit: fc.constantFrom(...odd), maxLength: 40 }),
    fc.constantFrom(
      '',
      '"',
      '\\',
      '\\N',
      't',
      'f',
      '1',
      '-1.50',
      '+.5',
      '007',
      '1e5',
      'true',
      '0',
      '{1}',
      '{"a"}',
    ),
    fc
      .string({ unit: 'grapheme', maxLength: 40 })
      .map((value) => value.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')),
  );
  const element = fc.option(any);
  const one = fc.record({
    a: fc.option(any),
    l: fc.option(fc.array(fc.constantFrom('a', '{b}', 'c,d', 'é😀'), { minLength: 1, maxLength: 4 })),
    t: element,
    n: element,
    i: element,
    d: element,
    b: element,
    run: any,
    many: fc.array(any, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 12 }), (ones) => {
      const rows = ones.map(({ a, l, run, many, ...elements }) => {
        const attributes = `${a === null ? '' : ` a="${escaped(a)}"`}${l === null ? '' : ` l="${escaped(l.join(' '))}"`}`;
        const children = (['t', 'n', 'i', 'd', 'b'] as const).map((name) => tag(name, elements[name]));
        return `<one${attributes}>${escaped(run)}${children.join('')}${many.map((value) => tag('many', value)).join('')}</one>`;
      });
      const document = `<all>${rows.join('')}</all>`;
      const shredded = (
        encoding: 'copy-text' | 'json-lines',
        kernelFrom: number,
      ): ReadonlyMap<string, string> =>
        shredToBytes(model, [document], { encoding, kernelFrom, tokenizer: 'shared', widensInPlace: false })
          .tables;
      const copy = shredded('copy-text', Infinity);
      const plain = shredded('json-lines', Infinity);
      expect(shredded('json-lines', 0)).toEqual(plain);
      expect([...plain.keys()]).toEqual([...copy.keys()]);
      for (const [at, { columns }] of model.tables.entries()) {
        const expected = (copy.get(`${at}`) ?? '').split('\n').slice(0, -1);
        const found = (plain.get(`${at}`) ?? '').split('\n').slice(0, -1);
        expect(found.map((line) => JSON.parse(line) as unknown)).toEqual(
          expected.map((row) => {
            const values = copied(row);
            return Object.fromEntries(
              columns.map(({ name, type }, index) => [name, meant(values[index]!, type)]),
            );
          }),
        );
      }
    }),
    { numRuns: 100 },
  );
});
