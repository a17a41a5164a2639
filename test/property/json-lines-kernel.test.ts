/** Records of JSON Lines, as the tools write them or not, split by the kernel: what `JSON.parse` has of them, wherever a piece ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonForm } from '../../src/targets/files/folder/text-tables.ts';
import type { ColumnType } from '../../src/engine/model/relational-model.ts';
import { splitJsonLines } from '../../src/engine/records/json-lines.ts';
import { createRecordsKernel, literalBytes, memberHead } from '../../src/engine/records/kernel/instance.ts';
import type { Piece, RecordPlan, SplitRecords } from '../../src/engine/records/split.ts';
import { SpareBuffers } from '../../src/engine/spare-buffers.ts';
import { cellText } from '../../src/engine/unshred/rows/values.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

const kernel = createRecordsKernel()!;
const buffers = new SpareBuffers();

const types: readonly (ColumnType | undefined)[] = [
  undefined,
  { kind: 'text' },
  { kind: 'boolean' },
  { kind: 'double' },
  { kind: 'text', list: true },
  { kind: 'double', list: true },
];

/** What texts are made of, and how JSON has it. */
const texts: readonly (readonly [text: string, written: readonly string[]])[] = [
  ['plain', ['plain']],
  ['"', ['\\"', '\\u0022']],
  ['\\', ['\\\\', '\\u005C']],
  ['/', ['/', '\\/']],
  ['\n', ['\\n', '\\u000a']],
  ['\r', ['\\r']],
  ['\t', ['\\t', '\\u0009']],
  ['\b\f', ['\\b\\f']],
  ['\u0001\u007f', ['\\u0001\u007f']],
  ['ä€', ['ä€', '\\u00e4\\u20AC']],
  ['😀', ['😀', '\\ud83d\\uDE00']],
  [' {"a":1},', [' {\\"a\\":1},']],
  ['-Infinity', ['-Infinity']],
  ['Infinity', ['Infinity']],
  ['a value of more than sixteen bytes', ['a value of more than sixteen bytes']],
];
const anyString = fc
  .array(
    fc
      .tuple(fc.constantFrom(...texts), fc.nat({ max: 1 }))
      .map(([[text, written], at]) => [text, written[at % written.length]!] as const),
    { maxLength: 4 },
  )
  .map((parts) => ({
    text: parts.map(([text]) => text).join(''),
    json: `"${parts.map(([, written]) => written).join('')}"`,
  }));
const literal = fc
  .constantFrom('0', '-0', '12.50', '1e-400', '-1.5E+10', '12345678901234567890.10', 'true', 'false')
  .map((text) => ({ text, json: text }));
const item = fc.oneof(anyString, literal);
const list = fc.array(item, { maxLength: 4 }).map((items) => ({
  text: items.map(({ text }) => text).join(' '),
  items: items.map(({ text }) => text),
  json: `[${items.map(({ json }) => json).join(',')}]`,
}));
interface Value {
  readonly text: string | null;
  /** of an array */
  readonly items?: readonly string[];
  readonly json: string;
}

const value: fc.Arbitrary<Value> = fc.oneof(item, list, fc.constant({ text: null, json: 'null' }));
const name = fc.constantFrom(
  'a',
  'a_key',
  'größe',
  'with "quotes"',
  'constructor',
  '__proto__',
  'n'.repeat(40),
);

interface Case {
  readonly plan: RecordPlan;
  readonly types: readonly (ColumnType | undefined)[];
  readonly rows: readonly (readonly Value[])[];
  readonly room: number;
}

const cases: fc.Arbitrary<Case> = fc.uniqueArray(name, { minLength: 1, maxLength: 5 }).chain((names) => {
  const each = { minLength: names.length, maxLength: names.length };
  return fc
    .record({
      types: fc.array(fc.constantFrom(...types), each),
      asked: fc.array(fc.boolean(), each),
      more: fc.integer({ min: 0, max: 2 }),
      rows: fc.array(fc.array(value, each), { maxLength: 20 }),
      room: fc.constantFrom(1, 64, 5000),
    })
    .map(({ types: ofFields, asked, more, rows, room }) => {
      let next = more > 1 ? 1 : 0;
      const columns = asked.map((isAsked) => (isAsked ? next++ : -1));
      const forms = ofFields.map(jsonForm);
      const heads = names.map(memberHead);
      const plan = { format: 'jsonl' as const, names, heads, columns, forms, width: next + more };
      return { plan, types: ofFields, rows, room };
    });
});

const lineOf = (names: readonly string[], row: readonly { readonly json: string }[]): string =>
  `{${names.map((member, field) => `${JSON.stringify(member)}:${row[field]!.json}`).join(',')}}\n`;

function valuesOf({ block }: SplitRecords, { plan }: Case): (string | null)[][] {
  const { bytes, cells, rows } = block;
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: plan.width }, (__, column) =>
      cellText({ bytes, cells, at: row * plan.width * 2 }, column),
    ),
  );
}

/** An infinity of XSD. */
function infinityOf(item: string): string {
  return /^-?Infinity$/.test(item) ? item.replace('Infinity', 'INF') : item;
}

function expectedOf({ plan, types: ofFields, rows }: Case): (string | null)[][] {
  return rows.map((row) => {
    const cells = Array.from<string | null>({ length: plan.width }).fill(null);
    for (const [field, { text, items }] of row.entries()) {
      const column = plan.columns[field]!;
      if (column < 0) continue;
      const { kind, list = false } = ofFields[field] ?? {};
      // what stands in place of a list, or of one value, is none
      const isFloat = kind === 'double' && list === (items !== undefined);
      cells[column] = !isFloat || text === null ? text : (items ?? [text]).map(infinityOf).join(' ');
    }
    return cells;
  });
}

function pieceOf(whole: Uint8Array, length: number, rows: number): Piece {
  const room = new Uint8Array(length + literalBytes);
  room.set(whole.subarray(0, length));
  return { bytes: room.subarray(0, length), hasHeader: false, rows };
}

describe('the kernel for JSON Lines', { timeout: propertyTimeoutMs }, () => {
  it('has every value that was written, wherever the piece ends', async () => {
    await holds(
      cases,
      (own) => {
        const { plan, rows, room } = own;
        const expected = expectedOf(own);
        const ends = [0];
        const encoder = new TextEncoder();
        for (const row of rows) ends.push(ends.at(-1)! + encoder.encode(lineOf(plan.names, row)).length);
        const whole = encoder.encode(rows.map((row) => lineOf(plan.names, row)).join(''));
        const step = Math.max(1, Math.floor(whole.length / 12));
        for (let length = whole.length; length >= 0; length -= length < 24 ? 1 : step) {
          const count = ends.findLastIndex((end) => end <= length);
          const piece = pieceOf(whole, length, room);
          const split = kernel.split(piece, plan, buffers);
          expect(split).toMatchObject({ fault: null, count, end: ends[count] });
          expect(valuesOf(split, own)).toEqual(expected.slice(0, count));
          // what is left is read again, before what comes next
          expect(piece.bytes.subarray(split.end)).toEqual(whole.subarray(split.end, length));
          const other = splitJsonLines(pieceOf(whole, length, room), plan, buffers);
          expect(other).toMatchObject({ fault: null, count, end: ends[count] });
          expect(valuesOf(other, own)).toEqual(expected.slice(0, count));
        }
      },
      { runs: 1000 },
    );
  });

  it('takes nothing that JSON.parse does not take', async () => {
    const pieces = [
      '{',
      '}',
      '"',
      ',',
      ':',
      '[',
      ']',
      '"a"',
      '{"a":',
      ',"b":',
      '1',
      '01',
      '-',
      '.',
      'e',
      '+',
      '\t',
      ' ',
    ];
    const more = [
      'null',
      'true',
      'falsy',
      'nul',
      '\\',
      '\\u',
      '\\ud83d',
      '\\x',
      'ä',
      '\u0001',
      '}\n',
      '{"a":1,"b":"x"}\n',
    ];
    let taken = 0;
    await holds(
      fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 12 }).map((parts) => `${parts.join('')}\n`),
      (text) => {
        const plan = {
          format: 'jsonl' as const,
          names: ['a', 'b'],
          heads: ['a', 'b'].map(memberHead),
          columns: [0, 1],
          forms: [0, 0],
          width: 2,
        };
        const own: Case = { plan, types: [], rows: [], room: 4 };
        const whole = new TextEncoder().encode(text);
        const split = kernel.split(pieceOf(whole, whole.length, 4), plan, buffers);
        const expected = splitJsonLines(pieceOf(whole, whole.length, 4), plan, buffers);
        // what the kernel leaves is not for it to judge
        const known = valuesOf(split, own);
        expect(valuesOf(expected, own).slice(0, known.length)).toEqual(known);
        expect(split.count).toBeLessThanOrEqual(expected.count);
        taken += known.length;
      },
      { runs: 20_000 },
    );
    expect(taken).toBeGreaterThan(0);
  });
});
