/** Values of XML Schema's lists as rows have them (`{1,2}`, `{"a","b"}`, in COPY text), cut into items, which are rows of a column of their own. */
import { withLength, type ColumnChunk } from './column-chunk.ts';
import type { ColumnsKernel } from './kernel/instance.ts';

const LF = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
const LARGE_I = 73;
const SMALL_F = 102;
const SMALL_T = 116;

/**
 * The item type of lists. Texts, and values that do not fit the type, are in quotes; truth values are `t` and `f`; floats may be
 * `Infinity`.
 */
export type ListItems = 'text' | 'truth' | 'float' | 'others';
/** The item type, or `no list` for the float values of a text column that are not a list (other values of the column are not floats). */
export type JoinedItems = ListItems | 'no list';

const [yes, no, infinity] = ['true', 'false', 'INF'].map((text) => new TextEncoder().encode(text)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const infinityInRows = new TextEncoder().encode('Infinity');
/** the factor by which lists of truth values are longer in the form of XML, at most */
export const xmlBooleanGrowth = 3;

/** True if a field is a list. False if it is a value that the column's type cannot hold. */
function isList(text: Uint8Array, start: number, end: number): boolean {
  return end - start >= 2 && text[start] === OPEN && text[end - 1] === CLOSE;
}

/** True if the items are in quotes: either all are, or none. */
function isQuoted(text: Uint8Array, start: number): boolean {
  return text[start + 1] === QUOTE;
}

/**
 * Writes the items of the list [start, end) at `at`, each before a `separator`, with their text in COPY text. The target must have room
 * for as many bytes as the list has. Returns their end, and reports each item.
 */
function writeItems(
  text: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  from: number,
  separator: number,
): { readonly end: number; readonly items: number } {
  let at = from;
  let items = 0;
  const last = end - 1;
  for (let i = start + 1; i < last;) {
    items += 1;
    if (text[i] !== QUOTE) {
      while (i < last && text[i] !== COMMA) target[at++] = text[i++]!;
      i += 1;
    } else {
      i += 1;
      while (i < last && text[i] !== QUOTE) {
        // COPY has doubled the backslash before quotes and backslashes
        const isEscaped = text[i] === BACKSLASH && text[i + 1] === BACKSLASH;
        if (isEscaped && text[i + 2] === QUOTE) {
          target[at++] = QUOTE;
          i += 3;
        } else if (isEscaped) {
          target[at++] = BACKSLASH;
          target[at++] = BACKSLASH;
          i += 4;
        } else target[at++] = text[i++]!;
      }
      i += 2;
    }
    target[at++] = separator;
  }
  return { end: at, items };
}

/** Does the same as `writeItems` for truth values or floats, in their XML forms and separated by spaces. */
function writeInXml(text: Uint8Array, start: number, end: number, target: Uint8Array, from: number): number {
  let at = from;
  const last = end - 1;
  for (let i = start + 1; i < last; i += 1) {
    if (text[i] === MINUS) target[at++] = text[i++]!;
    const form = formInXml(text[i]!);
    if (form !== null) {
      target.set(form, at);
      at += form.length;
    }
    for (; i < last && text[i] !== COMMA; i += 1) if (form === null) target[at++] = text[i]!;
    target[at++] = SPACE;
  }
  return at;
}

/** Returns the XML form of an item with this first character, or null if it is the same. */
function formInXml(first: number): Uint8Array | null {
  if (first === SMALL_T) return yes;
  if (first === SMALL_F) return no;
  return first === LARGE_I ? infinity : null;
}

export interface ListColumn {
  readonly chunk: ColumnChunk;
  /** has the rows */
  readonly rows: ColumnsKernel;
  /** takes the items: it has room for those of all rows */
  readonly items: ColumnsKernel;
  readonly of: JoinedItems;
}

/**
 * Adds a page of lists or, if the column has become text, of their items with spaces between them. Returns false if a value is not a
 * list. Levels of a list: 3 for an item, 1 for an empty list, 0 for NULL.
 */
export function addLists(list: ListColumn, column: number, rows: number, isOfItems: boolean): boolean {
  if (!isOfItems) return addJoined(list, column, rows);
  const { chunk, items: kernel } = list;
  const { text } = list.rows;
  const target = kernel.text;
  const repetitions: number[] = [];
  const definitions: number[] = [];
  let length = 0;
  let items = 0;
  for (let row = 0; row < rows; row += 1) {
    const [start, end] = list.rows.field(row, column);
    repetitions.push(0);
    if (!isList(text, start, end)) {
      if (end - start !== 2 || text[start] !== BACKSLASH) return false;
      definitions.push(0);
      continue;
    }
    const written = writeItems(text, start, end, target, length, LF);
    length = written.end;
    items += written.items;
    definitions.push(written.items === 0 ? 1 : 3);
    for (let item = 1; item < written.items; item += 1) {
      repetitions.push(1);
      definitions.push(3);
    }
  }
  const levels = [
    withLength(encodeLevels(kernel, repetitions, 1)),
    withLength(encodeLevels(kernel, definitions, 2)),
  ] as const;
  const bytes = new Uint8Array(levels[0].length + levels[1].length);
  bytes.set(levels[0]);
  bytes.set(levels[1], levels[0].length);
  kernel.split(0, length, 0);
  return chunk.add(0, items, { bytes, entries: definitions.length, rows });
}

/** Writes `Infinity` in its XML form, with its sign, and all other texts unchanged. */
function writeFloat(text: Uint8Array, start: number, end: number, target: Uint8Array, from: number): number {
  const sign = text[start] === MINUS ? 1 : 0;
  const isInfinite =
    end - start - sign === infinityInRows.length &&
    infinityInRows.every((byte, at) => text[start + sign + at] === byte);
  target.set(text.subarray(start, isInfinite ? start + sign : end), from);
  if (!isInfinite) return from + end - start;
  target.set(infinity, from + sign);
  return from + sign + infinity.length;
}

/** Adds lists as joined text. Copies values that are not lists unchanged. */
function addJoined(
  { chunk, rows: source, items: kernel, of }: ListColumn,
  column: number,
  rows: number,
): boolean {
  const { text } = source;
  const target = kernel.text;
  let length = 0;
  for (let row = 0; row < rows; row += 1) {
    const [start, end] = source.field(row, column);
    if (of === 'no list') length = writeFloat(text, start, end, target, length);
    else if (isList(text, start, end)) {
      const written =
        (of === 'truth' || of === 'float') && !isQuoted(text, start)
          ? writeInXml(text, start, end, target, length)
          : writeItems(text, start, end, target, length, SPACE).end;
      length = Math.max(length, written - 1);
    } else {
      target.set(text.subarray(start, end), length);
      length += end - start;
    }
    target[length++] = LF;
  }
  kernel.split(0, length, 0);
  return chunk.add(0, rows);
}

function encodeLevels(kernel: ColumnsKernel, levels: readonly number[], width: number): Uint8Array {
  const { view } = kernel;
  for (const [at, level] of levels.entries()) view.setUint32(kernel.levels + at * 4, level, true);
  return kernel.bytes(kernel.encodeLevels(levels.length, width));
}
