// Part of src/engine/parquet/kernel/columns.as: dates and times in the forms of XML Schema.

const DAY: i64 = 86_400_000_000;

/** What the last one was worth: days, or microseconds. */
let instant: i64 = 0;

// @ts-ignore: decorator
@inline
function twoDigits(at: usize): i32 {
  const tens: u32 = load<u8>(at) - ZERO;
  const ones: u32 = load<u8>(at, 1) - ZERO;
  if (tens > 9 || ones > 9) areDigits = false;
  return <i32>(tens * 10 + ones);
}

/** `YYYY-MM-DD`: days since 1970. */
// @ts-ignore: decorator
@inline
function readDay(at: usize): i32 {
  let year = twoDigits(at) * 100 + twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (load<u8>(at, 4) != MINUS || load<u8>(at, 7) != MINUS) areDigits = false;
  // years that begin in March: leap days come last (proleptic Gregorian calendar)
  if (month <= 2) year--;
  const era = (year >= 0 ? year : year - 399) / 400;
  const ofEra = year - era * 400;
  const ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468;
}

/** `hh:mm:ss`, and a fraction of which six digits stay, rounded by the seventh; adds microseconds to `instant`, answers the end. */
// @ts-ignore: decorator
@inline
function readClock(at: usize, to: usize): usize {
  if (at + 8 > to || load<u8>(at, 2) != COLON || load<u8>(at, 5) != COLON) {
    areDigits = false;
    return to;
  }
  const seconds = twoDigits(at) * 3600 + twoDigits(at + 3) * 60 + twoDigits(at + 6);
  instant += <i64>seconds * 1_000_000;
  at += 8;
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

function readDate(from: usize, to: usize): bool {
  areDigits = to - from == 10;
  if (areDigits) instant = readDay(from);
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

/** Of a time zone the offset is taken off. */
function readTimestamp(from: usize, to: usize): bool {
  areDigits = true;
  if (to - from < 19) return false;
  instant = <i64>readDay(from) * DAY;
  const between = load<u8>(from, 10);
  if (between != 0x54 && between != SPACE) return false;
  const end = readClock(from + 11, to);
  if (end == to) return areDigits;
  const sign = load<u8>(end);
  if (sign == 0x5a) return areDigits && end + 1 == to;
  if ((sign != PLUS && sign != MINUS) || end + 6 != to || load<u8>(end, 3) != COLON) return false;
  const minutes = twoDigits(end + 1) * 60 + twoDigits(end + 4);
  instant -= <i64>(sign == MINUS ? -minutes : minutes) * 60_000_000;
  return areDigits;
}
