// Columns of rows in COPY text, as Parquet has their values. One call reads a column of many rows; src/engine/parquet/kernel/instance.ts
// has the memory.

/** Powers of ten: once, before all else. */
export function prepare(): void {
  let power: u64 = 1;
  for (let i: usize = 0; i < 20; i++) {
    store<u64>(POWERS_AT + (i << 3), power);
    power *= 10;
  }
}

let leastPrefix: u64 = 0;
let greatestPrefix: u64 = 0;

/** The first eight bytes of a text, as they compare. */
// @ts-ignore: decorator
@inline
function prefixOf(from: usize, length: usize): u64 {
  const bytes = load<u64>(from);
  return bswap<u64>(length >= 8 ? bytes : length == 0 ? 0 : bytes & (<u64>-1 >> <u64>((8 - length) << 3)));
}

/** Less than 0, 0 or more than 0, as texts compare by their bytes. */
function compareTexts(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const order = memory.compare(a, b, min(aLength, bLength));
  return order != 0 ? order : <i32>aLength - <i32>bLength;
}

function noteText(from: usize, length: usize, prefix: u64, isFirst: bool): void {
  if (isFirst || prefix < leastPrefix || compareTexts(from, length, load<usize>(LEAST_AT), load<usize>(LEAST_LENGTH)) < 0) {
    leastPrefix = prefix;
    store<usize>(LEAST_AT, from);
    store<usize>(LEAST_LENGTH, length);
  }
  if (isFirst || prefix > greatestPrefix || compareTexts(from, length, load<usize>(GREATEST_AT), load<usize>(GREATEST_LENGTH)) > 0) {
    greatestPrefix = prefix;
    store<usize>(GREATEST_AT, from);
    store<usize>(GREATEST_LENGTH, length);
  }
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

/** One value; answers whether the text is one. `instant` has it, of 128 bits `magnitude` and `magnitudeHigh`. */
// @ts-ignore: decorator
@inline
function readValue(kind: i32, from: usize, to: usize, scale: i32): bool {
  if (kind == READ_DATE) return readDate(from, to);
  if (kind == READ_TIME) return readTime(from, to);
  if (kind == READ_TIMESTAMP) return readTimestamp(from, to);
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

// @ts-ignore: decorator
@inline
function readOrdered(kind: i32): void {
  const scale = load<i32>(SCALE);
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  const isSmall = kind == READ_INT32 || kind == READ_DATE;
  const isWhole = (kind == READ_INT32 || kind == READ_INT64) && scale <= 0;
  let at = load<usize>(FIRST);
  let levels = load<usize>(LEVELS);
  let out = load<usize>(VALUES);
  let least = i64.MAX_VALUE;
  let greatest = i64.MIN_VALUE;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride, levels += 4) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    if (isNull(from, to - from)) {
      store<u32>(levels, 0);
      continue;
    }
    let value: i64 = isWhole && to - from - 1 < 8 ? wholeOfFew(<i32>(to - from), to) : -1;
    if (value < 0) {
      if (to == from || !readValue(kind, from, to, scale)) return misfit(row);
      value = instant;
    }
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    store<u32>(levels, 1);
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

/** Decimals of 128 bits, the highest byte first. */
function readWide(): void {
  const scale = load<i32>(SCALE);
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let levels = load<usize>(LEVELS);
  let out = load<usize>(VALUES);
  let leastLow: u64 = -1;
  let leastHigh = i64.MAX_VALUE;
  let greatestLow: u64 = 0;
  let greatestHigh = i64.MIN_VALUE;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride, levels += 4) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    if (isNull(from, to - from)) {
      store<u32>(levels, 0);
      continue;
    }
    if (to == from || !readValue(READ_INT128, from, to, scale)) return misfit(row);
    const high = <i64>magnitudeHigh;
    if (high < leastHigh || (high == leastHigh && magnitude < leastLow)) {
      leastHigh = high;
      leastLow = magnitude;
    }
    if (high > greatestHigh || (high == greatestHigh && magnitude > greatestLow)) {
      greatestHigh = high;
      greatestLow = magnitude;
    }
    store<u32>(levels, 1);
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
function readBooleans(): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let levels = load<usize>(LEVELS);
  let out = load<usize>(VALUES);
  let isAnyTrue = false;
  let isAnyFalse = false;
  for (let row = 0; row < rows; row++, at += stride, levels += 4) {
    const from = <usize>load<u32>(at - 4) + 1;
    const length = <usize>load<u32>(at) - from;
    if (isNull(from, length)) {
      store<u32>(levels, 0);
      continue;
    }
    const first = load<u8>(from);
    const isTrue = first == 0x74;
    if (!(length == 1 ? isTrue || first == 0x66 : isTrue ? length == 4 && load<u32>(from) == 0x65757274 : length == 5 && load<u32>(from) == 0x736c6166))
      return misfit(row);
    if (isTrue) isAnyTrue = true;
    else isAnyFalse = true;
    store<u32>(levels, 1);
    store<u32>(out, isTrue ? 1 : 0);
    out += 4;
  }
  store<i64>(LEAST, isAnyFalse ? 0 : 1);
  store<i64>(GREATEST, isAnyTrue ? 1 : 0);
  store<i32>(COUNT, <i32>((out - load<usize>(VALUES)) >> 2));
  store<usize>(VALUES_END, out);
}

/** Numbers that no digit of theirs is to be rounded for; the others are noted, and left to who called. */
// @ts-ignore: decorator
@inline
function readFloats(isDouble: bool): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let levels = load<usize>(LEVELS);
  let out = load<usize>(VALUES);
  let left = load<usize>(LEFT);
  let least = Infinity;
  let greatest = -Infinity;
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride, levels += 4) {
    const from = <usize>load<u32>(at - 4) + 1;
    const to = <usize>load<u32>(at);
    if (isNull(from, to - from)) {
      store<u32>(levels, 0);
      continue;
    }
    store<u32>(levels, 1);
    const sign = load<u8>(from);
    const first = sign == MINUS || sign == PLUS ? from + 1 : from;
    if (readExact(first, to, isDouble ? 0x20000000000000 : 0x1000000, isDouble ? 22 : 10)) {
      const power = magnitudeHigh;
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

/** Texts as numbers of a dictionary, or whole, each behind its length. A text that the dictionary has no room for is a misfit. */
function readTexts(): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  const dictionary = load<usize>(DICTIONARY);
  let at = load<usize>(FIRST);
  let levels = load<usize>(LEVELS);
  let out = load<usize>(VALUES);
  let plain = load<usize>(PLAIN_TEXT);
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride, levels += 4) {
    let from = <usize>load<u32>(at - 4) + 1;
    let length = <usize>load<u32>(at) - from;
    if (isNull(from, length)) {
      store<u32>(levels, 0);
      continue;
    }
    store<u32>(levels, 1);
    if (hasEscape(from, length)) {
      const end = unescape(from, from + length, plain);
      from = plain;
      length = end - plain;
      plain = end;
    }
    const prefix = prefixOf(from, length);
    if (count == 0 || prefix <= leastPrefix || prefix >= greatestPrefix) noteText(from, length, prefix, count == 0);
    if (dictionary != 0) {
      const number = findText(dictionary, from, length);
      if (number < 0) return misfit(row);
      store<i32>(out, number);
      out += 4;
    } else {
      store<u32>(out, <u32>length);
      out += 4;
      copyText(out, from, length);
      out += length;
    }
    count++;
  }
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

/** Reads the column that the control block tells of. */
export function readColumn(kind: i32): void {
  store<i32>(MISFIT, 0);
  store<i32>(LEFT_COUNT, 0);
  switch (kind) {
    case READ_INT32:
      return readOrdered(READ_INT32);
    case READ_INT64:
      return readOrdered(READ_INT64);
    case READ_INT128:
      return readWide();
    case READ_BOOLEAN:
      return readBooleans();
    case READ_DATE:
      return readOrdered(READ_DATE);
    case READ_TIME:
      return readOrdered(READ_TIME);
    case READ_TIMESTAMP:
      return readOrdered(READ_TIMESTAMP);
    case READ_FLOAT:
      return readFloats(false);
    case READ_DOUBLE:
      return readFloats(true);
    default:
      return readTexts();
  }
}

/** Texts of a dictionary, whole, each behind its length; answers the end. */
export function expandTexts(numbers: usize, count: i32, dictionary: usize, out: usize): usize {
  const values = load<usize>(dictionary, DICTIONARY_VALUES);
  const starts = load<usize>(dictionary, DICTIONARY_STARTS);
  for (let i = 0; i < count; i++, numbers += 4) {
    const entry = values + load<usize>(starts + (<usize>load<u32>(numbers) << 2));
    const length = <usize>load<u32>(entry) + 4;
    copyText(out, entry, length);
    out += length;
  }
  return out;
}
