/** Values of fields as rules compare them: in the form that all spellings of a value have in common (XSD Part 2 §4.2.1). */
import type { Column } from '../model/relational-model.ts';
import type { BuiltInType } from '../model/source-model.ts';
import type { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { utf8Text } from '../xml/utf8.ts';

const utf8 = new TextEncoder();

/** every spelling is a different value */
const AS_WRITTEN = 0;
/** white space is collapsed */
const COLLAPSED = 1;
/** numbers: digits alone, without a zero before them, are compared as they are */
const DIGITS = 2;
const OTHERS = 3;

/** a double does not print longer numbers in full */
const mostDigits = 15;

/** The form in which the values of a field are compared. */
export interface ComparedAs {
  /** undefined: the value has no column */
  readonly column: Column | undefined;
  readonly form: number;
}

const preserved: ReadonlySet<BuiltInType> = new Set(['string', 'anySimpleType', 'normalizedString']);

export function comparedAs(column: Column | undefined): ComparedAs {
  return { column, form: formOf(column) };
}

function formOf(column: Column | undefined): number {
  if (column?.sourceType != null && preserved.has(column.sourceType)) return AS_WRITTEN;
  if (column?.type.list === true) return COLLAPSED;
  switch (column?.type.kind) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return DIGITS;
    case 'boolean':
    case 'timestamptz':
    case 'timestamp':
    case 'time':
      return OTHERS;
    default:
      return COLLAPSED;
  }
}

/** Appends the value that `source` has from `start` to `end`, in UTF-8, as it is compared. */
export function pushCompared(
  { column, form }: ComparedAs,
  source: Uint8Array,
  start: number,
  end: number,
  out: ByteBuffer,
): void {
  if (
    form === AS_WRITTEN ||
    (form === COLLAPSED && isCollapsed(source, start, end)) ||
    (form === DIGITS && isPlainNumber(source, start, end))
  ) {
    out.push(source, start, end);
    return;
  }
  const value = utf8.encode(comparable(column, utf8Text(source.subarray(start, end))));
  out.push(value, 0, value.length);
}

/** True if the text is certainly collapsed. Text that begins or ends with characters other than ASCII is checked as a string. */
function isCollapsed(source: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  if (source[start]! >= 0x80 || source[end - 1]! >= 0x80) return false;
  let before = 0x20;
  for (let at = start; at < end; at += 1) {
    const byte = source[at]!;
    if (byte <= 0x20 && (byte !== 0x20 || before === 0x20)) return false;
    before = byte;
  }
  return before !== 0x20;
}

function isPlainNumber(source: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > mostDigits || (length > 1 && source[start] === 0x30)) return false;
  for (let at = start; at < end; at += 1) if (source[at]! < 0x30 || source[at]! > 0x39) return false;
  return true;
}

/** Values are compared, not spellings: 01 is 1, 1.50 is 1.5. */
function comparable(column: Column | undefined, text: string): string {
  const collapsed = text.replaceAll(/[ \t\r\n]+/g, ' ').trim();
  switch (column?.type.list === true ? 'text' : column?.type.kind) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric': {
      const match = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(collapsed);
      if (match === null) return collapsed;
      const [, sign, whole, fraction = ''] = match;
      const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
      return sign === '-' && digits !== '0' ? `-${digits}` : digits;
    }
    case 'boolean':
      return { 1: 'true', 0: 'false' }[collapsed] ?? collapsed;
    case 'real':
    case 'double':
      return /^[-+.\d]/.test(collapsed) ? String(Number(collapsed)) : collapsed;
    case 'timestamptz':
    case 'timestamp':
    case 'time':
      return collapsed.replace(/(?<=:\d\d)\.0+(?!\d)|(?<=\.\d*[1-9])0+(?!\d)/, '').replace(/[+-]00:00$/, 'Z');
    default:
      return collapsed;
  }
}
