/** Rows as JSON Lines. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ColumnType } from '../../../../src/engine/model/relational-model.ts';
import { ByteBuffer } from '../../../../src/engine/shred/rows/byte-buffer.ts';
import { createJsonLinesEncoder } from '../../../../src/engine/shred/json-lines/encoder.ts';
import { createLinesKernel } from '../../../../src/engine/shred/json-lines/kernel.ts';
import { SpareBuffers } from '../../../../src/engine/spare-buffers.ts';
import { copyTextEncoder } from '../../../../src/engine/shred/rows/encoding.ts';

const utf8 = new TextEncoder();

function copyText(rows: readonly (readonly (string | null)[])[]): Uint8Array {
  const out = new ByteBuffer(64);
  for (const row of rows) {
    for (const [index, value] of row.entries()) {
      if (index > 0) out.pushByte(copyTextEncoder.separator);
      if (value === null) copyTextEncoder.pushNull(out);
      else copyTextEncoder.pushText(out, utf8.encode(value), 0, utf8.encode(value).length);
    }
    out.pushByte(10);
  }
  return out.take();
}

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** The JSON text of one value; the kernel and TypeScript alone write the same. */
function encoded(type: ColumnType, value: string | null): string {
  const rows = copyText([[value]]);
  const line = text(createJsonLinesEncoder([{ name: 'v', type }])(rows));
  expect(text(createJsonLinesEncoder([{ name: 'v', type }], createLinesKernel())(rows))).toBe(line);
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
  const encode = createJsonLinesEncoder([
    { name: 'a"b', type: { kind: 'bigint' } },
    { name: 'c\\d', type: { kind: 'text' } },
  ]);
  expect(
    text(
      encode(
        copyText([
          ['1', 'x'],
          ['2', null],
        ]),
      ),
    ),
  ).toBe('{"a\\u0022b":1,"c\\\\d":"x"}\n{"a\\u0022b":2,"c\\\\d":null}\n');
  const long = 'y'.repeat(1_000_000);
  expect(JSON.parse(text(encode(copyText([['3', long]]))))).toEqual({ 'a"b': 3, 'c\\d': long });
});

test.each(['kernel', 'TypeScript'])('lines of %s stay while their buffer is not given back', (by) => {
  const buffers = new SpareBuffers();
  const kernel = by === 'kernel' ? createLinesKernel()! : null;
  const encode = createJsonLinesEncoder([{ name: 'v', type: { kind: 'bigint' } }], kernel, buffers);
  const first = encode(copyText([['1']]));
  const second = encode(copyText([['2']]));
  expect([text(first), text(second)]).toEqual(['{"v":1}\n', '{"v":2}\n']);
  buffers.giveBack(first);
  const third = encode(copyText([['3']]));
  expect([third.buffer === first.buffer, text(second), text(third)]).toEqual([
    true,
    '{"v":2}\n',
    '{"v":3}\n',
  ]);
});

test('the kernel writes many members of few bytes, more than it has room for at first', () => {
  const columns = Array.from({ length: 40 }, (_, at) => ({
    name: `a column with a name of some length ${at}`,
    type: { kind: 'text' } as ColumnType,
  }));
  const rows = copyText(Array.from({ length: 2000 }, () => columns.map(() => null)));
  const lines = createJsonLinesEncoder(columns, createLinesKernel())(rows);
  expect(lines.length).toBeGreaterThan(3_000_000);
  expect(Buffer.compare(lines, createJsonLinesEncoder(columns)(rows))).toBe(0);
});

test('the kernel writes what TypeScript writes, rows of any length, over and over', () => {
  const kinds = ['text', 'bigint', 'numeric', 'double', 'boolean', 'timestamptz'] as const;
  const columns = kinds.map((kind, at) => ({ name: `${kind}"${at}`, type: { kind } as ColumnType }));
  const kernel = createLinesKernel()!;
  const [plain, others] = [createJsonLinesEncoder(columns), createJsonLinesEncoder(columns, kernel)];
  // a table of another shape in the same memory
  const second = createJsonLinesEncoder(columns.slice(1, 2), kernel);
  const value = fc.oneof(
    fc.constantFrom(
      't',
      'f',
      '0',
      '-1.50',
      '1.50',
      '0.5',
      '00.5',
      '7.',
      '1.2.3',
      '12345678901234',
      '1234567890123456',
      '+.5',
      '1e-5',
      'NaN',
      '\\N',
      '',
      'true',
      '\u0001"\u001f',
      'é"\\\t\n',
    ),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.double().map(String),
    fc.constant(null),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(value, { minLength: 6, maxLength: 6 }), { maxLength: 20 }),
      fc.nat(3).map((size) => (size === 3 ? 400_000 : 0)),
      (rows, more) => {
        const all = more === 0 ? rows : [...rows, ['"'.repeat(more), '7', null, '1', 't', 'x']];
        const copied = copyText(all);
        expect(text(others(copied))).toBe(text(plain(copied)));
        expect(text(second(copyText([['12'], [null]])))).toBe(
          '{"bigint\\u00221":12}\n{"bigint\\u00221":null}\n',
        );
      },
    ),
    { numRuns: 150 },
  );
});
