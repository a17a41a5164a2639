// Part of src/engine/shred/kernel/shred.as: values in COPY text as members of JSON Lines, as src/engine/shred/json-line-members.ts writes them.

/** The most bytes that one byte of a value becomes. */
const MOST_JSON_BYTES: usize = 6;
/** a backslash, and an N */
const NULL_TEXT: u32 = 0x4e5c;

/** Returns a bit mask of the bytes that a JSON string must escape. */
// @ts-ignore: decorator
@inline
function specialsIn(v: v128): i32 {
  return i8x16.bitmask(v128.or(i8x16.eq(v, v128.load(ALL_QUOTE)), i8x16.lt_u(v, i8x16.splat(SPACE))));
}

/** Counts the bytes that may become longer in JSON: quotes, control characters, and commas, because a zero may be missing after one. */
function specialsOf(from: usize, to: usize): usize {
  let count: usize = 0;
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (c < SPACE || c == QUOTE || c == COMMA) count++;
  }
  return count;
}

/** True if a value of up to 16 bytes consists of digits, with or without further digits after a point, and has no needless leading zero. */
// @ts-ignore: decorator
@inline
function isJsonNumber(from: usize, length: usize): bool {
  if (length - 1 > 15) return false;
  const others = nonDigits(from, length);
  if (others == 0) return load<u8>(from) != ZERO || length == 1;
  const point = <usize>ctz(others);
  if (others != 1 << <i32>point || load<u8>(from + point) != POINT || point == 0 || point == length - 1) return false;
  return load<u8>(from) != ZERO || point == 1;
}

/** The escapes of COPY mean the same in JSON; quotes, and control characters that XML 1.1 has, are escaped here. */
function escapeJson(from: usize, to: usize, out: usize): usize {
  while (from < to) {
    const v = v128.load(from);
    v128.store(out, v);
    const specials = specialsIn(v);
    const rest = to - from;
    const plain: usize = specials == 0 ? 16 : <usize>ctz(specials);
    if (plain >= rest) return out + rest;
    from += plain;
    out += plain;
    if (specials == 0) continue;
    const c: u32 = load<u8>(from++);
    store<u8>(out, BACKSLASH);
    if (c == QUOTE) {
      store<u8>(out, QUOTE, 1);
      out += 2;
      continue;
    }
    // u00
    store<u32>(out, 0x303075, 1);
    const low = c & 15;
    store<u8>(out, ZERO + (c >> 4), 4);
    store<u8>(out, low < 10 ? ZERO + low : 87 + low, 5);
    out += 6;
  }
  return out;
}

function writeJsonText(from: usize, to: usize, out: usize): usize {
  store<u8>(out, QUOTE);
  out = escapeJson(from, to, out + 1);
  store<u8>(out, QUOTE);
  return out + 1;
}

// @ts-ignore: decorator
@inline
function skipDigits(at: usize, to: usize): usize {
  while (at < to && isDigit(load<u8>(at))) at++;
  return at;
}

/**
 * Writes a number without a plus sign or needless leading zeros, and with digits on both sides of the point. Writes a value that is not a
 * JSON number as text.
 */
function writeJsonNumber(from: usize, to: usize, out: usize): usize {
  const sign = load<u8>(from);
  let whole = from < to && (sign == MINUS || sign == PLUS) ? from + 1 : from;
  const wholeEnd = skipDigits(whole, to);
  const fractionEnd = wholeEnd < to && load<u8>(wholeEnd) == POINT ? skipDigits(wholeEnd + 1, to) : wholeEnd;
  const hasFraction = fractionEnd > wholeEnd + 1;
  let end = fractionEnd;
  if (end < to && (load<u8>(end) | 32) == 0x65) {
    const first = load<u8>(end, 1) == PLUS || load<u8>(end, 1) == MINUS ? end + 2 : end + 1;
    const past = skipDigits(first, to);
    if (past > first) end = past;
  }
  if (end != to || (whole == wholeEnd && !hasFraction)) return writeJsonText(from, to, out);
  if (sign == MINUS) store<u8>(out++, MINUS);
  while (whole + 1 < wholeEnd && load<u8>(whole) == ZERO) whole++;
  if (whole == wholeEnd) store<u8>(out++, ZERO);
  out = copy(out, whole, (hasFraction ? fractionEnd : wholeEnd) - whole);
  return fractionEnd < to ? copy(out, fractionEnd, to - fractionEnd) : out;
}

function writeJsonBoolean(from: usize, to: usize, out: usize): usize {
  const c: u32 = load<u8>(from);
  if (to - from != 1 || (c != 0x74 && c != 0x66)) return writeJsonText(from, to, out);
  // true, fals
  store<u32>(out, c == 0x74 ? 0x65757274 : 0x736c6166);
  if (c == 0x74) return out + 4;
  store<u8>(out, 0x65, 4);
  return out + 5;
}

function writeJsonScalar(form: i32, from: usize, to: usize, out: usize): usize {
  if (form == MEMBER_NUMBER) return writeJsonNumber(from, to, out);
  if (form == MEMBER_BOOLEAN) return writeJsonBoolean(from, to, out);
  return writeJsonText(from, to, out);
}

/** Quotes and the commas between items are JSON's already; of their backslashes COPY has made two. */
function writeQuotedItems(from: usize, to: usize, out: usize): usize {
  while (from < to) {
    const c: u32 = load<u8>(from);
    if (c != BACKSLASH) {
      if (c >= SPACE) store<u8>(out++, c);
      else out = escapeJson(from, from + 1, out);
      from++;
      continue;
    }
    const isQuote = load<u8>(from, 2) == QUOTE;
    store<u8>(out, BACKSLASH);
    store<u8>(out, isQuote ? QUOTE : BACKSLASH, 1);
    out += 2;
    from += isQuote ? 3 : 4;
  }
  return out;
}

/** An array literal, `{1,2}` or `{"a b","c"}`. */
function writeJsonList(form: i32, from: usize, to: usize, out: usize): usize {
  if (to - from < 2 || load<u8>(from) != OPEN_BRACE || load<u8>(to - 1) != CLOSE_BRACE)
    return writeJsonText(from, to, out);
  const last = to - 1;
  store<u8>(out++, OPEN_BRACKET);
  from++;
  if (load<u8>(from) == QUOTE) {
    out = writeQuotedItems(from, last, out);
  } else {
    const first = from;
    while (from < last) {
      let end = from;
      while (end < last && load<u8>(end) != COMMA) end++;
      if (from > first) store<u8>(out++, COMMA);
      out = writeJsonScalar(form, from, end, out);
      from = end + 1;
    }
  }
  store<u8>(out, CLOSE_BRACKET);
  return out + 1;
}

/** Writes a value in JSON, after the bytes that precede it. `member`: see MEMBERS. */
// @ts-ignore: decorator
@inline
function writeMember(member: usize, from: usize, length: usize, out: usize): usize {
  const v = v128.load(from);
  out = copy(out, load<usize>(member), load<usize>(member, 4));
  const form = load<i32>(member, 8);
  if (length <= 16) {
    if (form == MEMBER_DIGITS) {
      v128.store(out, v);
      return out + length;
    }
    if (form == MEMBER_TEXT) {
      if ((specialsIn(v) & ((1 << <i32>length) - 1)) == 0) {
        store<u8>(out, QUOTE);
        v128.store(out, v, 1);
        out += length + 1;
        store<u8>(out, QUOTE);
        return out + 1;
      }
    } else if (form == MEMBER_NUMBER && isJsonNumber(from, length)) {
      v128.store(out, v);
      return out + length;
    }
  } else if (form == MEMBER_DIGITS) return copy(out, from, length);
  if (form >= MEMBER_LIST) return writeJsonList(form - MEMBER_LIST, from, from + length, out);
  return writeJsonScalar(form, from, from + length, out);
}

/** Writes NULL, after the bytes that precede it. */
// @ts-ignore: decorator
@inline
function writeNullMember(member: usize, out: usize): usize {
  out = copy(out, load<usize>(member), load<usize>(member, 4));
  // null
  store<u32>(out, 0x6c6c756e);
  return out + 4;
}
