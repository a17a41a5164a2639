// Part of src/engine/xml/kernel/scan.as: names, references, and text and values that need decoding.

/** Returns the id of the known name at `from`, or -1 for all others. Sets NAME_END. */
function findName(from: usize): i32 {
  const classes: usize = load<usize>(NAME_CLASS);
  if (load<u8>(classes + load<u8>(from)) != CLASS_START) return -1;
  let hash: i32 = 0;
  let p = from;
  while (true) {
    const c: u32 = load<u8>(p);
    const kind: u32 = load<u8>(classes + c);
    if (kind == CLASS_NONE) break;
    if (kind == CLASS_WIDE) return -1;
    hash = (hash * 0x01000193) ^ c;
    p++;
  }
  const mask = load<i32>(SLOT_MASK);
  const slots: usize = load<usize>(SLOTS);
  const hashes: usize = load<usize>(HASHES);
  const mixed: i32 = (hash ^ (hash >>> 16)) * 0x85ebca6b;
  let slot = (mixed ^ (mixed >>> 13)) & mask;
  for (let probe = 0; probe < MOST_PROBES; probe++) {
    const id = at(slots, slot);
    if (id == 0) return -1;
    if (at(hashes, id) == hash) {
      const start = at(load<usize>(STARTS), id);
      const length = <usize>(at(load<usize>(ENDS), id) - start);
      if (length == p - from && same(load<usize>(ARENA) + start, from, length)) {
        if (at(load<usize>(KINDS), id) < 0) return -1;
        store<u32>(NAME_END, <u32>p);
        return id;
      }
    }
    slot = (slot + 1) & mask;
  }
  return -1;
}

// @ts-ignore: decorator
@inline
function isXmlCharacter(c: u32): bool {
  if (c < SPACE) return c == TAB || c == LF || c == CR;
  return c <= 0xd7ff || (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

/** Returns the code point of the predefined or character reference at `&`, or -1 for all others. Sets NAME_END to its end. */
function reference(p: usize): i32 {
  const c: u32 = load<u8>(p, 1);
  if (c == HASH) {
    let i = p + 2;
    let radix: u32 = 10;
    if (load<u8>(i) == 0x78) {
      radix = 16;
      i++;
    }
    const digitsAt = i;
    let value: u32 = 0;
    while (true) {
      const byte: u32 = load<u8>(i);
      let digit = byte - 0x30;
      if (digit > 9) {
        const lower = (byte | 0x20) - 0x61;
        if (radix == 10 || lower > 5) break;
        digit = lower + 10;
      }
      value = min<u32>(value * radix + digit, 0x110000);
      i++;
    }
    if (i == digitsAt || load<u8>(i) != SEMICOLON || !isXmlCharacter(value)) return -1;
    store<u32>(NAME_END, <u32>(i + 1));
    return <i32>value;
  }
  const four = load<u32>(p, 1);
  if (four == 0x3b706d61) {
    store<u32>(NAME_END, <u32>(p + 5));
    return AMPERSAND;
  }
  if ((four & 0xffffff) == 0x3b746c) {
    store<u32>(NAME_END, <u32>(p + 4));
    return LESS;
  }
  if ((four & 0xffffff) == 0x3b7467) {
    store<u32>(NAME_END, <u32>(p + 4));
    return GREATER;
  }
  if (load<u8>(p, 5) == SEMICOLON) {
    store<u32>(NAME_END, <u32>(p + 6));
    if (four == 0x746f7571) return QUOTE;
    if (four == 0x736f7061) return APOSTROPHE;
  }
  return -1;
}

function writeCodePoint(c: u32, out: usize): usize {
  if (c < 0x80) {
    store<u8>(out, c);
    return out + 1;
  }
  if (c < 0x800) {
    store<u8>(out, 0xc0 | (c >> 6));
    store<u8>(out, 0x80 | (c & 0x3f), 1);
    return out + 2;
  }
  if (c < 0x10000) {
    store<u8>(out, 0xe0 | (c >> 12));
    store<u8>(out, 0x80 | ((c >> 6) & 0x3f), 1);
    store<u8>(out, 0x80 | (c & 0x3f), 2);
    return out + 3;
  }
  store<u8>(out, 0xf0 | (c >> 18));
  store<u8>(out, 0x80 | ((c >> 12) & 0x3f), 1);
  store<u8>(out, 0x80 | ((c >> 6) & 0x3f), 2);
  store<u8>(out, 0x80 | (c & 0x3f), 3);
  return out + 4;
}

/** Copies; both sides may be read and written 16 bytes further. */
// @ts-ignore: decorator
@inline
function copy(out: usize, from: usize, to: usize): usize {
  const length = to - from;
  if (length > 64) memory.copy(out, from, length);
  else for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(from + i));
  return out + length;
}

/**
 * Decodes text that began at `start` and needs decoding from `p` on, into one record at `e` if possible. Returns the position where it
 * stopped: at `<`, at something that TypeScript must read, or at `p`, without a record, if that is already there.
 */
function decodeText(start: usize, p: usize, end: usize, e: usize): usize {
  const begin: usize = load<usize>(DECODED) + load<u32>(DECODED_END);
  const first = p;
  let out = begin;
  let from = start;
  let literal = false;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == AMPERSAND) {
      const codePoint = reference(p);
      if (codePoint < 0) break;
      out = copy(out, from, p);
      out = writeCodePoint(codePoint, out);
      literal = true;
      p = from = load<usize>(NAME_END);
    } else if (c == CR) {
      if (p + 1 >= end) break;
      out = copy(out, from, p);
      store<u8>(out++, LF);
      p = from = load<u8>(p, 1) == LF ? p + 2 : p + 1;
    } else if (c >= 0x80) {
      let next = skipMixedText(p);
      if (next == p) next = skipMultiByte(p, end);
      if (next == p) break;
      p = next;
    } else if (c == CLOSE_BRACKET && p + 1 < end && load<u8>(p, 1) != CLOSE_BRACKET) {
      p++;
    } else {
      break;
    }
    if (out - begin > DECODED_RECORD_BYTES) break;
    p = skipPlainText(p);
  }
  if (out == begin) return first;
  out = copy(out, from, p);
  let kind = KIND_TEXT | FLAG_DECODED;
  if (!literal) {
    let i = begin;
    while (i < out && isSpace(load<u8>(i))) i++;
    if (i == out) kind |= FLAG_WHITE_SPACE;
  }
  const decoded: usize = load<usize>(DECODED);
  store<i32>(e, kind);
  store<i32>(e, 0, 4);
  store<i32>(e, <i32>(begin - decoded), 8);
  store<i32>(e, <i32>(out - decoded), 12);
  store<i32>(load<usize>(SOURCES) + ((e - load<usize>(EVENTS)) >> 2), <i32>(start - load<usize>(WINDOW)));
  store<i32>(DECODED_END, <i32>(out - decoded));
  return p;
}

/**
 * Decodes a value that began at `start` and needs decoding from `p` on, and appends it to the decoded bytes. Returns the closing quote,
 * or 0 if TypeScript must read the value.
 */
function decodeValue(start: usize, p: usize, quote: u32, end: usize): usize {
  const decoded: usize = load<usize>(DECODED);
  let out = decoded + load<u32>(DECODED_END);
  let from = start;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == quote) break;
    if (c == AMPERSAND) {
      const codePoint = reference(p);
      if (codePoint < 0) return 0;
      out = copy(out, from, p);
      out = writeCodePoint(codePoint, out);
      p = from = load<usize>(NAME_END);
    } else if (c == TAB || c == LF || c == CR) {
      if (p + 1 >= end) return 0;
      out = copy(out, from, p);
      store<u8>(out++, SPACE);
      p = from = c == CR && load<u8>(p, 1) == LF ? p + 2 : p + 1;
    } else if (c >= 0x80) {
      const next = skipMultiByte(p, end);
      if (next == p) return 0;
      p = next;
    } else {
      return 0;
    }
    p = skipPlainValue(p, quote);
  }
  out = copy(out, from, p);
  store<u32>(DECODED_END, <u32>(out - decoded));
  return p;
}
