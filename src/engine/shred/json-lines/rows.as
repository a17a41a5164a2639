// Rows in COPY text as JSON Lines: what src/engine/shred/json-lines/encoder.ts does, but for lists.

const VECTOR: usize = 16;

// @ts-ignore: decorator
@inline
function copy(out: usize, from: usize, length: usize): usize {
  v128.store(out, v128.load(from));
  // what is copied is mostly short, and a call costs more
  for (let at = VECTOR; at < length; at += VECTOR) v128.store(out + at, v128.load(from + at));
  return out + length;
}

// @ts-ignore: decorator
@inline
function isDigit(c: u32): bool {
  return c - ZERO <= 9;
}

/** Where tabs and line feeds are, by bits. */
// @ts-ignore: decorator
@inline
function endsIn(v: v128): i32 {
  return i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(TAB)), i8x16.eq(v, i8x16.splat(LF))));
}

/** Where the field ends that goes on at `at`: a tab, or a line feed. */
function endOfField(at: usize): usize {
  while (true) {
    const found = endsIn(v128.load(at));
    if (found != 0) return at + ctz(found);
    at += VECTOR;
  }
}

/** What JSON does not take in a string as it is, by bits. */
// @ts-ignore: decorator
@inline
function specialsIn(v: v128): i32 {
  return i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(QUOTE)), i8x16.lt_u(v, i8x16.splat(SPACE))));
}

/** Whether a field of fewer than 16 bytes is digits, with others behind a point or without, and has no needless zero before it. */
// @ts-ignore: decorator
@inline
function isPlainNumber(v: v128, length: i32): bool {
  const digits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(ZERO)), i8x16.splat(10)));
  const others = ~digits & ((1 << length) - 1);
  const first: u32 = i8x16.extract_lane_u(v, 0);
  if (others == 0) return first != ZERO ? length > 0 : length == 1;
  const point = ctz(others);
  const points = i8x16.bitmask(i8x16.eq(v, i8x16.splat(POINT)));
  if (others != 1 << point || (points & others) == 0 || point == 0 || point == length - 1) return false;
  return first != ZERO || point == 1;
}

/** The escapes of COPY mean the same in JSON; quotes, and control characters that XML 1.1 has, are escaped here. */
function writeText(from: usize, to: usize, out: usize): usize {
  store<u8>(out++, QUOTE);
  while (from < to) {
    const v = v128.load(from);
    v128.store(out, v);
    const specials = specialsIn(v);
    const rest = to - from;
    const plain = specials == 0 ? VECTOR : <usize>ctz(specials);
    if (plain >= rest) {
      out += rest;
      break;
    }
    from += plain;
    out += plain;
    if (specials == 0) continue;
    const c: u32 = load<u8>(from++);
    store<u8>(out++, BACKSLASH);
    if (c == QUOTE) {
      store<u8>(out++, QUOTE);
      continue;
    }
    // u00
    store<u32>(out, 0x303075);
    const low = c & 15;
    store<u8>(out, ZERO + (c >> 4), 3);
    store<u8>(out, low < 10 ? ZERO + low : 87 + low, 4);
    out += 5;
  }
  store<u8>(out, QUOTE);
  return out + 1;
}

// @ts-ignore: decorator
@inline
function skipDigits(at: usize, to: usize): usize {
  while (at < to && isDigit(load<u8>(at))) at++;
  return at;
}

/** No plus sign, no needless zeros before it, digits on both sides of the point; what is no number of JSON is text. */
function writeNumber(from: usize, to: usize, out: usize): usize {
  const sign = load<u8>(from);
  let whole = sign == MINUS || sign == PLUS ? from + 1 : from;
  const wholeEnd = skipDigits(whole, to);
  const fractionEnd = wholeEnd < to && load<u8>(wholeEnd) == POINT ? skipDigits(wholeEnd + 1, to) : wholeEnd;
  const hasFraction = fractionEnd > wholeEnd + 1;
  let end = fractionEnd;
  if (end < to && (load<u8>(end) | 32) == 0x65) {
    const first = load<u8>(end, 1) == PLUS || load<u8>(end, 1) == MINUS ? end + 2 : end + 1;
    const past = skipDigits(first, to);
    if (past > first) end = past;
  }
  if (end != to || (whole == wholeEnd && !hasFraction)) return writeText(from, to, out);
  if (sign == MINUS) store<u8>(out++, MINUS);
  while (whole + 1 < wholeEnd && load<u8>(whole) == ZERO) whole++;
  if (whole == wholeEnd) store<u8>(out++, ZERO);
  out = copy(out, whole, (hasFraction ? fractionEnd : wholeEnd) - whole);
  return fractionEnd < to ? copy(out, fractionEnd, to - fractionEnd) : out;
}

function writeBoolean(from: usize, to: usize, out: usize): usize {
  const c = load<u8>(from);
  if (to - from != 1 || (c != 0x74 && c != 0x66)) return writeText(from, to, out);
  // true, fals
  store<u32>(out, c == 0x74 ? 0x65757274 : 0x736c6166);
  if (c == 0x74) return out + 4;
  store<u8>(out, 0x65, 4);
  return out + 5;
}

/** Where the rows end that were written, and what was written of them. */
let written: usize = 0;

export function endOfWritten(): usize {
  return written;
}

/**
 * Writes the rows from `from` to `to`, as many of them as there is room for below `limit`; answers where the first begins that was not
 * written. `members`: of each column three int32, where `{"name":` or `,"name":` is, its length, and how the value is written.
 */
export function writeLines(from: usize, to: usize, members: usize, count: i32, out: usize, limit: usize): usize {
  const last = members + <usize>count * 12;
  while (from < to) {
    const row = from;
    const begin = out;
    for (let member = members; member < last; member += 12) {
      const v = v128.load(from);
      const ends = endsIn(v);
      const end = ends != 0 ? from + ctz(ends) : endOfField(from + VECTOR);
      const length = end - from;
      const prefix = load<usize>(member, 4);
      if (out + prefix + length * 6 + 80 > limit) {
        written = begin;
        return row;
      }
      out = copy(out, load<usize>(member), prefix);
      const kind = load<i32>(member, 8);
      if (kind == WRITE_NUMBER && ends != 0 && isPlainNumber(v, <i32>length)) {
        v128.store(out, v);
        out += length;
      } else if (length == 2 && load<u16>(from) == NULL_TEXT) {
        // null
        store<u32>(out, 0x6c6c756e);
        out += 4;
      } else if (kind == WRITE_NUMBER) out = writeNumber(from, end, out);
      else if (kind == WRITE_BOOLEAN) out = writeBoolean(from, end, out);
      else if (ends != 0 && (specialsIn(v) & ((1 << <i32>length) - 1)) == 0) {
        store<u8>(out, QUOTE);
        v128.store(out, v, 1);
        store<u8>(out + length, QUOTE, 1);
        out += length + 2;
      } else out = writeText(from, end, out);
      from = end + 1;
    }
    // }, and a line feed
    store<u16>(out, 0x0a7d);
    out += 2;
  }
  written = out;
  return from;
}
