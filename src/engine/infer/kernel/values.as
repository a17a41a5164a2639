// Part of src/engine/infer/kernel/collect.as: collects the common properties of the values of one path, and compares values.

const POWERS_OF_TEN: usize = CONTROL + 1024;
const ALL_CONTINUATION: usize = CONTROL + 1152;

const RECORD_BYTES: usize = 16;

const ATTRIBUTE_SHIFT: usize = 5;

const FRAME_SHIFT: usize = 5;

const SKETCH_MOST = 64;
/** values of up to this many bytes are certainly kept whole */
const KEPT_BYTES: usize = 200;

const TEXT_VALUE = 0;
const NUMBER = 1;
/** a number of digits only, without leading zeros */
const DIGITS = 3;

const CLASSES_OF_CALENDAR = 120;
/** `2024-01-31T10:00:00+02:00` */
const OFFSET_LENGTH: usize = 25;
const LONGEST_TIME: usize = 64;
/** bytes; digits of an exponent, and its size: src/engine/infer/value-classes.ts */
const LONGEST_SCIENTIFIC: usize = 64;
const MOST_EXPONENT_DIGITS: usize = 3;
const LARGEST_EXPONENT: u32 = 38;
/** nanoseconds: `mostFractionDigits` of src/engine/infer/value-classes.ts */
const MOST_FRACTION_DIGITS: usize = 9;
/** including white space around it */
const LONGEST_WITH_SPACE: usize = 512;

/** Writes the constants that the kernel loads. Must be called once, before any other function. See src/engine/xml/kernel/scan.as. */
export function prepare(): void {
  let power: f64 = 1;
  for (let i: usize = 0; i < 16; i++) {
    store<f64>(POWERS_OF_TEN + (i << 3), power);
    power *= 10;
  }
  v128.store(ALL_CONTINUATION, i8x16.splat(<i8>0xbf));
}

// @ts-ignore: decorator
@inline
function isDigit(c: u32): bool {
  return c - ZERO <= 9;
}

// @ts-ignore: decorator
@inline
function increment(at: usize): void {
  store<f64>(at, load<f64>(at) + 1);
}

/** Counts the characters of UTF-8 text. May read 16 bytes after it. */
// @ts-ignore: decorator
@inline
function characters(from: usize, to: usize): i32 {
  let count: i32 = 0;
  while (true) {
    let leads = i8x16.bitmask(i8x16.gt_s(v128.load(from), v128.load(ALL_CONTINUATION)));
    const rest = to - from;
    if (rest <= 16) return count + popcnt(leads & ((1 << <i32>rest) - 1));
    count += popcnt(leads);
    from += 16;
  }
}

/** FNV-1a, going on from `hash`. */
// @ts-ignore: decorator
@inline
function hashOf(hash: u32, from: usize, to: usize): u32 {
  for (; from < to; from++) hash = (hash ^ load<u8>(from)) * 0x01000193;
  return hash;
}

/** Compares bytes: returns a negative number, 0 or a positive number. */
function compareBytes(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const shared = min<usize>(aLength, bLength);
  for (let i: usize = 0; i < shared; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference != 0) return difference;
  }
  return <i32>aLength - <i32>bLength;
}

/** Returns the value of two digits, or -1 if they are not digits. */
// @ts-ignore: decorator
@inline
function twoDigits(at: usize): i32 {
  const tens: u32 = load<u8>(at) - ZERO;
  const ones: u32 = load<u8>(at, 1) - ZERO;
  return tens > 9 || ones > 9 ? -1 : <i32>(tens * 10 + ones);
}

/** True if `at` begins with `YYYY-MM-DD`: a year from 1 to 9999 and a day that exists. */
function isDate(at: usize): bool {
  if (load<u8>(at, 4) != MINUS || load<u8>(at, 7) != MINUS) return false;
  const century = twoDigits(at);
  const inCentury = twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (century < 0 || inCentury < 0 || month < 1 || month > 12 || day < 1) return false;
  const year = century * 100 + inCentury;
  if (year == 0) return false;
  if (day <= 28) return true;
  if (month == 2) return day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31);
}

/**
 * Returns the end of a time without its zone, or 0 if it has another form. It needs an hour up to 23 and at most nine digits of a second.
 */
function endOfTime(at: usize, to: usize): usize {
  if (at + 8 > to || load<u8>(at, 2) != COLON || load<u8>(at, 5) != COLON) return 0;
  const hour = twoDigits(at);
  const minute = twoDigits(at + 3);
  const second = twoDigits(at + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
  at += 8;
  if (at < to && load<u8>(at) == POINT) {
    const first = ++at;
    while (at < to && isDigit(load<u8>(at))) at++;
    if (at == first || at - first > MOST_FRACTION_DIGITS) return 0;
  }
  return at;
}

function isZone(at: usize, to: usize): bool {
  const sign: u32 = load<u8>(at);
  if (sign == 0x5a) return at + 1 == to;
  if ((sign != PLUS && sign != MINUS) || at + 6 != to || load<u8>(at, 3) != COLON) return false;
  const hours = twoDigits(at + 1);
  const minutes = twoDigits(at + 4);
  return hours >= 0 && minutes >= 0 && minutes <= 59 && (hours < 14 || (hours == 14 && minutes == 0));
}

/** Returns the class of a date or time of at least eight bytes. */
function calendarClass(from: usize, to: usize): i32 {
  if (load<u8>(from, 2) == COLON) return endOfTime(from, to) == to ? CLASS_TIME : 0;
  if (from + 10 > to || !isDate(from)) return 0;
  if (from + 10 == to) return CLASS_DATE;
  if (load<u8>(from, 10) != 0x54) return 0;
  const end = endOfTime(from + 11, to);
  if (end == 0) return 0;
  if (end == to) return CLASS_DATETIME_LOCAL;
  return isZone(end, to) ? CLASS_DATETIME_ZONED : 0;
}

/** A date with a time and an offset from UTC, by the places of its separators, white space around it aside. */
// @ts-ignore: decorator
@inline
function hasOffset(from: usize, to: usize): bool {
  if (to - from < OFFSET_LENGTH || to - from > LONGEST_WITH_SPACE) return false;
  while (from < to && load<u8>(from) <= 0x20) from++;
  while (to > from && load<u8>(to - 1) <= 0x20) to--;
  const length = to - from;
  if (length < OFFSET_LENGTH || length > LONGEST_TIME) return false;
  if (load<u8>(to - 3) != COLON || load<u8>(from, 10) != 0x54) return false;
  const sign: u32 = load<u8>(to - 6);
  return sign == PLUS || sign == MINUS;
}

// @ts-ignore: decorator
@inline
function isBoolean(from: usize, length: usize): bool {
  const four = load<u32>(from);
  if (length == 4) return four == 0x65757274;
  return length == 5 && four == 0x736c6166 && load<u8>(from, 4) == 0x65;
}

/**
 * True if a number is in scientific notation. Its digits begin at `first`, its point is at `point` (0: none) and its `e` or `E` at
 * `letter`.
 */
function isScientific(first: usize, to: usize, point: usize, letter: usize): bool {
  const wholeEnd = point == 0 ? letter : point;
  if (wholeEnd == first || letter == point + 1 || to - first > LONGEST_SCIENTIFIC) return false;
  if (load<u8>(first) == ZERO && wholeEnd - first > 1) return false;
  let at = letter + 1;
  const sign: u32 = at < to ? load<u8>(at) : 0;
  const isSigned = sign == PLUS || sign == MINUS;
  if (point == 0 && !isSigned) return false;
  if (isSigned) at++;
  if (at == to || to - at > MOST_EXPONENT_DIGITS) return false;
  let exponent: u32 = 0;
  for (; at < to; at++) {
    const digit: u32 = load<u8>(at) - ZERO;
    if (digit > 9) return false;
    exponent = exponent * 10 + digit;
  }
  return exponent <= LARGEST_EXPONENT;
}

function addToSketch(value: usize, fnv: u32): void {
  let hash = fnv ^ (fnv >> 15);
  hash *= 0x2c1b3c6d;
  hash ^= hash >> 12;
  const recent = value + RECENT + ((<usize>hash & 63) << 2);
  if (load<u32>(recent) == hash) return;
  store<u32>(recent, hash);
  const hashes = value + SKETCH;
  const size = load<i32>(value, SKETCH_SIZE);
  if (size == SKETCH_MOST && hash >= load<u32>(hashes, (SKETCH_MOST - 1) * 4)) return;
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(hashes + (<usize>middle << 2)) < hash) low = middle + 1;
    else high = middle;
  }
  const slot = hashes + (<usize>low << 2);
  if (low < size && load<u32>(slot) == hash) return;
  memory.copy(slot + 4, slot, <usize>(min(size, SKETCH_MOST - 1) - low) << 2);
  store<u32>(slot, hash);
  if (size < SKETCH_MOST) store<i32>(value, size + 1, SKETCH_SIZE);
}

/** The result of a comparison that the kernel cannot make. */
const UNKNOWN = i32.MAX_VALUE;

/** Compares a value with a kept one: returns a negative number if it is less, a positive one if it is greater, 0 if they are equal. */
function compareToKept(
  kept: usize,
  keptLength: usize,
  keptKind: i32,
  keptNumber: f64,
  from: usize,
  length: usize,
  kind: i32,
  number: f64,
): i32 {
  const isNumber = kind != TEXT_VALUE;
  if (isNumber != (keptKind != TEXT_VALUE)) return isNumber ? -1 : 1;
  if (!isNumber) return compareBytes(from, length, kept, keptLength);
  if (kind == DIGITS && keptKind == DIGITS && length != keptLength) return <i32>length - <i32>keptLength;
  if (kind == DIGITS && keptKind == DIGITS) return compareBytes(from, length, kept, keptLength);
  if (number < keptNumber) return -1;
  if (number > keptNumber) return 1;
  return compareBytes(from, length, kept, keptLength) == 0 ? 0 : UNKNOWN;
}

function keep(value: usize, valueAt: usize, lengthAt: usize, numberAt: usize, from: usize, length: usize, kind: i32, number: f64): void {
  memory.copy(value + valueAt, from, length);
  store<i32>(value + lengthAt, <i32>length);
  store<i32>(value + lengthAt, kind, 4);
  store<f64>(value + numberAt, number);
}

/**
 * Adds a value of `length` bytes, those from `from` on or, for a very long one, its start, with this number of characters and this hash.
 * Returns false, without changes, if TypeScript must compare its extremes.
 */
function addValue(value: usize, from: usize, length: usize, count: i32, fnv: u32, event: usize): bool {
  if (length == 0) {
    increment(value + VALUE_COUNT);
    increment(value + VALUE_EMPTY);
    return true;
  }
  const to = from + length;
  const first: u32 = load<u8>(from);
  const negative = first == MINUS;
  let kind = TEXT_VALUE;
  let canonical = false;
  let scientific = false;
  let number: f64 = NaN;
  let whole: i32 = 0;
  let fraction: i32 = 0;
  if ((negative || first == POINT || isDigit(first)) && length <= 1001) {
    const start = negative ? from + 1 : from;
    let point: usize = 0;
    let size: f64 = 0;
    let p = start;
    for (; p < to; p++) {
      const digit: u32 = load<u8>(p) - ZERO;
      if (digit <= 9) size = size * 10 + <f64>digit;
      else if (digit + ZERO == POINT && point == 0 && p < to - 1) point = p;
      else break;
    }
    if (p < to) {
      const stop: u32 = load<u8>(p);
      scientific = (stop == 0x45 || stop == 0x65) && isScientific(start, to, point, p);
    } else if (start < to) {
      whole = <i32>((point == 0 ? to : point) - start);
      fraction = point == 0 ? 0 : <i32>(to - point - 1);
      const padded = load<u8>(start) == ZERO && whole > 1;
      canonical = !padded && (!negative || size != 0) && to - start <= 1000;
      kind = point == 0 && !negative && !padded ? DIGITS : NUMBER;
      if (whole + fraction <= 15)
        number = (negative ? -size : size) / load<f64>(POWERS_OF_TEN + (<usize>fraction << 3));
    }
  }

  if (
    load<i32>(SAMPLES) != 0 &&
    !(number > load<f64>(value, LEAST_NUMBER) && number < load<f64>(value, GREATEST_NUMBER)) &&
    load<usize>(EXTREMES_SEEN) != event
  ) {
    const leastLength = load<i32>(value, LEAST_LENGTH);
    if (leastLength < 0) {
      if (length > KEPT_BYTES) return false;
      keep(value, LEAST, LEAST_LENGTH, LEAST_NUMBER, from, length, kind, number);
      keep(value, GREATEST, GREATEST_LENGTH, GREATEST_NUMBER, from, length, kind, number);
    } else {
      const isLong = length > KEPT_BYTES;
      // only the start of a long value is kept; if that is a number, it may be a different number
      if (isLong && (negative || first == POINT || isDigit(first))) return false;
      const toLeast = compareToKept(
        value + LEAST, leastLength, load<i32>(value, LEAST_KIND), load<f64>(value, LEAST_NUMBER), from, length, kind, number,
      );
      const toGreatest = compareToKept(
        value + GREATEST, load<i32>(value, GREATEST_LENGTH), load<i32>(value, GREATEST_KIND), load<f64>(value, GREATEST_NUMBER), from, length, kind, number,
      );
      if (toLeast == UNKNOWN || toGreatest == UNKNOWN || (isLong && (toLeast < 0 || toGreatest > 0))) return false;
      if (toLeast < 0) keep(value, LEAST, LEAST_LENGTH, LEAST_NUMBER, from, length, kind, number);
      if (toGreatest > 0) keep(value, GREATEST, GREATEST_LENGTH, GREATEST_NUMBER, from, length, kind, number);
    }
  }

  const isFirst = load<i32>(value, SKETCH_SIZE) == 0;
  const classes = load<i32>(value, CLASSES);
  if (classes != 0) {
    let found = 0;
    if ((classes & (CLASS_DECIMAL | CLASS_SCIENTIFIC)) != 0 && canonical) {
      found = (fraction == 0 ? CLASS_INTEGER | CLASS_DECIMAL : CLASS_DECIMAL) | CLASS_SCIENTIFIC;
      if ((classes & CLASS_DECIMAL) != 0) {
        if (whole > load<i32>(value, WHOLE_DIGITS)) store<i32>(value, whole, WHOLE_DIGITS);
        if (isFirst || fraction < load<i32>(value, MIN_FRACTION)) store<i32>(value, fraction, MIN_FRACTION);
        if (fraction > load<i32>(value, MAX_FRACTION)) store<i32>(value, fraction, MAX_FRACTION);
      }
    } else {
      if (first == 0x74 || first == 0x66) found = isBoolean(from, length) ? CLASS_BOOLEAN : 0;
      else if (scientific) found = CLASS_SCIENTIFIC;
      else if (negative || isDigit(first)) {
        if (length >= 8 && (classes & CLASSES_OF_CALENDAR) != 0) found = calendarClass(from, to);
      }
      if ((classes & CLASS_DECIMAL) != 0) {
        store<i32>(value, 0, WHOLE_DIGITS);
        store<i32>(value, 0, MIN_FRACTION);
        store<i32>(value, 0, MAX_FRACTION);
      }
    }
    store<i32>(value, classes & found, CLASSES);
  }
  if (hasOffset(from, to)) store<i32>(value, load<i32>(value, WITH_OFFSET) + 1, WITH_OFFSET);
  increment(value + VALUE_COUNT);
  if (isFirst || count < load<i32>(value, MIN_LENGTH)) store<i32>(value, count, MIN_LENGTH);
  if (count > load<i32>(value, MAX_LENGTH)) store<i32>(value, count, MAX_LENGTH);
  addToSketch(value, fnv);
  return true;
}

/** Stores the subject of an exit: a node or a value, and bytes. */
function ask(about: usize, from: usize, to: usize): void {
  store<usize>(ASKED, about);
  store<usize>(ASKED_FROM, from);
  store<usize>(ASKED_TO, to);
}
