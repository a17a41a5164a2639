// Columns of Parquet as the cells of a block of rows, their values as text. One call takes a column of many rows, all of one page;
// src/engine/parquet/reading/kernel/instance.ts has the memory. What answers an address answers 0 where the page is damaged.

const MINI_VALUES = 32;
const MINIS = 4;

/** Powers of ten: once, before all else. */
export function prepare(): void {
  let power: u64 = 1;
  for (let i: usize = 0; i < 20; i++) {
    store<u64>(POWERS_AT + (i << 3), power);
    power *= 10;
  }
}

/** Where what `readVarint` has read ends. */
let varintEnd: usize = 0;

function readVarint(at: usize): u64 {
  let value: u64 = 0;
  for (let shift: u64 = 0; shift < 64; shift += 7) {
    const byte = <u64>load<u8>(at++);
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  varintEnd = at;
  return value;
}

// @ts-ignore: decorator
@inline
function readZigzag(at: usize): i64 {
  const value = readVarint(at);
  return <i64>(value >> 1) ^ -<i64>(value & 1);
}

function beginRuns(runs: usize, at: usize, end: usize, width: i32): void {
  store<usize>(runs, at, RUNS_AT);
  store<usize>(runs, end, RUNS_END);
  store<i32>(runs, width, RUNS_WIDTH);
  store<i32>(runs, 0, RUNS_LEFT);
}

/** False where there is none. */
function nextRun(runs: usize): bool {
  const at = load<usize>(runs, RUNS_AT);
  const end = load<usize>(runs, RUNS_END);
  if (at >= end) return false;
  const width = load<i32>(runs, RUNS_WIDTH);
  const header = <u32>readVarint(at);
  const count = header >> 1;
  if (header & 1) {
    store<u32>(runs, count << 3, RUNS_LEFT);
    store<i32>(runs, 0, RUNS_BIT);
    store<usize>(runs, varintEnd, RUNS_VALUE);
    store<usize>(runs, varintEnd + <usize>count * width, RUNS_AT);
  } else {
    const bytes = (width + 7) >> 3;
    store<u32>(runs, count, RUNS_LEFT);
    store<i32>(runs, -1, RUNS_BIT);
    store<u32>(runs, width == 0 ? 0 : load<u32>(varintEnd) & (<u32>-1 >> <u32>(32 - (bytes << 3))), RUNS_VALUE);
    store<usize>(runs, varintEnd + <usize>bytes, RUNS_AT);
  }
  return count > 0 && load<usize>(runs, RUNS_AT) <= end;
}

/** So many values as int32. */
function readRuns(runs: usize, count: i32, out: usize): bool {
  while (count > 0) {
    if (load<i32>(runs, RUNS_LEFT) == 0 && !nextRun(runs)) return false;
    const taken = min(count, load<i32>(runs, RUNS_LEFT));
    const bit = load<i32>(runs, RUNS_BIT);
    const end = out + ((<usize>taken) << 2);
    if (bit < 0) {
      const value = load<u32>(runs, RUNS_VALUE);
      for (; out < end; out += 4) store<u32>(out, value);
    } else {
      const width = load<i32>(runs, RUNS_WIDTH);
      const packed = load<usize>(runs, RUNS_VALUE);
      const mask: u64 = ((<u64>1) << width) - 1;
      let next = <u32>bit;
      for (; out < end; out += 4, next += width)
        store<u32>(out, <u32>((load<u64>(packed + (next >> 3)) >> (next & 7)) & mask));
      store<u32>(runs, next, RUNS_BIT);
    }
    count -= taken;
    store<i32>(runs, load<i32>(runs, RUNS_LEFT) - taken, RUNS_LEFT);
  }
  return true;
}

/** Whether the next values are all the same, and which; they are then taken. -1: not so. */
function sameRun(runs: usize, count: i32): i32 {
  if (load<i32>(runs, RUNS_LEFT) == 0 && !nextRun(runs)) return -1;
  if (load<i32>(runs, RUNS_BIT) >= 0 || load<i32>(runs, RUNS_LEFT) < count) return -1;
  store<i32>(runs, load<i32>(runs, RUNS_LEFT) - count, RUNS_LEFT);
  return load<i32>(runs, RUNS_VALUE);
}

/** Unpacks the next 32 differences. */
function nextMini(column: usize): bool {
  const end = load<usize>(column, COLUMN_END);
  let at = load<usize>(column, DELTAS_AT);
  let mini = load<i32>(column, DELTAS_MINI);
  if (mini == MINIS) {
    if (at >= end) return false;
    store<i64>(column, readZigzag(at), DELTAS_LEAST);
    store<usize>(column, varintEnd, DELTAS_WIDTHS);
    at = varintEnd + MINIS;
    mini = 0;
  }
  const width = <i32>load<u8>(load<usize>(column, DELTAS_WIDTHS) + mini);
  const least = load<i64>(column, DELTAS_LEAST);
  const out = column + DELTAS_UNPACKED;
  if (width > 64 || at + <usize>(width << 2) > end) return false;
  const mask: u64 = width == 64 ? -1 : ((<u64>1) << width) - 1;
  let bit: usize = 0;
  for (let i: usize = 0; i < <usize>MINI_VALUES; i++, bit += <usize>width) {
    const shift = <u64>(bit & 7);
    let value = load<u64>(at + (bit >> 3)) >> shift;
    if (shift + <u64>width > 64) value |= <u64>load<u8>(at + (bit >> 3), 8) << (64 - shift);
    store<i64>(out + (i << 3), least + <i64>(value & mask));
  }
  store<usize>(column, at + <usize>(width << 2), DELTAS_AT);
  store<i32>(column, mini + 1, DELTAS_MINI);
  store<i32>(column, 0, DELTAS_NEXT);
  return true;
}

function readDeltas(column: usize, count: i32, out: usize): bool {
  const isSmall = load<i32>(column, COLUMN_WIDTH) == 4;
  let last = load<i64>(column, DELTAS_LAST);
  if (count > 0 && load<i32>(column, DELTAS_BEGUN) == 0) {
    store<i32>(column, 1, DELTAS_BEGUN);
    store<i64>(out, last);
    out += 8;
    count--;
  }
  let next = load<i32>(column, DELTAS_NEXT);
  for (; count > 0; count--, out += 8) {
    if (next == MINI_VALUES) {
      if (!nextMini(column)) return false;
      next = 0;
    }
    last += load<i64>(column + DELTAS_UNPACKED + ((<usize>next) << 3));
    if (isSmall) last = <i64>(<i32>last);
    store<i64>(out, last);
    next++;
  }
  store<i32>(column, next, DELTAS_NEXT);
  store<i64>(column, last, DELTAS_LAST);
  return true;
}

/** Begins differences that lie there; answers how many values they have. -1: they are not cut as the writer cuts them. */
function beginDeltas(column: usize, at: usize): i32 {
  if (readVarint(at) != MINI_VALUES * MINIS || readVarint(varintEnd) != MINIS) return -1;
  const count = <i32>readVarint(varintEnd);
  store<i64>(column, readZigzag(varintEnd), DELTAS_LAST);
  store<usize>(column, varintEnd, DELTAS_AT);
  store<i32>(column, 0, DELTAS_BEGUN);
  store<i32>(column, MINIS, DELTAS_MINI);
  store<i32>(column, MINI_VALUES, DELTAS_NEXT);
  return count;
}

/** Where differences of so many values end, of which none is taken yet; 0: not before `end`. */
function endOfDeltas(column: usize, count: i32, end: usize): usize {
  let at = load<usize>(column, DELTAS_AT);
  for (count--; count > 0; count -= MINI_VALUES * MINIS) {
    if (at >= end) return 0;
    readVarint(at);
    at = varintEnd + MINIS;
    if (at > end) return 0;
    for (let mini: usize = 0; mini < <usize>MINIS; mini++) {
      // groups behind the last value may not be there
      if (<i32>mini * MINI_VALUES < count) at += <usize>load<u8>(varintEnd + mini) << 2;
    }
  }
  return at <= end ? at : 0;
}

/** So many values as int64. */
function readWhole(column: usize, count: i32, out: usize): bool {
  if (load<i32>(column, COLUMN_ENCODING) == IN_DELTAS) return readDeltas(column, count, out);
  const width = load<i32>(column, COLUMN_WIDTH);
  let at = load<usize>(column, COLUMN_AT);
  const end = at + <usize>(count * width);
  if (end > load<usize>(column, COLUMN_END)) return false;
  if (width == 4) for (; at < end; at += 4, out += 8) store<i64>(out, <i64>load<i32>(at));
  else for (; at < end; at += 8, out += 8) store<i64>(out, load<i64>(at));
  store<usize>(column, end, COLUMN_AT);
  return true;
}

/** Begins a page that lies in the memory, its levels first. False where it is damaged. */
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

/** Texts as they lie, each behind its length. */
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

/** Makes texts of a dictionary's values, each behind its length, at `out`; those that are texts already stay where they are. */
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
 * A column of so many rows: its cells from `cells` on, `stride` bytes from one to the next, and its texts at `out`, where there is room for
 * all that is left of the page. Answers where they end.
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
      // what has a value is overwritten
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

/** Whether the whole numbers of so many rows, one in each, go up from `last`; the last of them is then at WIDES. */
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
