// Reads columns of rows in COPY text as values of Parquet. One call reads the column of many rows that the control block describes;
// src/engine/parquet/kernel/instance.ts has the memory. Each kind of values has a separate function, because functions that are not called
// are not compiled.

/** Writes the powers of ten and the vectors. Must be called once, before any other function. */
export function prepare(): void {
  let power: u64 = 1;
  for (let i: usize = 0; i < 20; i++) {
    store<u64>(POWERS_AT + (i << 3), power);
    power *= 10;
  }
  prepareVectors();
}

/** Levels are needed if some rows have a value and others do not: those before the first NULL are written when it occurs. */
// @ts-ignore: decorator
@inline
function noteNull(row: i32, count: i32): void {
  const levels = load<usize>(LEVELS);
  if (row == count) for (let i = 0; i < row; i++) store<u32>(levels + ((<usize>i) << 2), 1);
  store<u32>(levels + ((<usize>row) << 2), 0);
}

// @ts-ignore: decorator
@inline
function noteValue(row: i32, count: i32): void {
  if (row != count) store<u32>(load<usize>(LEVELS) + ((<usize>row) << 2), 1);
}

/** Notes a misfit in this row; the whole column is then read again as another type, or is a fault. */
function misfit(row: i32): void {
  store<i32>(MISFIT, row + 1);
}

/** A signed whole number: its magnitude fits 63 bits. */
// @ts-ignore: decorator
@inline
function signed(isNegative: bool): i64 {
  return isNegative ? -<i64>magnitude : <i64>magnitude;
}

/** Reads a number. Returns true if the text is one. The value is in `instant`, or for 128 bits in `magnitude` and `magnitudeHigh`. */
function readNumber(kind: i32, from: usize, to: usize, scale: i32): bool {
  if (from == to) return false;
  const sign = load<u8>(from);
  const isNegative = sign == MINUS;
  if (isNegative || sign == PLUS) from++;
  if (from == to) return false;
  if (kind == READ_INT128) {
    if (!readScaled(from, to, scale)) return false;
    if (isNegative) {
      magnitude = 0 - magnitude;
      magnitudeHigh = ~magnitudeHigh + (magnitude == 0 ? 1 : 0);
    }
    return true;
  }
  if (scale > 0) {
    if (!readScaled(from, to, scale) || magnitudeHigh != 0) return false;
  } else if (!readWhole(from, to)) {
    return false;
  }
  if (magnitude > <u64>i64.MAX_VALUE + (isNegative ? 1 : 0)) return false;
  instant = signed(isNegative);
  return kind != READ_INT32 || instant == <i64>(<i32>instant);
}

/** Reads one value into `instant`. Returns true if the text is one. */
// @ts-ignore: decorator
@inline
function readInstant(kind: i32, from: usize, to: usize, scale: i32): bool {
  if (kind == READ_DATE) return readDate(from, to);
  if (kind == READ_TIME) return readTime(from, to);
  if (kind == READ_TIMESTAMP) return readTimestamp(from, to);
  return readNumber(kind, from, to, scale);
}

// @ts-ignore: decorator
@inline
function readOrdered(kind: i32): void {
  const scale = load<i32>(SCALE);
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  const isSmall = kind == READ_INT32 || kind == READ_DATE;
  const isNumber = kind == READ_INT32 || kind == READ_INT64;
  const isWhole = isNumber && scale <= 0;
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let least = i64.MAX_VALUE;
  let greatest = i64.MIN_VALUE;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    let value: i64 = -1;
    if (isWhole && to - from - 1 < 8) value = wholeOfFew(<i32>(to - from), to);
    let isRead = value >= 0;
    if (isNumber && !isRead) {
      const sign: usize = load<u8>(from) == MINUS ? 1 : 0;
      const length = to - from - sign;
      if (length - 1 < 16) {
        value = isWhole ? wholeOfSixteen(<i32>length, to) : decimalOfSixteen(<i32>length, to);
        const rest = isWhole ? 0 : scale - fewFraction;
        isRead = value >= 0 && rest >= 0 && <i32>length + rest <= 18;
        if (isRead) value = ((value * (isWhole ? 1 : <i64>powerOfTen(rest))) ^ -<i64>sign) + <i64>sign;
        if (isSmall && value != <i64>(<i32>value)) isRead = false;
      }
    }
    if (!isRead) {
      if (isNull(from, to - from)) {
        noteNull(row, count);
        continue;
      }
      if (!readInstant(kind, from, to, scale)) return misfit(row);
      value = instant;
    }
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    noteValue(row, count);
    if (isSmall) store<i32>(out, <i32>value);
    else store<i64>(out, value);
    out += isSmall ? 4 : 8;
    count++;
  }
  store<i64>(LEAST, least);
  store<i64>(GREATEST, greatest);
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

export function readInt32(): void {
  readOrdered(READ_INT32);
}

export function readInt64(): void {
  readOrdered(READ_INT64);
}

export function readDates(): void {
  readOrdered(READ_DATE);
}

export function readTimes(): void {
  readOrdered(READ_TIME);
}

export function readTimestamps(): void {
  readOrdered(READ_TIMESTAMP);
}

/** Decimals of 128 bits, the highest byte first. */
export function readInt128(): void {
  const scale = load<i32>(SCALE);
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let leastLow: u64 = -1;
  let leastHigh = i64.MAX_VALUE;
  let greatestLow: u64 = 0;
  let greatestHigh = i64.MIN_VALUE;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    const few: i64 = to - from - 1 < 16 ? decimalOfSixteen(<i32>(to - from), to) : -1;
    if (few < 0 && isNull(from, to - from)) {
      noteNull(row, count);
      continue;
    }
    const rest = scale - fewFraction;
    if (few >= 0 && rest >= 0 && rest <= 18) multiply(few, powerOfTen(rest));
    else if (!readNumber(READ_INT128, from, to, scale)) return misfit(row);
    const high = <i64>magnitudeHigh;
    if (high < leastHigh || (high == leastHigh && magnitude < leastLow)) {
      leastHigh = high;
      leastLow = magnitude;
    }
    if (high > greatestHigh || (high == greatestHigh && magnitude > greatestLow)) {
      greatestHigh = high;
      greatestLow = magnitude;
    }
    noteValue(row, count);
    store<u64>(out, bswap<u64>(magnitudeHigh));
    store<u64>(out, bswap<u64>(magnitude), 8);
    out += 16;
    count++;
  }
  store<u64>(LEAST, leastLow);
  store<i64>(LEAST + 8, leastHigh);
  store<u64>(GREATEST, greatestLow);
  store<i64>(GREATEST + 8, greatestHigh);
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

/** Int32 of 0 or 1, as they are packed afterwards. */
export function readBooleans(): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let trues = 0;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride) {
    const from = <usize>load<u32>(at - 4) + 1;
    const length = <usize>load<u32>(at) - from;
    const word = load<u32>(from);
    // computed without a branch that depends on whether the value is true or false
    let value = <u32>(length == 4) & <u32>(word == 0x65757274);
    if ((value | (<u32>(length == 5) & <u32>(word == 0x736c6166))) == 0) {
      if (isNull(from, length)) {
        noteNull(row, count);
        continue;
      }
      value = <u32>(<u8>word == 0x74);
      if (length != 1 || (value == 0 && <u8>word != 0x66)) return misfit(row);
    }
    noteValue(row, count);
    store<u32>(out, value);
    trues += value;
    out += 4;
    count++;
  }
  store<i64>(LEAST, trues < count ? 0 : 1);
  store<i64>(GREATEST, trues > 0 ? 1 : 0);
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

/** Reads numbers whose digits need no rounding. Notes the others, which the caller must convert. */
// @ts-ignore: decorator
@inline
function readFloats(isDouble: bool): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let left = load<usize>(LEFT);
  let least = Infinity;
  let greatest = -Infinity;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    if (isNull(from, to - from)) {
      noteNull(row, count);
      continue;
    }
    noteValue(row, count);
    const sign = load<u8>(from);
    const first = sign == MINUS || sign == PLUS ? from + 1 : from;
    const few: i64 = to - first - 1 < 16 ? decimalOfSixteen(<i32>(to - first), to) : -1;
    if (few >= 0 && few <= (isDouble ? 0x20000000000000 : 0x1000000) && (isDouble || fewFraction <= 10)) {
      magnitude = few;
      magnitudeHigh = fewFraction;
    } else if (!readExact(first, to, isDouble ? 0x20000000000000 : 0x1000000, isDouble ? 22 : 10)) {
      magnitudeHigh = -1;
    }
    const power = <i64>magnitudeHigh;
    if (power >= 0) {
      let value: f64 = 0;
      if (isDouble) {
        value = <f64>magnitude;
        if (power > 0) value /= <f64>powerOfTen(<i32>power);
      } else {
        let single = <f32>magnitude;
        if (power > 0) single /= <f32>powerOfTen(<i32>power);
        value = <f64>single;
      }
      if (sign == MINUS) value = -value;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
      if (isDouble) store<f64>(out, value);
      else store<f32>(out, <f32>value);
    } else {
      store<u32>(left, count);
      store<u32>(left, <u32>from, 4);
      store<u32>(left, <u32>to, 8);
      left += 12;
    }
    out += isDouble ? 8 : 4;
    count++;
  }
  store<f64>(LEAST, least);
  store<f64>(GREATEST, greatest);
  store<i32>(LEFT_COUNT, <i32>((left - load<usize>(LEFT)) / 12));
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

export function readFloats32(): void {
  readFloats(false);
}

export function readFloats64(): void {
  readFloats(true);
}
