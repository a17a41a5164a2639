/** Cells of rows in COPY text, read by the kernel for columns: what `BigInt`, `Date` and texts have of them, however many digits there are. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ColumnsKernel, ColumnsMemory, type ReadKind } from '../../src/engine/parquet/kernel/instance.ts';
import * as layout from '../../src/engine/parquet/kernel/layout.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

const maxCells = 40;
const runs = 800;
const kernel = new ColumnsKernel(
  { columns: 1, rows: maxCells, textBytes: 1024 * maxCells },
  new ColumnsMemory(),
);
const scale = 6;
const dayMs = 86_400_000;

const anyDigits = fc.stringMatching(/^[0-9]{1,12}$/);
const sign = fc.constantFrom('', '-', '+');
const whole = fc.tuple(sign, fc.stringMatching(/^[0-9]{1,18}$/)).map(([minus, digits]) => minus + digits);
const decimal = fc
  .tuple(sign, anyDigits, fc.stringMatching(/^[0-9]{0,6}$/), fc.boolean())
  .map(([minus, before, after, hasPoint]) => minus + before + (hasPoint ? `.${after}` : ''));
const instant = fc.date({
  min: new Date('0000-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
});
const escaped = [
  ['a', 'a'],
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['東京', '東京'],
  ['more than sixteen bytes', 'more than sixteen bytes'],
] as const;
const text = fc.array(fc.constantFrom(...escaped), { maxLength: 8 }).map((parts) => ({
  text: parts.map(([part]) => part).join(''),
  cell: parts.map(([, part]) => part).join(''),
}));

function column<T>(cell: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[]> {
  return fc.array(fc.option(cell, { freq: 6 }), { minLength: 1, maxLength: maxCells });
}

/** Reads the cells, of which null is NULL; answers how many are not, or null where one of them does not fit. */
function read(cells: readonly (string | null)[], kind: ReadKind, digits = 0): number | null {
  const bytes = new TextEncoder().encode(cells.map((cell) => `${cell ?? '\\N'}\n`).join(''));
  kernel.text.set(bytes);
  kernel.split(0, bytes.length, 0);
  return kernel.read(0, cells.length, kind, digits, 0) ? kernel.result(layout.COUNT) : null;
}

function wholeValues(count: number | null, width: 4 | 8): bigint[] {
  return Array.from({ length: count ?? 0 }, (_, at) =>
    width === 4
      ? BigInt(kernel.view.getInt32(kernel.values + at * 4, true))
      : kernel.view.getBigInt64(kernel.values + at * 8, true),
  );
}

/** As a whole number of millionths. */
function millionths(cell: string): bigint {
  const [before, after = ''] = cell.replace(/^[+-]/, '').split('.');
  const value = BigInt(before! + after.padEnd(scale, '0'));
  return cell.startsWith('-') ? -value : value;
}

function present<T>(cells: readonly (T | null)[]): T[] {
  return cells.filter((cell) => cell !== null);
}

describe('cells become values', { timeout: propertyTimeoutMs }, () => {
  it('whole numbers', () => {
    return holds(
      column(whole),
      (cells) => {
        const values = wholeValues(read(cells, layout.READ_INT64), 8);
        expect(values).toEqual(present(cells).map((cell) => BigInt(cell.replace('+', ''))));
      },
      { runs },
    );
  });

  it('decimals', () => {
    return holds(
      column(decimal),
      (cells) => {
        const values = wholeValues(read(cells, layout.READ_INT64, scale), 8);
        expect(values).toEqual(present(cells).map(millionths));
      },
      { runs },
    );
  });

  it('dates', () => {
    return holds(
      column(instant),
      (cells) => {
        const dates = cells.map((cell) => cell?.toISOString().slice(0, 10) ?? null);
        const values = wholeValues(read(dates, layout.READ_DATE), 4);
        expect(values).toEqual(present(cells).map((cell) => BigInt(Math.floor(cell.getTime() / dayMs))));
      },
      { runs },
    );
  });

  it('instants', () => {
    return holds(
      column(instant),
      (cells) => {
        const instants = cells.map((cell) => cell?.toISOString() ?? null);
        const values = wholeValues(read(instants, layout.READ_TIMESTAMP), 8);
        expect(values).toEqual(present(cells).map((cell) => BigInt(cell.getTime()) * 1000n));
      },
      { runs },
    );
  });

  it('truth values', () => {
    return holds(
      column(fc.constantFrom('true', 'false', 't', 'f')),
      (cells) => {
        const values = wholeValues(read(cells, layout.READ_BOOLEAN), 4);
        expect(values).toEqual(present(cells).map((cell) => (cell.startsWith('t') ? 1n : 0n)));
      },
      { runs },
    );
  });

  it('texts, with the least and the greatest of them', () => {
    return holds(
      column(text),
      (cells) => {
        const count = read(
          cells.map((cell) => cell?.cell ?? null),
          layout.READ_TEXT_APART,
        );
        const texts = present(cells).map((cell) => Buffer.from(cell.text));
        expect(count).toBe(texts.length);
        const end = kernel.result(layout.VALUES_END);
        expect(Buffer.from(kernel.bytes([kernel.values, end]))).toEqual(Buffer.concat(texts));
        if (texts.length === 0) return;
        const ordered = texts.toSorted(Buffer.compare);
        expect(bound(layout.LEAST_AT, layout.LEAST_LENGTH)).toEqual(ordered[0]);
        expect(bound(layout.GREATEST_AT, layout.GREATEST_LENGTH)).toEqual(ordered.at(-1));
      },
      { runs },
    );
  });

  it.each(['1.2.3', '-', '--1', '1-', '1 ', '12345678x', '1234567890123456x', '\\'])(
    '%s is no number',
    (cell) => {
      expect(read([cell], layout.READ_INT64, scale)).toBeNull();
      expect(read([cell], layout.READ_INT64)).toBeNull();
    },
  );

  it.each(['2020/01-01', '2020-01-0x', '2020-01-011', '2020-01'])('%s is no date', (cell) => {
    expect(read([cell], layout.READ_DATE)).toBeNull();
  });
});

function bound(at: number, length: number): Buffer {
  const from = kernel.result(at);
  return Buffer.from(kernel.bytes([from, from + kernel.result(length)]));
}
