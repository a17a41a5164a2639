/** Converts cells of rows to values of columns, and to names and bytes of documents. */
import { createHash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type { ColumnType } from '../../engine/model/relational-model.ts';
import type { QueryCell } from '../../ports/rows/query.ts';

/** Returns the value in the lexical form of XSD, which columns accept; bytes are base64. */
export function valueOf(type: ColumnType['kind'], cell: QueryCell): string | null {
  if (cell === null) return null;
  if (typeof cell !== 'string') return Buffer.from(cell).toString('base64');
  switch (type) {
    case 'timestamp':
      return cell.replace(' ', 'T');
    case 'timestamptz':
      return `${cell.replace(' ', 'T').replace(/(?:Z|[+]00(?::?00)?)$/, '')}Z`;
    case 'real':
    case 'double':
      return /nan/i.test(cell) ? 'NaN' : cell.replace(/inf(?:inity)?/i, 'INF');
    default:
      return cell;
  }
}

/** bytes of a name, the ending aside: as much as a file's name may have, and room for a document's number */
const longestName = 200;

/**
 * Returns a file name that distinguishes the row from others: `id=17,received_at=2026-11-25T08:00:00Z.xml`. Columns without a value are
 * left out; if none is left, the name is the row's number.
 */
export function nameOf(
  values: readonly (readonly [column: string, value: string | null])[],
  row: number,
): string {
  const parts = values.flatMap(([column, value]) =>
    value === null ? [] : [`${plain(column).replace(/^\./, '%2E').replaceAll(':', '%3A')}=${plain(value)}`],
  );
  return `${parts.length === 0 ? `row-${row}` : shortened(parts.join(','))}.xml`;
}

/** Replaces characters that paths, archives or messages interpret specially. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}%/\\#]/gu, (character) => encodeURIComponent(character));
}

/** Shortens a name; a hash distinguishes names that differ only in the part that was cut off. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  const kept = Buffer.from(name)
    .subarray(0, longestName - hash.length - 1)
    .toString();
  // a character that was cut in two
  return `${kept.replace(/\uFFFD+$/, '')}~${hash}`;
}

/**
 * Returns the bytes of a document. Text has no encoding, whatever it declares (XML 1.0, 4.3.3: external information takes precedence):
 * it is written as UTF-8, and the declaration is blanked, so that lines and columns stay. Bytes have the encoding that the document
 * declares.
 */
export function bytesOf(cell: string | Uint8Array): Uint8Array {
  if (typeof cell !== 'string') return cell;
  const declaration = /^\uFEFF?<\?xml\s[^>]*?\?>/.exec(cell)?.[0] ?? '';
  const blanked = declaration.replace(/\sencoding\s*=\s*(?:"[^"]*"|'[^']*')/, (found) =>
    ' '.repeat(found.length),
  );
  return Buffer.from(blanked + cell.slice(declaration.length));
}

/** The error for a row without a value in the column of `--after`. */
export function withoutValue(column: string, name: string): AppError {
  return new AppError(
    'unprocessable_input',
    `--after ${column}: the row ${name} has no value there: leave such rows out in the query, or name another column`,
  );
}
