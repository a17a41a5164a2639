/** The values of a row of staged text, read where they stand: whole numbers, of which most rows have many, are never text of their own. */
import { AppError } from '../../../errors.ts';
import { unescaped, type BoundValue, type Converter } from './staged-text.ts';

export interface ColumnReading {
  /** added to a whole number of few digits, which needs no converter; null: it is no column of such */
  readonly offset: number | null;
  /** for any other value but NULL */
  readonly convert: Converter;
}

const [tab, newline, backslash, zero, nine] = ['\t', '\n', '\\', '0', '9'].map((one) =>
  one.charCodeAt(0),
) as [number, number, number, number, number];

/** With an offset of as many digits, a number of so many digits is exact. */
const exactDigits = 15;

/**
 * Puts the values of the row that begins at `from` into `values`, from `into` on, and answers where the next row begins. `table`: what the
 * message calls it (AppError `unprocessable_input`) where the row has another number of values.
 */
export function readRow(
  text: string,
  from: number,
  columns: readonly ColumnReading[],
  values: BoundValue[],
  into: number,
  table: string,
): number {
  const last = columns.length - 1;
  let at = from;
  for (let column = 0; column <= last; column += 1) {
    const { offset, convert } = columns[column]!;
    const end = column === last ? newline : tab;
    const begin = at;
    let code = text.charCodeAt(at);
    if (offset !== null) {
      let number = 0;
      while (code >= zero && code <= nine) {
        number = number * 10 + (code - zero);
        code = text.charCodeAt((at += 1));
      }
      if (code === end && at > begin && at - begin <= exactDigits) {
        values[into + column] = number + offset;
        at += 1;
        continue;
      }
    }
    let isPlain = true;
    while (code !== tab && code !== newline) {
      if (code === backslash) isPlain = false;
      code = text.charCodeAt((at += 1));
    }
    if (code !== end) throw otherCount(text, from, columns.length, table);
    const field = isPlain ? text.slice(begin, at) : unescaped(text.slice(begin, at));
    values[into + column] = field === null ? null : convert(field);
    at += 1;
  }
  return at;
}

function otherCount(text: string, from: number, wanted: number, table: string): AppError {
  const found = text.slice(from, text.indexOf('\n', from)).split('\t').length;
  return new AppError('unprocessable_input', `${table}: a row has ${found} values, not ${wanted}`);
}
