/** Digits that decimals of a staged file have, where they are more than their usual type holds. */
import type { DecimalDigits } from '../../sql/duckdb/types.ts';
import type { NamedColumn } from './contents/table-columns.ts';

const TAB = 0x09;
const LF = 0x0a;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Of those columns, lists among them: digits before and after the point that count. `rows`: in COPY text, in pieces that begin anywhere. */
export async function measureDigits(
  rows: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  columns: readonly NamedColumn[],
  wanted: readonly number[],
): Promise<Map<number, DecimalDigits>> {
  const measures = new Map(wanted.map((at) => [at, new NumberMeasure()]));
  const byColumn = columns.map((_, at) => measures.get(at) ?? null);
  let column = 0;
  for await (const piece of rows) {
    for (let at = 0; at < piece.length; at += 1) {
      const measure = byColumn[column]!;
      at = measure === null ? endOfField(piece, at) : measure.take(piece, at);
      if (at < piece.length) column = (column + 1) % columns.length;
    }
  }
  return new Map([...measures].map(([at, { whole, fraction }]) => [at, { whole, fraction }]));
}

/** Where the field ends, or the piece. */
function endOfField(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== TAB && bytes[at] !== LF) at += 1;
  return at;
}

/** The numbers of one column, one byte after the other. */
class NumberMeasure implements DecimalDigits {
  whole = 0;
  fraction = 0;
  /** digits of the number so far that count, and those behind its point */
  #whole = 0;
  #behind = -1;
  #fraction = 0;

  /** Bytes of a field from there on; answers where it ends, or the piece. */
  take(bytes: Uint8Array, from: number): number {
    let [whole, behind, fraction] = [this.#whole, this.#behind, this.#fraction];
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte >= ZERO && byte <= NINE) {
        if (behind >= 0) {
          behind += 1;
          if (byte !== ZERO) fraction = behind;
        } else if (whole > 0 || byte !== ZERO) whole += 1;
        continue;
      }
      if (byte === POINT) {
        behind = 0;
        continue;
      }
      this.whole = Math.max(this.whole, whole);
      this.fraction = Math.max(this.fraction, fraction);
      [whole, behind, fraction] = [0, -1, 0];
      if (byte === TAB || byte === LF) break;
    }
    [this.#whole, this.#behind, this.#fraction] = [whole, behind, fraction];
    return at;
  }
}
