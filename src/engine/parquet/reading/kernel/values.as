// Part of src/engine/parquet/reading/kernel/cells.as: writes values in the form of XML Schema. Each function returns the end of the text.

const DAY: i64 = 86_400_000_000;
const BILLION: u64 = 1_000_000_000;

/** 10 to the power of 0 … 19 */
// @ts-ignore: decorator
@inline
function powerOfTen(exponent: i32): u64 {
  return load<u64>(POWERS_AT + ((<usize>exponent) << 3));
}

// @ts-ignore: decorator
@inline
function digitsOf(value: u64): i32 {
  let count = 1;
  while (count < 20 && value >= powerOfTen(count)) count++;
  return count;
}

/** Writes a number in `count` digits, with leading zeros if it has fewer. */
// @ts-ignore: decorator
@inline
function writeDigits(value: u64, count: i32, out: usize): usize {
  const end = out + <usize>count;
  let at = end;
  while (value > 0xffffffff && at > out) {
    store<u8>(--at, <u8>(value % 10) + ZERO);
    value /= 10;
  }
  let rest = <u32>value;
  while (at > out) {
    const next = rest / 10;
    store<u8>(--at, <u8>(rest - next * 10) + ZERO);
    rest = next;
  }
  return end;
}

// @ts-ignore: decorator
@inline
function writeSign(value: i64, out: usize): usize {
  if (value >= 0) return out;
  store<u8>(out, MINUS);
  return out + 1;
}

// @ts-ignore: decorator
@inline
function magnitudeOf(value: i64): u64 {
  return value < 0 ? 0 - <u64>value : <u64>value;
}

// @ts-ignore: decorator
@inline
function writeInteger(value: i64, out: usize): usize {
  const magnitude = magnitudeOf(value);
  return writeDigits(magnitude, digitsOf(magnitude), writeSign(value, out));
}

/** Removes unnecessary zeros at the end of a number whose last `scale` digits follow the point, and the point with them if possible. */
// @ts-ignore: decorator
@inline
function withoutZeros(end: usize, scale: i32, kept: i32): usize {
  let left = scale;
  while (left > kept && load<u8>(end - 1) == ZERO) {
    end--;
    left--;
  }
  return left == 0 ? end - 1 : end;
}

function writeDecimal(value: i64, scale: i32, kept: i32, out: usize): usize {
  if (scale == 0) return writeInteger(value, out);
  const magnitude = magnitudeOf(value);
  out = writeSign(value, out);
  const power = powerOfTen(scale);
  const whole = magnitude / power;
  out = writeDigits(whole, digitsOf(whole), out);
  store<u8>(out++, POINT);
  return withoutZeros(writeDigits(magnitude - whole * power, scale, out), scale, kept);
}

/** Writes a decimal of 128 bits. Computes nine digits at a time, the last ones first. */
function writeWideDecimal(high: u64, low: u64, scale: i32, kept: i32, out: usize): usize {
  if (<i64>high < 0) {
    store<u8>(out++, MINUS);
    low = 0 - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const ends = out + 45;
  let at = ends;
  for (let part = 0; part < 5; part++) {
    const first = high / BILLION;
    let rest = high - first * BILLION;
    rest = (rest << 32) | (low >> 32);
    const second = rest / BILLION;
    rest = ((rest - second * BILLION) << 32) | (low & 0xffffffff);
    const third = rest / BILLION;
    high = first;
    low = (second << 32) | third;
    at -= 9;
    writeDigits(rest - third * BILLION, 9, at);
  }
  const point = ends - <usize>scale;
  while (at < point - 1 && load<u8>(at) == ZERO) at++;
  const whole = point - at;
  memory.copy(out, at, whole);
  out += whole;
  if (scale == 0) return out;
  // the source is after the target
  store<u8>(out++, POINT);
  memory.copy(out, point, <usize>scale);
  return withoutZeros(out + <usize>scale, scale, kept);
}

/** Days since 1970 as a date of the proleptic Gregorian calendar. */
function writeDate(days: i64, out: usize): usize {
  const shifted = days + 719_468;
  const era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097;
  const ofEra = <i32>(shifted - era * 146_097);
  const yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365;
  const ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  // months that begin with March
  const shiftedMonth = (5 * ofYear + 2) / 153;
  const day = ofYear - (153 * shiftedMonth + 2) / 5 + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = <i64>yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  out = writeSign(year, out);
  const magnitude = magnitudeOf(year);
  out = writeDigits(magnitude, max(4, digitsOf(magnitude)), out);
  store<u8>(out, MINUS);
  out = writeDigits(month, 2, out + 1);
  store<u8>(out, MINUS);
  return writeDigits(day, 2, out + 1);
}

/** Microseconds of a day; 24:00:00 is its end. */
function writeTime(micros: i64, out: usize): usize {
  const seconds = <i32>(micros / 1_000_000);
  const fraction = <i32>(micros - <i64>seconds * 1_000_000);
  out = writeDigits(seconds / 3600, 2, out);
  store<u8>(out, COLON);
  out = writeDigits((seconds / 60) % 60, 2, out + 1);
  store<u8>(out, COLON);
  out = writeDigits(seconds % 60, 2, out + 1);
  if (fraction == 0) return out;
  store<u8>(out, POINT);
  return withoutZeros(writeDigits(fraction, 6, out + 1), 6, 1);
}

function writeTimestamp(micros: i64, isUtc: bool, out: usize): usize {
  let days = micros / DAY;
  let rest = micros - days * DAY;
  if (rest < 0) {
    days--;
    rest += DAY;
  }
  out = writeDate(days, out);
  store<u8>(out, 0x54);
  out = writeTime(rest, out + 1);
  if (!isUtc) return out;
  store<u8>(out, 0x5a);
  return out + 1;
}

// @ts-ignore: decorator
@inline
function writeBoolean(value: bool, out: usize): usize {
  if (value) {
    store<u32>(out, 0x65757274);
    return out + 4;
  }
  store<u32>(out, 0x736c6166);
  store<u8>(out, 0x65, 4);
  return out + 5;
}

// @ts-ignore: decorator
@inline
function writeValue(column: usize, form: i32, value: i64, out: usize): usize {
  switch (form) {
    case FORM_INTEGER:
      return writeInteger(value, out);
    case FORM_DECIMAL:
      return writeDecimal(value, load<i32>(column, COLUMN_SCALE), load<i32>(column, COLUMN_KEPT), out);
    case FORM_DATE:
      return writeDate(value, out);
    case FORM_TIME:
      return writeTime(value, out);
    default:
      return writeTimestamp(value, form == FORM_TIMESTAMP_UTC, out);
  }
}
