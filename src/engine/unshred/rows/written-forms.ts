/**
 * Writes values in the form that their XSD type requires (`Column.writtenAs`), whatever form the target prints, so that documents from
 * every target are valid.
 */
import type { Column, WrittenForm } from '../../model/relational-model.ts';
import type { RowColumn } from '../../model/wide-rows.ts';
import type { SpareBuffers } from '../../spare-buffers.ts';
import { utf8Text } from '../../xml/utf8.ts';
import type { RowBlock, RowBlocks } from './document-rows.ts';
import { copyWithRoom, RewrittenBlocks } from './rewritten.ts';

/** `columns`: of a row. */
export function withWrittenForms(blocks: RowBlocks, columns: readonly RowColumn[]): RowBlocks {
  const forms = columns.flatMap(({ column }, at): CellForm[] => {
    const form = formOfColumn(column);
    return form === null ? [] : [{ cell: at * 2, form }];
  });
  if (forms.length === 0) return blocks;
  return new RewrittenBlocks(blocks, (block, buffers) => inForms(block, forms, columns.length * 2, buffers));
}

/** A form of values, which are bytes from `from` up to `to`. */
interface ValueForm {
  /** True if the value is already in the form, or cannot be written in it. */
  isKept(bytes: Uint8Array, from: number, to: number): boolean;
  /** Bytes that a value of that length has at most. */
  longest(length: number): number;
  /** Writes another value in the form at `out`, in the same bytes, and returns its end. */
  write(bytes: Uint8Array, from: number, to: number, out: number): number;
}

interface CellForm {
  /** index, within the row's cells, of the start of the value */
  readonly cell: number;
  readonly form: ValueForm;
}

function inForms(
  block: RowBlock,
  forms: readonly CellForm[],
  width: number,
  buffers: SpareBuffers,
): RowBlock {
  const { bytes: own, cells, rows } = block;
  const last = rows * width;
  let room = 0;
  for (const { cell, form } of forms)
    for (let at = cell; at < last; at += width) {
      const [from, to] = [cells[at]!, cells[at + 1]!];
      if (from >= 0 && !form.isKept(own, from, to)) room += form.longest(to - from);
    }
  if (room === 0) return block;
  const written = copyWithRoom(block, room, buffers);
  let end = own.length;
  for (const { cell, form } of forms)
    for (let at = cell; at < last; at += width) {
      const [from, to] = [cells[at]!, cells[at + 1]!];
      if (from < 0 || form.isKept(own, from, to)) continue;
      written.cells[at] = end;
      end = form.write(written.bytes, from, to, end);
      written.cells[at + 1] = end;
    }
  return { ...written, bytes: written.bytes.subarray(0, end) };
}

function formOfColumn(column: Column): ValueForm | null {
  const { type, constraint } = column;
  const ofItem = formOf(column);
  const form = ofItem !== null && type.list === true ? new ListForm(ofItem) : ofItem;
  return constraint?.kind === 'fixed' && type.kind !== 'text' ? new FixedForm(constraint.value, form) : form;
}

function formOf({ type: { kind }, writtenAs }: Column): ValueForm | null {
  if (writtenAs === undefined) return null;
  switch (kind) {
    case 'boolean':
      return writtenAs.digits === true ? flagDigits : null;
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return new NumberForm(writtenAs);
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return new SecondForm(writtenAs);
    case 'date':
    case 'text':
      return null;
  }
}

const [blank, minus, point, zero, nine, colon] = [0x20, 0x2d, 0x2e, 0x30, 0x39, 0x3a];
const [letterF, letterT] = [0x66, 0x74];

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

function putZeros(bytes: Uint8Array, out: number, count: number): number {
  for (let at = 0; at < count; at += 1) bytes[out + at] = zero;
  return out + Math.max(0, count);
}

function put(bytes: Uint8Array, from: number, to: number, out: number): number {
  bytes.copyWithin(out, from, to);
  return out + to - from;
}

const flagDigits: ValueForm = {
  isKept: (bytes, from, to) =>
    !(to - from === 4 && bytes[from] === letterT) && !(to - from === 5 && bytes[from] === letterF),
  longest: () => 1,
  write(bytes, from, _to, out) {
    bytes[out] = bytes[from] === letterT ? zero + 1 : zero;
    return out + 1;
  },
};

/** Digits after a point, which may be missing. */
class Fraction {
  readonly least: number;

  constructor({ fraction = 0 }: WrittenForm) {
    this.least = fraction;
  }

  /** `from`: of the point. */
  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const digits = to - from - 1;
    if (from === to) return this.least === 0;
    return digits > 0 && (digits === this.least || (digits > this.least && bytes[to - 1] !== zero));
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    let end = to;
    while (end - from - 1 > this.least && bytes[end - 1] === zero) end -= 1;
    const digits = Math.max(0, end - from - 1);
    if (digits === 0 && this.least === 0) return out;
    bytes[out] = point;
    return putZeros(bytes, put(bytes, from + 1, from + 1 + digits, out + 1), this.least - digits);
  }
}

class NumberForm implements ValueForm {
  readonly #whole: number;
  readonly #fraction: Fraction;

  constructor(form: WrittenForm) {
    this.#whole = form.whole ?? 1;
    this.#fraction = new Fraction(form);
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const first = bytes[from] === minus ? from + 1 : from;
    let at = -1;
    for (let place = first; place < to; place += 1) {
      if (bytes[place] === point && at < 0) at = place;
      // text, or a number with an exponent
      else if (!isDigit(bytes[place])) return true;
    }
    if (first === to || (at === first && to - first === 1)) return true;
    if (at < 0) at = to;
    return at - first >= this.#whole && this.#fraction.isKept(bytes, at, to);
  }

  longest(length: number): number {
    return length + this.#whole + this.#fraction.least + 1;
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    const first = bytes[from] === minus ? from + 1 : from;
    let at = first;
    while (at < to && bytes[at] !== point) at += 1;
    let end = put(bytes, from, first, out);
    end = putZeros(bytes, end, this.#whole - (at - first));
    return this.#fraction.write(bytes, at, to, put(bytes, first, at, end));
  }
}

/** The form of the digits of a second in a time, or in a date with a time. */
class SecondForm implements ValueForm {
  readonly #fraction: Fraction;

  constructor(form: WrittenForm) {
    this.#fraction = new Fraction(form);
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    const at = this.#secondEnd(bytes, from, to);
    return at < 0 || this.#fraction.isKept(bytes, at, this.#fractionEnd(bytes, at, to));
  }

  longest(length: number): number {
    return length + this.#fraction.least + 1;
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    const at = this.#secondEnd(bytes, from, to);
    const end = this.#fractionEnd(bytes, at, to);
    const written = this.#fraction.write(bytes, at, end, put(bytes, from, at, out));
    return put(bytes, end, to, written);
  }

  /** -1: the text is no time */
  #secondEnd(bytes: Uint8Array, from: number, to: number): number {
    // years of more than four digits are text
    const at = from + (bytes[from + 2] === colon ? 2 : 13);
    const isTime =
      bytes[at] === colon &&
      at + 6 <= to &&
      bytes[at + 3] === colon &&
      isDigit(bytes[at + 4]) &&
      isDigit(bytes[at + 5]);
    return isTime ? at + 6 : -1;
  }

  #fractionEnd(bytes: Uint8Array, at: number, to: number): number {
    if (bytes[at] !== point || at === to) return at;
    let end = at + 1;
    while (end < to && isDigit(bytes[end])) end += 1;
    return end;
  }
}

/** The one value that the XSD allows, as it is written there: validators compare texts. Another value, of a document that is not valid, keeps its own form. */
class FixedForm implements ValueForm {
  readonly #fixed: Uint8Array;
  readonly #value: string;
  readonly #others: ValueForm | null;

  constructor(fixed: string, others: ValueForm | null) {
    const text = fixed.trim();
    this.#fixed = new TextEncoder().encode(text);
    this.#value = canonicalItems(text);
    this.#others = others;
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.#isFixed(bytes, from, to)) return this.#others?.isKept(bytes, from, to) ?? true;
    return to - from === this.#fixed.length && this.#fixed.every((byte, at) => bytes[from + at] === byte);
  }

  longest(length: number): number {
    return Math.max(this.#fixed.length, this.#others?.longest(length) ?? 0);
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    if (!this.#isFixed(bytes, from, to)) return this.#others!.write(bytes, from, to, out);
    bytes.set(this.#fixed, out);
    return out + this.#fixed.length;
  }

  #isFixed(bytes: Uint8Array, from: number, to: number): boolean {
    return canonicalItems(utf8Text(bytes.subarray(from, to))) === this.#value;
  }
}

/**
 * Returns a canonical text for a value, or for the items of a list, so that equal values have equal texts. Values that are neither
 * numbers nor flags stay unchanged.
 */
function canonicalItems(text: string): string {
  return text.split(/\s+/).map(canonicalItem).join(' ');
}

function canonicalItem(item: string): string {
  if (item === '1' || item === 'true') return '1';
  if (item === '0' || item === 'false') return '0';
  const decimal = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(item);
  if (decimal !== null && item !== '') {
    const [, sign, whole = '', fraction = ''] = decimal;
    const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
    return sign === '-' && digits !== '0' ? `-${digits}` : digits;
  }
  return /^[+-]?[\d.]+[eE][+-]?\d+$/.test(item) ? String(Number(item)) : item;
}

/** A list, with a blank between its items. */
class ListForm implements ValueForm {
  readonly #item: ValueForm;

  constructor(item: ValueForm) {
    this.#item = item;
  }

  isKept(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to;) {
      const end = this.#itemEnd(bytes, at, to);
      if (!this.#item.isKept(bytes, at, end)) return false;
      at = end + 1;
    }
    return true;
  }

  longest(length: number): number {
    return length * (this.#item.longest(1) + 1);
  }

  write(bytes: Uint8Array, from: number, to: number, out: number): number {
    let end = out;
    for (let at = from; at < to;) {
      const itemEnd = this.#itemEnd(bytes, at, to);
      const isKept = this.#item.isKept(bytes, at, itemEnd);
      end = isKept ? put(bytes, at, itemEnd, end) : this.#item.write(bytes, at, itemEnd, end);
      if (itemEnd < to) bytes[end++] = blank;
      at = itemEnd + 1;
    }
    return end;
  }

  #itemEnd(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && bytes[at] !== blank) at += 1;
    return at;
  }
}
