/** Encodings of whole numbers: runs and bits (RLE), and differences (DELTA_BINARY_PACKED), as the format of Parquet has them. */

/** The end of the bytes that `readVarint` has read. */
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

/** Reads the header of the next run. Returns false if there is none. */
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

/** Reads `count` values as int32. */
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

/** Returns the common value of the next `count` values and consumes them, or -1 if they are not all equal. */
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

/** Begins the differences at `at`. Returns the number of their values, or -1 if their blocks have another size than the writer's. */
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

/** Returns the end of the differences of `count` values, of which none has been read yet, or 0 if it is not before `end`. */
function endOfDeltas(column: usize, count: i32, end: usize): usize {
  let at = load<usize>(column, DELTAS_AT);
  for (count--; count > 0; count -= MINI_VALUES * MINIS) {
    if (at >= end) return 0;
    readVarint(at);
    at = varintEnd + MINIS;
    if (at > end) return 0;
    for (let mini: usize = 0; mini < <usize>MINIS; mini++) {
      // groups after the last value may be missing
      if (<i32>mini * MINI_VALUES < count) at += <usize>load<u8>(varintEnd + mini) << 2;
    }
  }
  return at <= end ? at : 0;
}

/** Reads `count` values as int64. */
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
