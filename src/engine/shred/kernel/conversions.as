// Part of src/engine/shred/kernel/shred.as: values in the forms of their columns.

/** Returns a bit mask of the bytes at `at` that are not digits, for a length of up to 16 bytes. Bytes after `length` are masked out. */
// @ts-ignore: decorator
@inline
function nonDigits(at: usize, length: usize): i32 {
  // moved so that the digits are the lowest signed bytes: there is no unsigned comparison of vectors on x86
  const v = i8x16.sub(v128.load(at), v128.load(ALL_ZERO_ABOVE_LOWEST));
  return i8x16.bitmask(i8x16.gt_s(v, v128.load(ALL_LOWEST_NINE))) & ((1 << <i32>length) - 1);
}

/** True if a number has the usual form: at most `most` digits, without a sign or a leading zero. */
// @ts-ignore: decorator
@inline
function isUsualInteger(from: usize, to: usize, most: usize): bool {
  const length = to - from;
  return length - 1 < most && length <= 16 && nonDigits(from, length) == 0 && (length == 1 || load<u8>(from) != ZERO);
}

/** Digits, and perhaps a point among them, that fit the type and are written as the database prints them. */
// @ts-ignore: decorator
@inline
function isUsualDecimal(column: usize, from: usize, to: usize): bool {
  const length = to - from;
  if (length - 1 > 15) return false;
  const others = nonDigits(from, length);
  const whole: i32 = others == 0 ? <i32>length : ctz(others);
  const fraction: i32 = others == 0 ? 0 : <i32>length - whole - 1;
  if (whole == 0 || (whole > 1 && load<u8>(from) == ZERO)) return false;
  if (others != 0 && ((others & (others - 1)) != 0 || fraction == 0 || load<u8>(from + whole) != POINT)) return false;
  const precision = load<i32>(column, COLUMN_FIRST);
  const scale = load<i32>(column, COLUMN_SECOND);
  if (precision >= 0 && (fraction > scale || whole > precision - scale)) return false;
  const plainScale = load<i32>(column, COLUMN_PLAIN_SCALE);
  return (load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) == 0 || isPrintedFraction(fraction, to, plainScale);
}

/** True if the digits after a point, which end at `to`, are exactly those that the target prints; `scale`: see COLUMN_PLAIN_SCALE. */
// @ts-ignore: decorator
@inline
function isPrintedFraction(fraction: i32, to: usize, scale: i32): bool {
  if (scale > SHORTEST_SCALE) return scale < 0 || fraction == scale;
  const least = SHORTEST_SCALE - scale;
  return fraction == least || (fraction > least && load<u8>(to - 1) != ZERO);
}

/** No plus sign, no leading zero, no negative zero, digits on both sides of a point; `scale`: as many digits after it, or as few as can be. */
function isPlainNumber(from: usize, to: usize, scale: i32): bool {
  const negative = load<u8>(from) == MINUS;
  const first = negative ? from + 1 : from;
  let point = to;
  let isZero = true;
  for (let i = first; i < to; i++) {
    const c: u32 = load<u8>(i);
    if (c == POINT) point = i;
    else if (!isDigit(c)) return false;
    else if (c != ZERO) isZero = false;
  }
  const whole = point - first;
  const fraction: i32 = point == to ? 0 : <i32>(to - point) - 1;
  if (whole == 0 || (point < to && fraction == 0) || (whole > 1 && load<u8>(first) == ZERO)) return false;
  if (negative && isZero) return false;
  return isPrintedFraction(fraction, to, scale);
}

/** COLUMN_FIRST: digits of the highest value. */
function convertInteger(column: usize, from: usize, to: usize, out: usize): usize {
  const digits: usize = load<usize>(column, COLUMN_FIRST);
  const sign: u32 = load<u8>(from);
  let first = sign == PLUS || sign == MINUS ? from + 1 : from;
  if (first == to) return 0;
  for (let i = first; i < to; i++) if (!isDigit(load<u8>(i))) return 0;
  const written = first;
  while (first < to - 1 && load<u8>(first) == ZERO) first++;
  if (to - first > digits) return 0;
  if (to - first == digits) {
    let value: u64 = 0;
    for (let i = first; i < to; i++) value = value * 10 + (load<u8>(i) - ZERO);
    const highest: u64 = digits == 5 ? 32_767 : digits == 10 ? 2_147_483_647 : 9_223_372_036_854_775_807;
    if (value > highest + (sign == MINUS ? 1 : 0)) return 0;
  }
  if (
    (load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) != 0 &&
    (first != written || sign == PLUS || (sign == MINUS && load<u8>(first) == ZERO) || load<i32>(column, COLUMN_PLAIN_SCALE) > 0)
  )
    return 0;
  if (sign == MINUS) store<u8>(out++, MINUS);
  return copy(out, first, to - first);
}

/** COLUMN_FIRST: precision, -1 without; COLUMN_SECOND: scale. */
function convertDecimal(column: usize, from: usize, to: usize, out: usize): usize {
  const sign: u32 = load<u8>(from);
  const first = sign == PLUS || sign == MINUS ? from + 1 : from;
  let point: usize = 0;
  let lastNonZeroFraction: usize = 0;
  let firstNonZero: usize = 0;
  let digits: i32 = 0;
  for (let i = first; i < to; i++) {
    const c: u32 = load<u8>(i);
    if (c == POINT && point == 0) {
      point = i;
    } else if (isDigit(c)) {
      digits++;
      if (c != ZERO) {
        if (firstNonZero == 0) firstNonZero = i;
        if (point != 0) lastNonZeroFraction = i;
      }
    } else {
      return 0;
    }
  }
  if (digits == 0) return 0;
  const pointAt = point == 0 ? to : point;
  const whole: i32 = firstNonZero != 0 && firstNonZero < pointAt ? <i32>(pointAt - firstNonZero) : 0;
  const fraction: i32 = lastNonZeroFraction == 0 ? 0 : <i32>(lastNonZeroFraction - pointAt);
  const precision = load<i32>(column, COLUMN_FIRST);
  if (precision >= 0) {
    const scale = load<i32>(column, COLUMN_SECOND);
    if (fraction > scale || whole > precision - scale) return 0;
  } else if (whole > 131_072 || fraction > 16_383) {
    return 0;
  }
  if (
    (load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) != 0 &&
    !isPlainNumber(from, to, load<i32>(column, COLUMN_PLAIN_SCALE))
  )
    return 0;
  if (sign == PLUS) from = first;
  return copy(out, from, to - from);
}

/** Only values that are far from the type's bounds; COLUMN_FIRST: digits and exponent together that a value may have. */
function convertFloat(column: usize, from: usize, to: usize, out: usize): usize {
  let i = from;
  const sign: u32 = load<u8>(i);
  if (sign == PLUS || sign == MINUS) i++;
  let digits: i32 = 0;
  while (i < to && isDigit(load<u8>(i))) {
    digits++;
    i++;
  }
  if (i < to && load<u8>(i) == POINT) {
    i++;
    while (i < to && isDigit(load<u8>(i))) {
      digits++;
      i++;
    }
  }
  if (digits == 0) return 0;
  let exponent: i32 = 0;
  if (i < to && (load<u8>(i) | 0x20) == 0x65) {
    i++;
    if (i < to && (load<u8>(i) == PLUS || load<u8>(i) == MINUS)) i++;
    if (i == to || to - i > 3) return 0;
    while (i < to && isDigit(load<u8>(i))) exponent = exponent * 10 + (load<u8>(i++) - ZERO);
  }
  if (i != to || digits + exponent > load<i32>(column, COLUMN_FIRST)) return 0;
  return copy(out, from, to - from);
}

/** `0001` and `9999` */
const FIRST_YEAR: u32 = 0x31303030;
const LAST_YEAR: u32 = 0x39393939;

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
  if (nonDigits(at, 10) != 0x90 || load<u8>(at, 4) != MINUS || load<u8>(at, 7) != MINUS) return false;
  const century = twoDigits(at);
  const inCentury = twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (month < 1 || month > 12 || day < 1) return false;
  const year = century * 100 + inCentury;
  if (year == 0) return false;
  if (day <= 28) return true;
  if (month == 2) return day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31);
}

/** Returns the shortest scale of times: targets print them without zeros at the end of a second, or with this number of digits. */
// @ts-ignore: decorator
@inline
function shortestScale(column: usize): i32 {
  return min(SHORTEST_SCALE, load<i32>(column, COLUMN_PLAIN_SCALE));
}

/**
 * Returns the end of a time without its zone, or 0 if it has another form. It needs an hour up to 23 and at most six digits of a second.
 */
function endOfTime(column: usize, at: usize, to: usize): usize {
  if (at + 8 > to || load<u8>(at, 2) != COLON || load<u8>(at, 5) != COLON) return 0;
  const hour = twoDigits(at);
  const minute = twoDigits(at + 3);
  const second = twoDigits(at + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
  at += 8;
  let fraction = 0;
  if (at < to && load<u8>(at) == POINT) {
    const first = ++at;
    while (at < to && isDigit(load<u8>(at))) at++;
    if (at == first || at - first > 6) return 0;
    fraction = <i32>(at - first);
  }
  if ((load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) != 0 && !isPrintedFraction(fraction, at, shortestScale(column))) return 0;
  return at;
}

/**
 * True if the zone `[at, to)` of the date and time that begins at `from` is an offset that, with the instant, reproduces the text. The
 * TypeScript code handles the rest: years whose instant may fall outside those that columns hold, `-00:00`, and seconds whose digits are
 * not reproduced.
 */
function isUsualOffset(column: usize, from: usize, at: usize, to: usize): bool {
  const sign: u32 = load<u8>(at);
  if ((sign != PLUS && sign != MINUS) || at + 6 != to || load<u8>(at, 3) != COLON) return false;
  const hours = twoDigits(at + 1);
  const minutes = twoDigits(at + 4);
  if (hours < 0 || minutes < 0 || minutes > 59 || hours > 14 || (hours == 14 && minutes > 0)) return false;
  if (sign == MINUS && hours + minutes == 0) return false;
  if (!isPrintedFraction(at - from > 19 ? <i32>(at - from - 20) : 0, at, shortestScale(column))) return false;
  const year: u32 = load<u32>(from);
  return year != FIRST_YEAR && year != LAST_YEAR;
}

/**
 * Writes the offset of the value that ends at `to` after it, in minutes, and notes it in the slot after that of the value. Returns the
 * end of the output.
 */
function writeOffset(slot: usize, to: usize): usize {
  if (load<u8>(to - 1) == 0x5a) return to;
  let out = to;
  if (load<u8>(to - 6) == MINUS) store<u8>(out++, MINUS);
  out = writeInteger(<u32>(twoDigits(to - 5) * 60 + twoDigits(to - 2)), out);
  const arena: usize = load<usize>(ARENA);
  store<i32>(slot, <i32>(to - arena), 8);
  store<i32>(slot, <i32>(out - arena), 12);
  return out;
}

/** Values without a zone, and for COLUMN_CONVERSION timestamp with time zone, those in UTC or with an offset that has a column. */
function convertCalendar(column: usize, kind: i32, from: usize, to: usize, out: usize): usize {
  let end = from;
  if (kind != CONVERT_TIME) {
    if (to - from < 10 || !isDate(from)) return 0;
    end += 10;
    if (kind != CONVERT_DATE) {
      if (end == to || load<u8>(end) != 0x54) return 0;
      end++;
    }
  }
  if (kind != CONVERT_DATE) {
    end = endOfTime(column, end, to);
    if (end == 0) return 0;
  }
  if (kind == CONVERT_TIMESTAMP_UTC || kind == CONVERT_TIMESTAMP_OFFSET) {
    if (end == to) return 0;
    if (load<u8>(end) == 0x5a) end++;
    else if (kind == CONVERT_TIMESTAMP_OFFSET && isUsualOffset(column, from, end, to)) end = to;
    else return 0;
  }
  return end == to ? copy(out, from, to - from) : 0;
}

/**
 * Converts a list of texts or numbers to an array literal, `{1,2}` or `{"a b","c"}`, which is then escaped as text. The literal is first
 * built far enough behind `out` for the longest result: an item of one character with the space before it becomes seven bytes.
 */
function convertList(column: usize, kind: i32, from: usize, to: usize, out: usize): usize {
  if (kind == CONVERT_TEXT && load<i32>(PREFIX_COUNT) != 0 && usesPrefix(from, to)) return 0;
  const begin = out + 8 * (to - from) + 64;
  if (begin + 8 * (to - from) + 64 > load<usize>(ARENA) + load<usize>(ARENA_CAPACITY)) return 0;
  let literal = begin;
  store<u8>(literal++, OPEN_BRACE);
  const limit: u32 = load<u32>(column, COLUMN_FIRST);
  while (true) {
    while (from < to && isSpace(load<u8>(from))) from++;
    if (from == to) break;
    const item = from;
    while (from < to && !isSpace(load<u8>(from))) from++;
    if (literal - begin > 1) store<u8>(literal++, COMMA);
    if (kind == CONVERT_TEXT) {
      if (from - item > limit && <u32>characters(item, from) > limit) return 0;
      store<u8>(literal++, QUOTE);
      for (let i = item; i < from; i++) {
        const c = load<u8>(i);
        if (c == QUOTE || c == BACKSLASH) store<u8>(literal++, BACKSLASH);
        store<u8>(literal++, c);
      }
      store<u8>(literal++, QUOTE);
    } else {
      literal = convertNumber(column, kind, item, from, literal);
      if (literal == 0) return 0;
    }
  }
  store<u8>(literal++, CLOSE_BRACE);
  return escape(begin, literal, out);
}

// @ts-ignore: decorator
@inline
function convertNumber(column: usize, kind: i32, from: usize, to: usize, out: usize): usize {
  if (kind == CONVERT_INTEGER) return convertInteger(column, from, to, out);
  if (kind == CONVERT_DECIMAL) return convertDecimal(column, from, to, out);
  return convertFloat(column, from, to, out);
}

/** Writes the value in its column's form at `out` and returns its end, or 0 if the TypeScript code must handle the value. */
function convert(column: usize, from: usize, to: usize, out: usize): usize {
  const kind = load<i32>(column);
  if (kind == CONVERT_TEXT) {
    if (load<i32>(PREFIX_COUNT) != 0 && usesPrefix(from, to)) return 0;
    return convertText(column, from, to, out);
  }
  if (kind == CONVERT_DECIMAL && isUsualDecimal(column, from, to)) return copy(out, from, to - from);
  if (kind == CONVERT_INTEGER && isUsualInteger(from, to, load<usize>(column, COLUMN_FIRST) - 1)) {
    // if the type has a scale, the database prints the point
    if (load<i32>(column, COLUMN_PLAIN_SCALE) <= 0) return copy(out, from, to - from);
  }
  if (kind == 0) return 0;
  if (kind >= CONVERT_LIST) return convertList(column, kind - CONVERT_LIST, from, to, out);
  const start = from;
  const end = to;
  while (from < to && isSpace(load<u8>(from))) from++;
  while (to > from && isSpace(load<u8>(to - 1))) to--;
  if (from == to) return 0;
  const flags = load<i32>(column, COLUMN_FLAGS);
  if ((flags & KEEPS_FORM) != 0 && (from != start || to != end)) return 0;
  if (kind == CONVERT_BOOLEAN) return convertBoolean(column, from, to, out);
  if (kind <= CONVERT_FLOAT) return convertNumber(column, kind, from, to, out);
  return convertCalendar(column, kind, from, to, out);
}

/** Writes a number in decimal digits. */
// @ts-ignore: decorator
@inline
function writeInteger(value: u32, out: usize): usize {
  if (value < 10) {
    store<u8>(out, ZERO + value);
    return out + 1;
  }
  return writeLong(value, out);
}

function writeLong(value: u64, out: usize): usize {
  let length: usize = 1;
  for (let bound: u64 = 10; length < 19 && value >= bound; bound *= 10) length++;
  let at = out + length;
  while (value > 0xffffffff) {
    const rest = value / 10;
    store<u8>(--at, ZERO + <u32>(value - rest * 10));
    value = rest;
  }
  let low = <u32>value;
  while (at > out) {
    const rest = low / 10;
    store<u8>(--at, ZERO + (low - rest * 10));
    low = rest;
  }
  return out + length;
}
