// Part of src/engine/parquet/kernel/columns.as: dates and times in the forms of XML Schema.

const DAY: i64 = 86_400_000_000;

/** The last date in days, or the last instant in microseconds. */
let instant: i64 = 0;

// @ts-ignore: decorator
@inline
function twoDigits(at: usize): i32 {
  const tens: u32 = load<u8>(at) - ZERO;
  const ones: u32 = load<u8>(at, 1) - ZERO;
  if (tens > 9 || ones > 9) areDigits = false;
  return <i32>(tens * 10 + ones);
}

/** Returns the pairs of digits at these places, each as a number in 16 bits; the other lanes are zero. */
// @ts-ignore: decorator
@inline
function pairsOf(text: v128, places: v128): v128 {
  const digits = i8x16.swizzle(i8x16.sub(text, i8x16.splat(ZERO)), places);
  if (v128.any_true(i8x16.gt_u(digits, i8x16.splat(9)))) areDigits = false;
  return i16x8.add(i16x8.mul(v128.and(digits, i16x8.splat(0xff)), i16x8.splat(10)), i16x8.shr_u(digits, 8));
}

/** Days from 1970 to that of the year's two pairs of digits, the month and the day. */
// @ts-ignore: decorator
@inline
function dayOf(pairs: v128): i32 {
  const month = <u32>i16x8.extract_lane_u(pairs, 2);
  const day = <u32>i16x8.extract_lane_u(pairs, 3);
  // years begin in March, so that leap days are last (proleptic Gregorian calendar); plus 400, so that none is negative
  const early = <u32>(month <= 2);
  const year = <u32>i16x8.extract_lane_u(pairs, 0) * 100 + <u32>i16x8.extract_lane_u(pairs, 1) + 400 - early;
  const century = year / 100;
  const ofYear = (153 * (month + early * 12 - 3) + 2) / 5 + day - 1;
  return <i32>(year * 365 + (year >> 2) - century + (century >> 2) + ofYear) - 719_468 - 146_097;
}

/**
 * Reads the seconds that end before `at`, and a fraction, of which six digits are kept, rounded by the seventh. Adds microseconds to
 * `instant` and returns the end.
 */
// @ts-ignore: decorator
@inline
function readSeconds(at: usize, to: usize): usize {
  instant += <i64>twoDigits(at - 2) * 1_000_000;
  if (at >= to || load<u8>(at) != POINT) return at;
  let micros: i64 = 0;
  let count = 0;
  for (at++; at < to; at++) {
    const digit: u32 = load<u8>(at) - ZERO;
    if (digit > 9) break;
    if (count < 6) micros = micros * 10 + digit;
    else if (count == 6 && digit >= 5) micros++;
    count++;
  }
  for (; count < 6; count++) micros *= 10;
  instant += micros;
  return at;
}

/** Reads `hh:mm:ss` and a fraction. Adds microseconds to `instant` and returns the end. */
// @ts-ignore: decorator
@inline
function readClock(at: usize, to: usize): usize {
  if (at + 8 > to || load<u8>(at, 2) != COLON || load<u8>(at, 5) != COLON) {
    areDigits = false;
    return to;
  }
  instant += <i64>(twoDigits(at) * 60 + twoDigits(at + 3)) * 60_000_000;
  return readSeconds(at + 8, to);
}

// @ts-ignore: decorator
@inline
function hasDayMarks(at: usize): bool {
  return load<u8>(at, 4) == MINUS && load<u8>(at, 7) == MINUS;
}

/** `YYYY-MM-DD`: days since 1970. */
// @ts-ignore: decorator
@inline
function readDate(from: usize, to: usize): bool {
  if (to - from != 10 || !hasDayMarks(from)) return false;
  areDigits = true;
  instant = dayOf(pairsOf(v128.load(from), i8x16(0, 1, 2, 3, 5, 6, 8, 9, 16, 16, 16, 16, 16, 16, 16, 16)));
  return areDigits;
}

/** A fraction that is rounded up to the end of the day begins it again; 24:00:00 stays. */
function readTime(from: usize, to: usize): bool {
  areDigits = true;
  instant = 0;
  const end = readClock(from, to);
  if (instant == DAY && load<u8>(from) == 0x32 && load<u8>(from, 1) == 0x33) instant = 0;
  return areDigits && end == to;
}

/** Reads a timestamp. If it has a time zone, subtracts the offset. */
function readTimestamp(from: usize, to: usize): bool {
  areDigits = true;
  if (to - from < 19 || !hasDayMarks(from)) return false;
  const between = load<u8>(from, 10);
  if ((between != 0x54 && between != SPACE) || load<u8>(from, 13) != COLON || load<u8>(from, 16) != COLON) return false;
  const pairs = pairsOf(v128.load(from), i8x16(0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 16, 16, 16, 16));
  const minutesOfDay = <i32>i16x8.extract_lane_s(pairs, 4) * 60 + <i32>i16x8.extract_lane_s(pairs, 5);
  instant = <i64>dayOf(pairs) * DAY + <i64>minutesOfDay * 60_000_000;
  const end = readSeconds(from + 19, to);
  if (end == to) return areDigits;
  const sign = load<u8>(end);
  if (sign == 0x5a) return areDigits && end + 1 == to;
  if ((sign != PLUS && sign != MINUS) || end + 6 != to || load<u8>(end, 3) != COLON) return false;
  const minutes = twoDigits(end + 1) * 60 + twoDigits(end + 4);
  instant -= <i64>(sign == MINUS ? -minutes : minutes) * 60_000_000;
  return areDigits;
}
