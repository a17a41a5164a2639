/**
 * Converts values of JSON (RFC 8259) in place to the text that documents have. Each function returns 0 if the value is not in the form
 * that the tools write.
 */

/** Words in memory, the first byte lowest: `true`, `fals` and `null`. */
const TRUE_WORD: u32 = 0x65757274;
const FALSE_WORD: u32 = 0x736c6166;
const NULL_WORD: u32 = 0x6c6c756e;
/** `Infinity` */
const INFINITY_WORD: u64 = 0x7974696e69666e49;

/** Reads four hexadecimal digits. Returns a number below 0 if there are others. */
function hexadecimal(at: usize): i32 {
  let value: i32 = 0;
  for (let end = at + 4; at < end; at++) {
    const byte = <i32>load<u8>(at);
    const letter = (byte | 0x20) - 0x61;
    const digit = byte - 0x30;
    if (digit >= 0 && digit <= 9) value = (value << 4) | digit;
    else if (letter >= 0 && letter <= 5) value = (value << 4) | (letter + 10);
    else return -1;
  }
  return value;
}

/** Writes the UTF-8 of a character. Returns its end. */
function storeCharacter(out: usize, character: i32): usize {
  if (character < 0x80) {
    store<u8>(out, character);
    return out + 1;
  }
  if (character < 0x800) {
    store<u8>(out, 0xc0 | (character >> 6));
    store<u8>(out, 0x80 | (character & 0x3f), 1);
    return out + 2;
  }
  if (character < 0x10000) {
    store<u8>(out, 0xe0 | (character >> 12));
    store<u8>(out, 0x80 | ((character >> 6) & 0x3f), 1);
    store<u8>(out, 0x80 | (character & 0x3f), 2);
    return out + 3;
  }
  store<u8>(out, 0xf0 | (character >> 18));
  store<u8>(out, 0x80 | ((character >> 12) & 0x3f), 1);
  store<u8>(out, 0x80 | ((character >> 6) & 0x3f), 2);
  store<u8>(out, 0x80 | (character & 0x3f), 3);
  return out + 4;
}

/** Resolves escapes (RFC 8259 §7), from `from` to `to` into `out`. Returns the end of the text. */
function unescapeJson(from: usize, to: usize, out: usize): usize {
  for (let at = from; at < to; at++) {
    let byte = load<u8>(at);
    if (byte != BACKSLASH) {
      store<u8>(out++, byte);
      continue;
    }
    byte = load<u8>(++at);
    if (byte == SMALL_U) {
      let character = at + 4 < to ? hexadecimal(at + 1) : -1;
      if (character < 0) return 0;
      at += 4;
      const half = character & 0xfc00;
      // a surrogate pair (§7), the low half after the high one
      if (half == 0xd800) {
        const isEscape = at + 6 < to && load<u8>(at, 1) == BACKSLASH && load<u8>(at, 2) == SMALL_U;
        const low = isEscape ? hexadecimal(at + 3) : -1;
        if (low < 0 || (low & 0xfc00) != 0xdc00) return 0;
        character = 0x10000 + ((character & 0x3ff) << 10) + (low & 0x3ff);
        at += 6;
      } else if (half == 0xdc00) return 0;
      out = storeCharacter(out, character);
      continue;
    }
    if (byte == SMALL_N) byte = LF;
    else if (byte == SMALL_T) byte = TAB;
    else if (byte == SMALL_R) byte = CR;
    else if (byte == SMALL_B) byte = 0x08;
    else if (byte == SMALL_F) byte = 0x0c;
    else if (byte != QUOTE && byte != BACKSLASH && byte != SLASH) return 0;
    store<u8>(out++, byte);
  }
  return out;
}

/** The first quote, escape, or control character, which no string has as it is. */
// @ts-ignore: decorator
@inline
function findInString(from: usize, end: usize): usize {
  const quote = i8x16.splat(QUOTE);
  const escape = i8x16.splat(BACKSLASH);
  const space = i8x16.splat(0x20);
  for (let at = from; at < end; at += 16) {
    const bytes = v128.load(at);
    const isEnd = v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, escape));
    const found = i8x16.bitmask(v128.or(isEnd, i8x16.lt_u(bytes, space)));
    if (found != 0) return min<usize>(at + ctz(found), end);
  }
  return end;
}

/** Returns the end of the string that begins after a quote, and sets `isEscaped` if it has escapes. */
// @ts-ignore: decorator
@inline
function stringEnd(from: usize, end: usize): usize {
  isEscaped = false;
  for (let at = from; at < end; at += 2) {
    at = findInString(at, end);
    if (at >= end) return 0;
    const byte = load<u8>(at);
    if (byte == QUOTE) return at;
    if (byte != BACKSLASH) return 0;
    isEscaped = true;
  }
  return 0;
}

/** set for the string whose end was searched for last */
let isEscaped: bool = false;

// @ts-ignore: decorator
@inline
function digitsEnd(from: usize): usize {
  let at = from;
  while (<u32>load<u8>(at) - 0x30 <= 9) at++;
  return at;
}

/** Returns the end of a number (RFC 8259 §6), `true` or `false`, which XML writes in the same way. */
function literalEnd(from: usize): usize {
  const word = load<u32>(from);
  if (word == TRUE_WORD) return from + 4;
  if (word == FALSE_WORD && load<u8>(from, 4) == SMALL_E) return from + 5;
  const first = load<u8>(from) == MINUS ? from + 1 : from;
  let at = digitsEnd(first);
  if (at == first || (load<u8>(first) == 0x30 && at > first + 1)) return 0;
  if (load<u8>(at) == POINT) {
    const fraction = at + 1;
    at = digitsEnd(fraction);
    if (at == fraction) return 0;
  }
  if ((load<u8>(at) | 0x20) == SMALL_E) {
    const sign = load<u8>(at, 1);
    const exponent = at + (sign == MINUS || sign == PLUS ? 2 : 1);
    at = digitsEnd(exponent);
    if (at == exponent) return 0;
  }
  return at;
}

/**
 * Writes an infinity in the form of XSD (XSD 1.0 Part 2 §3.2.4) if the value is one in the form that the tools write. Returns its new
 * end.
 */
function infinity(from: usize, to: usize): usize {
  const digits = load<u8>(from) == MINUS ? from + 1 : from;
  if (to - digits != 8 || load<u64>(digits) != INFINITY_WORD) return to;
  store<u8>(digits, LARGE_N, 1);
  store<u8>(digits, LARGE_F, 2);
  store<i32>(IS_CHANGED, 1);
  return digits + 3;
}

/** Items with spaces between (XSD 1.0 Part 2 §2.5.1.2). */
function jsonArray(from: usize, end: usize, field: usize, cell: usize, base: usize): usize {
  const isOfFloats = load<i32>(field + FIELD_FORM) == FORM_LIST;
  store<i32>(IS_CHANGED, 1);
  store<i32>(cell, <i32>(from - base));
  let out = from;
  let at = from + 1;
  if (load<u8>(at) == CLOSE_BRACKET) {
    store<i32>(cell, <i32>(out - base), 4);
    return at + 1;
  }
  for (;;) {
    const item = out;
    if (load<u8>(at) == QUOTE) {
      const to = stringEnd(at + 1, end);
      if (to == 0) return 0;
      out = unescapeJson(at + 1, to, out);
      if (out == 0) return 0;
      at = to + 1;
    } else {
      const to = literalEnd(at);
      if (to == 0) return 0;
      for (; at < to; at++) store<u8>(out++, load<u8>(at));
    }
    if (isOfFloats) out = infinity(item, out);
    const byte = load<u8>(at++);
    if (byte == CLOSE_BRACKET) break;
    if (byte != COMMA) return 0;
    store<u8>(out++, 0x20);
  }
  store<i32>(cell, <i32>(out - base), 4);
  return at;
}

/** Reads the value at `from` and writes its place to the cell. Returns its end. */
// @ts-ignore: decorator
@inline
function jsonValue(from: usize, end: usize, field: usize, cell: usize, base: usize): usize {
  const byte = load<u8>(from);
  if (byte == QUOTE) {
    const at = stringEnd(from + 1, end);
    if (at == 0) return 0;
    let to = at;
    if (isEscaped) {
      to = unescapeJson(from + 1, at, from + 1);
      if (to == 0) return 0;
      store<i32>(IS_CHANGED, 1);
    }
    if (load<i32>(field + FIELD_FORM) == FORM_FLOAT) to = infinity(from + 1, to);
    store<i32>(cell, <i32>(from + 1 - base));
    store<i32>(cell, <i32>(to - base), 4);
    return at + 1;
  }
  if (byte == OPEN_BRACKET) return jsonArray(from, end, field, cell, base);
  if (load<u32>(from) == NULL_WORD) {
    store<i32>(cell, -1);
    store<i32>(cell, -1, 4);
    return from + 4;
  }
  const to = literalEnd(from);
  if (to == 0) return 0;
  store<i32>(cell, <i32>(from - base));
  store<i32>(cell, <i32>(to - base), 4);
  return to;
}
