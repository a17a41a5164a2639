/** Columns of every type with values at the ends of what they hold, written as Parquet and, beside it, read by DuckDB from CSV. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ByteBuffer } from '../../../src/engine/shred/byte-buffer.ts';
import { rowEncoderFor, type EncodingName } from '../../../src/engine/shred/row-output.ts';
import type { ColumnType } from '../../../src/engine/model/relational-model.ts';
import {
  writeParquet,
  type ParquetFile,
  type ParquetTable,
} from '../../../src/targets/files/parquet/writing.ts';

export interface StagedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** as in rows: booleans as words, lists as literals */
  readonly values: readonly (string | null)[];
}

export function encodedRows(columns: readonly StagedColumn[], encoding: EncodingName): Uint8Array {
  const encoder = rowEncoderFor(encoding);
  const out = new ByteBuffer(1024);
  for (let row = 0; row < columns[0]!.values.length; row += 1) {
    for (const [at, { values }] of columns.entries()) {
      if (at > 0) out.pushByte(encoder.separator);
      const value = values[row] ?? null;
      if (value === null) encoder.pushNull(out);
      else {
        const bytes = new TextEncoder().encode(value);
        encoder.pushText(out, bytes, 0, bytes.length);
      }
    }
    out.pushByte(10);
  }
  return out.take();
}

/** Writes a table of these columns as `NAME.parquet`. */
export async function writeColumns(
  directory: string,
  name: string,
  columns: readonly StagedColumn[],
  more: Partial<ParquetTable> = {},
  deltas = true,
): Promise<ParquetFile> {
  const rows = encodedRows(columns, 'words');
  const fileName = `${name}.parquet`;
  await writeFile(join(directory, fileName), rows);
  const file = {
    name: fileName,
    rows: columns[0]!.values.length,
    bytes: rows.length,
    sha256: '',
    longestWriteBytes: longestLine(rows),
  };
  const [written] = await writeParquet(directory, [{ columns, widened: new Map(), file, ...more }], {
    deltas,
  });
  return written!;
}

function longestLine(rows: Uint8Array): number {
  let longest = 0;
  let start = 0;
  for (let at = 0; at < rows.length; at += 1) {
    if (rows[at] !== 10) continue;
    longest = Math.max(longest, at + 1 - start);
    start = at + 1;
  }
  return longest;
}

const numeric = (precision?: number, scale?: number): ColumnType =>
  precision === undefined ? { kind: 'numeric' } : { kind: 'numeric', precision, scale: scale ?? 0 };

const nines = (count: number): string => '9'.repeat(count);

/** Values of each type that every column of it must keep; NULL stands among them. */
export const extremes: readonly StagedColumn[] = [
  {
    name: 'smallint',
    type: { kind: 'smallint' },
    values: ['0', '-1', '32767', '-32768', null, '7'],
  },
  {
    name: 'integer',
    type: { kind: 'integer' },
    values: ['0', '2147483647', '-2147483648', '12345678', '-123456789', null],
  },
  {
    name: 'bigint',
    type: { kind: 'bigint' },
    values: [
      '9223372036854775807',
      '-9223372036854775808',
      '0',
      '1234567890123456',
      null,
      '12345678901234567',
    ],
  },
  {
    name: 'decimal9',
    type: numeric(9, 2),
    values: ['9999999.99', '-9999999.99', '.5', '5.', '-0', '007.10', null],
  },
  {
    name: 'decimal18',
    type: numeric(18, 6),
    values: ['999999999999.999999', '-999999999999.999999', '0.000001', '-.000001', '1.50000000000', null],
  },
  {
    name: 'decimal38',
    type: numeric(38, 10),
    values: [`${nines(28)}.${nines(10)}`, `-${nines(28)}.${nines(10)}`, '0.0000000001', '-1', '1.10', null],
  },
  {
    name: 'decimal38whole',
    type: numeric(38, 0),
    values: [nines(38), `-${nines(38)}`, '0', '18446744073709551616', '-18446744073709551615', '10', null],
  },
  {
    name: 'decimal38fraction',
    type: numeric(38, 38),
    values: [`0.${nines(38)}`, `-.${nines(38)}`, '0', null],
  },
  {
    name: 'numeric',
    type: numeric(),
    values: [
      `${nines(20)}.${nines(18)}`,
      `-${nines(20)}.5`,
      '0.000000000000000001',
      '12.5',
      '-3',
      '000',
      null,
    ],
  },
  {
    name: 'boolean',
    type: { kind: 'boolean' },
    values: ['true', 'false', null, 'true', 'true', 'false', 'false'],
  },
  {
    name: 'date',
    type: { kind: 'date' },
    values: ['0001-01-01', '9999-12-31', '1969-12-31', '1970-01-01', '2000-02-29', '1900-03-01', null],
  },
  {
    name: 'time',
    type: { kind: 'time' },
    values: [
      '00:00:00',
      '23:59:59.999999',
      '23:59:59.9999995',
      '12:30:15.1234564',
      '01:02:03.5',
      '24:00:00',
      null,
    ],
  },
  {
    name: 'timestamp',
    type: { kind: 'timestamp' },
    values: [
      '0001-01-01T00:00:00',
      '9999-12-31T23:59:59.999999',
      '1969-12-31T23:59:59.9999995',
      '2026-02-28T24:00:00',
      '2024-02-29T12:00:00.123456789',
      null,
    ],
  },
  {
    name: 'timestamptz',
    type: { kind: 'timestamptz' },
    values: [
      '0001-01-01T14:00:00Z',
      '9999-12-31T23:59:59.5Z',
      '2026-01-01T00:30:00+01:00',
      '1969-12-31T19:00:00.25-05:00',
      '2026-01-01T00:00:00.1234567+05:45',
      null,
    ],
  },
  {
    name: 'real',
    type: { kind: 'real' },
    values: [
      '0',
      '-0',
      '36.6',
      '3.4028234e38',
      '1.17549435E-38',
      '16777217',
      '0.1',
      'NaN',
      'Infinity',
      '-Infinity',
      null,
    ],
  },
  {
    name: 'double',
    type: { kind: 'double' },
    values: [
      '-0',
      '0.1',
      '1.7976931348623157E308',
      '2.2250738585072014e-308',
      '9007199254740993',
      '.5',
      '5.',
      '+2',
      null,
    ],
  },
  { name: 'infinite', type: { kind: 'double' }, values: ['Infinity', '-Infinity', '1', null] },
  { name: 'nan', type: { kind: 'double' }, values: ['NaN', '1', '-1', null] },
  {
    name: 'text',
    type: { kind: 'text' },
    values: [
      '',
      '\\N',
      'tab\there',
      'line\nfeed\r',
      'back\\slash\\',
      '😀é',
      '\\t',
      ' ',
      `"'`,
      null,
      'a'.repeat(70),
    ],
  },
  { name: 'empty', type: { kind: 'text' }, values: [null] },
  {
    name: 'integers',
    type: { kind: 'integer', list: true },
    values: ['{1,2,-3}', '{}', null, '{2147483647}'],
  },
  {
    name: 'texts',
    type: { kind: 'text', list: true },
    values: ['{"a","b c","\\"quoted\\"","back\\\\slash",",","{}"}', '{}', null, '{""}', '{"NULL","\\\\N"}'],
  },
  { name: 'numerics', type: { kind: 'numeric', list: true }, values: ['{1.5,-2,.25}', null, '{0}'] },
  { name: 'booleans', type: { kind: 'boolean', list: true }, values: ['{t,f,t}', '{}', null] },
  { name: 'dates', type: { kind: 'date', list: true }, values: ['{0001-01-01,9999-12-31}', null, '{}'] },
  {
    name: 'instants',
    type: { kind: 'timestamptz', list: true },
    values: ['{2026-01-01T00:00:00Z,2026-01-01T00:00:00+02:00}', null],
  },
];

/** So many rows of such columns, each going through its values at its own pace. */
export function repeated(columns: readonly StagedColumn[], rows: number): StagedColumn[] {
  return columns.map(({ values, ...column }) => ({
    ...column,
    values: Array.from({ length: rows }, (_, row) => values[(row * 7 + (row >> 9)) % values.length]!),
  }));
}
