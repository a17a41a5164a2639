/** Records of CSV and TSV, well formed or not, split by the kernel: what TypeScript makes of them, wherever a piece ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typeDecoder, typeForm } from '../../src/targets/files/folder/text-tables.ts';
import { decoded } from '../../src/targets/rows/field-blocks.ts';
import type { ColumnType } from '../../src/engine/model/relational-model.ts';
import { createRecordsKernel, literalBytes } from '../../src/engine/records/kernel/instance.ts';
import {
  splitInTypeScript,
  type Piece,
  type RecordPlan,
  type SplitRecords,
} from '../../src/engine/records/split.ts';
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
  { kind: 'boolean', list: true },
];

/** What stands in files, and what may stand in files that others changed. */
const parts =
  '\t|\n|,|"|""|\\|\\N|\\t|\\n|\\r|\\\\|\r|\r\n|\0|| |t|f|true|Infinity|-Infinity|INF|{1,2}|{"a b","c\\"d"}|{t,f}|{|12.50|ä€😀|\u{feff}|a value of more than sixteen bytes'
    .split('|')
    .concat('x'.repeat(70));
const anyText = fc.array(fc.constantFrom(...parts), { maxLength: 60 }).map((texts) => texts.join(''));

const csvField = (value: string | null): string =>
  value === null ? '' : /^$|[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const tsvField = (value: string | null): string =>
  value === null
    ? '\\N'
    : value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

interface Case {
  readonly plan: RecordPlan;
  readonly types: readonly (ColumnType | undefined)[];
  readonly text: string;
  readonly hasHeader: boolean;
  readonly rows: number;
}

const value = fc.option(fc.array(fc.constantFrom(...parts), { maxLength: 3 }), { freq: 6 });
const wellFormed = (format: 'csv' | 'tsv', fields: number): fc.Arbitrary<string> =>
  fc.array(fc.array(value, { minLength: fields, maxLength: fields }), { maxLength: 30 }).map((rows) =>
    rows
      .map((row) =>
        row
          .map((texts) => texts?.join('') ?? null)
          .map(format === 'csv' ? csvField : tsvField)
          .join(format === 'csv' ? ',' : '\t'),
      )
      .map((line) => `${line}\n`)
      .join(''),
  );

const cases: fc.Arbitrary<Case> = fc
  .tuple(fc.constantFrom('csv' as const, 'tsv' as const), fc.integer({ min: 1, max: 5 }))
  .chain(([format, fields]) =>
    fc.record({
      format: fc.constant(format),
      types: fc.array(fc.constantFrom(...types), { minLength: fields, maxLength: fields }),
      asked: fc.array(fc.boolean(), { minLength: fields, maxLength: fields }),
      more: fc.integer({ min: 0, max: 2 }),
      text: fc.oneof(wellFormed(format, fields), anyText),
      hasHeader: fc.boolean(),
      rows: fc.constantFrom(1, 64, 5000),
    }),
  )
  .map(({ format, types: ofFields, asked, more, text, hasHeader, rows }) => {
    let next = more > 1 ? 1 : 0;
    const columns = asked.map((isAsked) => (isAsked ? next++ : -1));
    const plan = { format, names: [], heads: [], columns, forms: ofFields.map(typeForm), width: next + more };
    return { plan, types: ofFields, text, hasHeader, rows };
  });

/** What a reader of the rows is told. */
function toldOf({ block, end, count, fault, hasOthers }: SplitRecords, plan: RecordPlan, own: Case): unknown {
  if (fault !== null) return { count, fault };
  const decoders = own.types.map((type, field) => (hasOthers(field) ? typeDecoder(type) : null));
  const { bytes, cells, rows } = decoded(block, { columns: plan.columns, decoders, width: plan.width });
  const values = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: plan.width }, (__, column) =>
      cellText({ bytes, cells, at: row * plan.width * 2 }, column),
    ),
  );
  return { end, count, values };
}

function pieceOf(whole: Uint8Array, length: number, { hasHeader, rows }: Case): Piece {
  const room = new Uint8Array(length + literalBytes);
  room.set(whole.subarray(0, length));
  return { bytes: room.subarray(0, length), hasHeader, rows };
}

describe('the kernel for records', { timeout: propertyTimeoutMs }, () => {
  it('splits as TypeScript does, wherever the piece ends', async () => {
    let rows = 0;
    let faults = 0;
    await holds(
      cases,
      (own) => {
        const whole = new TextEncoder().encode(own.text);
        const step = Math.max(1, Math.floor(whole.length / 12));
        for (let length = whole.length; length >= 0; length -= length < 24 ? 1 : step) {
          const expected = splitInTypeScript(pieceOf(whole, length, own), own.plan, buffers);
          const piece = pieceOf(whole, length, own);
          const split = kernel.split(piece, own.plan, buffers);
          expect(toldOf(split, own.plan, own)).toEqual(toldOf(expected, own.plan, own));
          // what is left is read again, before what comes next
          if (split.fault === null)
            expect(piece.bytes.subarray(split.end)).toEqual(whole.subarray(split.end, length));
          rows += split.block.rows;
          faults += split.fault === null ? 0 : 1;
        }
      },
      { runs: 2000 },
    );
    expect(rows).toBeGreaterThan(0);
    expect(faults).toBeGreaterThan(0);
  });
});
