// Reads columns of Parquet as the cells of a block of rows, with values as text. One call reads a column of many rows, all of one page;
// src/engine/parquet/reading/kernel/instance.ts has the memory. Functions that return an address return 0 if the page is damaged.

const MINI_VALUES = 32;
const MINIS = 4;

/** Writes the powers of ten. Must be called once, before any other function. */
export function prepare(): void {
  let power: u64 = 1;
  for (let i: usize = 0; i < 20; i++) {
    store<u64>(POWERS_AT + (i << 3), power);
    power *= 10;
  }
}

/** Begins a page in the memory, which has its levels first. Returns false if it is damaged. */
export function beginPage(column: usize, page: usize, end: usize, encoding: i32): bool {
  if (page + 4 > end) return false;
  const length = <usize>load<u32>(page);
  let at = page + 4 + length;
  if (length > end - page - 4) return false;
  beginRuns(column + COLUMN_LEVELS, page + 4, at, 1);
  store<i32>(column, encoding, COLUMN_ENCODING);
  store<usize>(column, end, COLUMN_END);
  if (encoding == IN_DICTIONARY) {
    const width = at < end ? <i32>load<u8>(at) : 0;
    if (width > 32) return false;
    beginRuns(column + COLUMN_NUMBERS, at + 1, end, width);
  } else if (encoding == IN_DELTAS || encoding == IN_LENGTHS) {
    const count = beginDeltas(column, at);
    if (count < 0) return false;
    at = encoding == IN_DELTAS ? load<usize>(column, DELTAS_AT) : endOfDeltas(column, count, end);
    if (at == 0) return false;
  }
  // bits are counted from the page's first byte
  store<usize>(column, load<i32>(column, COLUMN_FORM) == FORM_BOOLEAN ? at << 3 : at, COLUMN_AT);
  return at <= end;
}

/** Reads texts as stored, each after its length. */
// @ts-ignore: decorator
@inline
function beginTexts(column: usize, page: usize, end: usize, count: i32): bool {
  let start = load<usize>(column, COLUMN_STARTS);
  let longest: usize = 0;
  for (let i = 0; i < count; i++, start += 4) {
    if (page + 4 > end || <usize>load<u32>(page) > end - page - 4) return false;
    store<usize>(start, page);
    longest = max(longest, <usize>load<u32>(page));
    page += 4 + <usize>load<u32>(page);
  }
  store<usize>(column, longest, COLUMN_LONGEST);
  return true;
}

/** Writes a dictionary's values as texts at `out`, each after its length. Values that are already texts are not copied. */
export function beginDictionary(column: usize, page: usize, end: usize, count: i32, out: usize): bool {
  store<i32>(column, count, COLUMN_ENTRIES);
  const form = load<i32>(column, COLUMN_FORM);
  if (form == FORM_TEXT) return beginTexts(column, page, end, count);
  store<i32>(column, LONGEST_VALUE, COLUMN_LONGEST);
  const width = <usize>load<i32>(column, COLUMN_WIDTH);
  if (<usize>count * width > end - page) return false;
  let start = load<usize>(column, COLUMN_STARTS);
  for (let i = 0; i < count; i++, page += width, start += 4) {
    store<usize>(start, out);
    const text = out + 4;
    if (form == FORM_FLOAT || form == FORM_DOUBLE) {
      store<f64>(text, form == FORM_FLOAT ? <f64>load<f32>(page) : load<f64>(page));
      out = text + LONGEST_VALUE;
    } else if (form == FORM_WIDE_DECIMAL) {
      out = writeWideDecimal(bswap<u64>(load<u64>(page)), bswap<u64>(load<u64>(page, 8)), load<i32>(column, COLUMN_SCALE), load<i32>(column, COLUMN_KEPT), text);
    } else {
      out = writeValue(column, form, width == 4 ? <i64>load<i32>(page) : load<i64>(page), text);
    }
    store<u32>(text - 4, <u32>(out - text));
  }
  return true;
}

// @ts-ignore: decorator
@inline
function copyText(out: usize, from: usize, length: usize): void {
  if (length > 64) {
    memory.copy(out, from, length);
    return;
  }
  for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(from + i));
}

/**
 * Reads a column of `rows` rows: its cells from `cells` on, `stride` bytes apart, and its texts at `out`, which must have room for the
 * rest of the page. Returns the end of the texts.
 */
export function takeRows(column: usize, rows: i32, cells: usize, stride: usize, out: usize): usize {
  const origin = load<usize>(ORIGIN);
  const levels = load<usize>(LEVELS);
  const same = sameRun(column + COLUMN_LEVELS, rows);
  const end = cells + <usize>rows * stride;
  let count = rows;
  if (same == 0) {
    for (let cell = cells; cell < end; cell += stride) store<i64>(cell, -1);
    return out;
  }
  if (same < 0) {
    if (!readRuns(column + COLUMN_LEVELS, rows, levels)) return 0;
    count = 0;
    let level = levels;
    for (let cell = cells; cell < end; cell += stride, level += 4) {
      const is = load<i32>(level);
      count += is;
      // cells with a value are overwritten later
      store<i64>(cell, -1);
    }
    if (count == 0) return out;
  }
  const isEach = same == 1;
  const form = load<i32>(column, COLUMN_FORM);
  let level = levels;
  if (load<i32>(column, COLUMN_ENCODING) == IN_DICTIONARY) {
    let number = load<usize>(NUMBERS);
    if (!readRuns(column + COLUMN_NUMBERS, count, number)) return 0;
    const starts = load<usize>(column, COLUMN_STARTS);
    const entries = load<u32>(column, COLUMN_ENTRIES);
    for (let cell = cells; cell < end; cell += stride, level += 4) {
      if (!isEach && load<i32>(level) == 0) continue;
      const index = load<u32>(number);
      number += 4;
      if (index >= entries) return 0;
      const entry = load<usize>(starts + ((<usize>index) << 2));
      const length = <usize>load<u32>(entry);
      copyText(out, entry + 4, length);
      store<u32>(cell, <u32>(out - origin));
      out += length;
      store<u32>(cell, <u32>(out - origin), 4);
    }
    return out;
  }
  if (form == FORM_TEXT) {
    const pageEnd = load<usize>(column, COLUMN_END);
    let at = load<usize>(column, COLUMN_AT);
    if (load<i32>(column, COLUMN_ENCODING) == IN_LENGTHS) {
      let next = load<usize>(WIDES);
      if (!readDeltas(column, count, next)) return 0;
      for (let cell = cells; cell < end; cell += stride, level += 4) {
        if (!isEach && load<i32>(level) == 0) continue;
        const length = load<u64>(next);
        next += 8;
        if (length > <u64>(pageEnd - at)) return 0;
        copyText(out, at, <usize>length);
        at += <usize>length;
        store<u32>(cell, <u32>(out - origin));
        out += <usize>length;
        store<u32>(cell, <u32>(out - origin), 4);
      }
      store<usize>(column, at, COLUMN_AT);
      return out;
    }
    for (let cell = cells; cell < end; cell += stride, level += 4) {
      if (!isEach && load<i32>(level) == 0) continue;
      if (at + 4 > pageEnd) return 0;
      const length = <usize>load<u32>(at);
      at += 4;
      if (length > pageEnd - at) return 0;
      copyText(out, at, length);
      at += length;
      store<u32>(cell, <u32>(out - origin));
      out += length;
      store<u32>(cell, <u32>(out - origin), 4);
    }
    store<usize>(column, at, COLUMN_AT);
    return out;
  }
  if (form == FORM_BOOLEAN) {
    let bit = load<usize>(column, COLUMN_AT);
    if (bit + <usize>count > load<usize>(column, COLUMN_END) << 3) return 0;
    for (let cell = cells; cell < end; cell += stride, level += 4) {
      if (!isEach && load<i32>(level) == 0) continue;
      store<u32>(cell, <u32>(out - origin));
      out = writeBoolean(((load<u8>(bit >> 3) >> <u8>(bit & 7)) & 1) != 0, out);
      store<u32>(cell, <u32>(out - origin), 4);
      bit++;
    }
    store<usize>(column, bit, COLUMN_AT);
    return out;
  }
  if (form == FORM_WIDE_DECIMAL || form == FORM_FLOAT || form == FORM_DOUBLE) {
    const width = <usize>load<i32>(column, COLUMN_WIDTH);
    let at = load<usize>(column, COLUMN_AT);
    if (at + <usize>count * width > load<usize>(column, COLUMN_END)) return 0;
    const scale = load<i32>(column, COLUMN_SCALE);
    const kept = load<i32>(column, COLUMN_KEPT);
    for (let cell = cells; cell < end; cell += stride, level += 4) {
      if (!isEach && load<i32>(level) == 0) continue;
      store<u32>(cell, <u32>(out - origin));
      if (form == FORM_WIDE_DECIMAL) {
        out = writeWideDecimal(bswap<u64>(load<u64>(at)), bswap<u64>(load<u64>(at, 8)), scale, kept, out);
      } else {
        store<f64>(out, form == FORM_FLOAT ? <f64>load<f32>(at) : load<f64>(at));
        out += LONGEST_VALUE;
      }
      store<u32>(cell, <u32>(out - origin), 4);
      at += width;
    }
    store<usize>(column, at, COLUMN_AT);
    return out;
  }
  let value = load<usize>(WIDES);
  if (!readWhole(column, count, value)) return 0;
  for (let cell = cells; cell < end; cell += stride, level += 4) {
    if (!isEach && load<i32>(level) == 0) continue;
    store<u32>(cell, <u32>(out - origin));
    out = writeValue(column, form, load<i64>(value), out);
    store<u32>(cell, <u32>(out - origin), 4);
    value += 8;
  }
  return out;
}

/** True if each of the `rows` rows has a whole number and these strictly ascend from `last`. Stores the last of them at WIDES. */
export function ascends(column: usize, rows: i32, last: i64): bool {
  let value = load<usize>(WIDES);
  if (sameRun(column + COLUMN_LEVELS, rows) != 1) return false;
  if (load<i32>(column, COLUMN_ENCODING) == IN_DICTIONARY || !readWhole(column, rows, value)) return false;
  const first = value;
  for (let row = 0; row < rows; row++, value += 8) {
    const next = load<i64>(value);
    if (next <= last) return false;
    last = next;
  }
  store<i64>(first, last);
  return true;
}
