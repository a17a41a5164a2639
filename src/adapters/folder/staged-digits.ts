/** Digits that decimals of a staged file have, where they are more than their usual type holds. */
import { createReadStream } from 'node:fs';
import type { DecimalDigits } from '../duckdb/types.ts';
import type { NamedColumn } from './contents/formats.ts';

const TAB = 9;
const LF = 10;

/** Of those columns, lists among them: digits before and after the point that count. The file has rows in COPY text. */
export async function measureDigits(
  path: string,
  columns: readonly NamedColumn[],
  wanted: readonly number[],
): Promise<Map<number, DecimalDigits>> {
  const measured = new Map(wanted.map((at) => [at, { whole: 0, fraction: 0 }]));
  let column = 0;
  let field: Buffer[] = [];
  const note = (): void => {
    const digits = measured.get(column);
    if (digits !== undefined)
      for (const item of Buffer.concat(field)
        .toString('latin1')
        .matchAll(/[0-9.]+/g)) {
        const [whole = '', fraction = ''] = item[0].split('.');
        digits.whole = Math.max(digits.whole, whole.replace(/^0+/, '').length);
        digits.fraction = Math.max(digits.fraction, fraction.replace(/0+$/, '').length);
      }
    field = [];
    column = (column + 1) % columns.length;
  };
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      if (piece[at] !== TAB && piece[at] !== LF) continue;
      if (measured.has(column)) field.push(piece.subarray(from, at));
      note();
      from = at + 1;
    }
    if (measured.has(column)) field.push(piece.subarray(from));
  }
  return measured;
}
