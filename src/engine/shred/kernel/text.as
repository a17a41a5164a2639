// Part of src/engine/shred/kernel/shred.as: character data as rows have it, in COPY text and CSV.

const RECORD_SHIFT = 4;

// Vectors of one byte, which `prepare` puts into memory: see src/engine/xml/kernel/scan.as.
const ALL_BACKSLASH: usize = CONTROL + 1024;
const ALL_TAB: usize = CONTROL + 1040;
const ALL_LF: usize = CONTROL + 1056;
const ALL_CR: usize = CONTROL + 1072;
const ALL_COMMA: usize = CONTROL + 1088;
const ALL_QUOTE: usize = CONTROL + 1104;
const ALL_ZERO_ABOVE_LOWEST: usize = CONTROL + 1120;
const ALL_LOWEST_NINE: usize = CONTROL + 1136;
const ALL_CONTINUATION: usize = CONTROL + 1152;
const ALL_COLON: usize = CONTROL + 1168;

/** Writes the vectors that the kernel loads. Must be called once, before any other function. */
export function prepare(): void {
  v128.store(ALL_BACKSLASH, i8x16.splat(BACKSLASH));
  v128.store(ALL_TAB, i8x16.splat(TAB));
  v128.store(ALL_LF, i8x16.splat(LF));
  v128.store(ALL_CR, i8x16.splat(CR));
  v128.store(ALL_COMMA, i8x16.splat(COMMA));
  v128.store(ALL_QUOTE, i8x16.splat(QUOTE));
  v128.store(ALL_ZERO_ABOVE_LOWEST, i8x16.splat(<i8>(<u32>ZERO + 128)));
  v128.store(ALL_LOWEST_NINE, i8x16.splat(-128 + 9));
  v128.store(ALL_CONTINUATION, i8x16.splat(<i8>0xbf));
  v128.store(ALL_COLON, i8x16.splat(COLON));
}

// @ts-ignore: decorator
@inline
function isSpace(c: u32): bool {
  return c == SPACE || c == LF || c == TAB || c == CR;
}

// @ts-ignore: decorator
@inline
function isDigit(c: u32): bool {
  return c - ZERO <= 9;
}

/** True if the text uses one of the prefixes that are looked for, as defined by src/engine/shred/walk/content-prefixes.ts. */
function usesPrefix(from: usize, to: usize): bool {
  for (let at = from; at < to; at += 16) {
    let found = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(ALL_COLON)));
    const rest = to - at;
    if (rest < 16) found &= (1 << <i32>rest) - 1;
    while (found != 0) {
      if (isBehindPrefix(from, at + <usize>ctz(found), to)) return true;
      found &= found - 1;
    }
  }
  return false;
}

function isBehindPrefix(from: usize, colon: usize, to: usize): bool {
  if (colon + 1 >= to) return false;
  const next: u32 = load<u8>(colon, 1);
  if (!isLetter(next) && next != ASTERISK) return false;
  const count = load<i32>(PREFIX_COUNT);
  if (count < 0) return true;
  let entry = load<usize>(PREFIXES);
  for (let i = 0; i < count; i++) {
    const length = <usize>load<u8>(entry);
    const start = colon - length;
    if (
      start >= from &&
      memory.compare(start, entry + 1, length) == 0 &&
      (start == from || !isPartOfName(load<u8>(start - 1)))
    )
      return true;
    entry += 1 + length;
  }
  return false;
}

// @ts-ignore: decorator
@inline
function isLetter(c: u32): bool {
  return c >= 0x80 || c == 0x5f || (c | 0x20) - 0x61 < 26;
}

// @ts-ignore: decorator
@inline
function isPartOfName(c: u32): bool {
  return isLetter(c) || c == 0x2d || c == 0x2e || isDigit(c);
}

/** Copies; both sides may be read and written 16 bytes further. */
// @ts-ignore: decorator
@inline
function copy(out: usize, from: usize, length: usize): usize {
  v128.store(out, v128.load(from));
  if (length > 16) {
    if (length > 128) memory.copy(out, from, length);
    else for (let i: usize = 16; i < length; i += 16) v128.store(out + i, v128.load(from + i));
  }
  return out + length;
}

/** Character data in COPY text; writes at most twice as much, and 16 bytes further. */
// @ts-ignore: decorator
@inline
function escapeCopyText(from: usize, to: usize, out: usize): usize {
  while (from < to) {
    const v = v128.load(from);
    v128.store(out, v);
    const specials = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(v, v128.load(ALL_BACKSLASH)), i8x16.eq(v, v128.load(ALL_TAB))),
        v128.or(i8x16.eq(v, v128.load(ALL_LF)), i8x16.eq(v, v128.load(ALL_CR))),
      ),
    );
    const rest = to - from;
    if (specials == 0) {
      if (rest <= 16) return out + rest;
      from += 16;
      out += 16;
      continue;
    }
    const plain = <usize>ctz(specials);
    if (plain >= rest) return out + rest;
    from += plain;
    out += plain;
    const c: u32 = load<u8>(from++);
    store<u8>(out, BACKSLASH);
    store<u8>(out, c == BACKSLASH ? BACKSLASH : c == TAB ? 0x74 : c == LF ? 0x6e : 0x72, 1);
    out += 2;
  }
  return out;
}

/** Character data in CSV; writes at most twice as much and two quotes, and 16 bytes further. */
function escapeCsv(from: usize, to: usize, out: usize): usize {
  let quoted = from == to || load<u8>(from) == BACKSLASH;
  for (let i: usize = 0; !quoted && from + i < to; i += 16) {
    const v = v128.load(from + i);
    v128.store(out + i, v);
    let specials = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(v, v128.load(ALL_COMMA)), i8x16.eq(v, v128.load(ALL_QUOTE))),
        v128.or(i8x16.eq(v, v128.load(ALL_LF)), i8x16.eq(v, v128.load(ALL_CR))),
      ),
    );
    const rest = to - from - i;
    if (rest < 16) specials &= (1 << <i32>rest) - 1;
    quoted = specials != 0;
  }
  if (!quoted) return out + (to - from);
  store<u8>(out++, QUOTE);
  for (; from < to; from++) {
    const c = load<u8>(from);
    if (c == QUOTE) store<u8>(out++, QUOTE);
    store<u8>(out++, c);
  }
  store<u8>(out++, QUOTE);
  return out;
}

// @ts-ignore: decorator
@inline
function escape(from: usize, to: usize, out: usize): usize {
  return load<i32>(MODE) == MODE_CSV ? escapeCsv(from, to, out) : escapeCopyText(from, to, out);
}

/** Characters of UTF-8 text. */
function characters(from: usize, to: usize): i32 {
  let count: i32 = 0;
  for (; from + 16 <= to; from += 16)
    count += popcnt(i8x16.bitmask(i8x16.gt_s(v128.load(from), v128.load(ALL_CONTINUATION))));
  for (; from < to; from++) if ((load<u8>(from) & 0xc0) != 0x80) count++;
  return count;
}

/** True if white space must be collapsed: some is at an end, repeated, or not a space. */
function needsCollapse(from: usize, to: usize): bool {
  let before = true;
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (c > SPACE) {
      before = false;
      continue;
    }
    if (before || c != SPACE) return true;
    before = true;
  }
  return before;
}

/** Collapses white space. Returns the end of the value. */
function collapse(from: usize, to: usize, out: usize): usize {
  const begin = out;
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (!isSpace(c)) store<u8>(out++, c);
    else if (out > begin && load<u8>(out - 1) != SPACE) store<u8>(out++, SPACE);
  }
  return out > begin && load<u8>(out - 1) == SPACE ? out - 1 : out;
}

function convertText(column: usize, from: usize, to: usize, out: usize): usize {
  if ((load<i32>(column, COLUMN_FLAGS) & COLLAPSES) != 0 && from < to && needsCollapse(from, to)) {
    // far enough behind the output that each byte is read before it is overwritten
    const value = out + (to - from) + 32;
    to = collapse(from, to, value);
    from = value;
  }
  const limit: u32 = load<u32>(column, COLUMN_FIRST);
  if (to - from > limit && <u32>characters(from, to) > limit) return 0;
  const least: u32 = load<u32>(column, COLUMN_SECOND);
  if (least != 0 && (<u32>characters(from, to) < least || load<u8>(to - 1) == SPACE)) return 0;
  return escape(from, to, out);
}

function writeBoolean(value: bool, out: usize): usize {
  const mode = load<i32>(MODE);
  if (mode == MODE_COPY || mode == MODE_JSON_LINES) {
    store<u8>(out, value ? 0x74 : 0x66);
    return out + 1;
  }
  store<u32>(out, value ? 0x65757274 : 0x736c6166);
  if (value) return out + 4;
  store<u8>(out, 0x65, 4);
  return out + 5;
}

function convertBoolean(column: usize, from: usize, to: usize, out: usize): usize {
  const length = to - from;
  const c: u32 = load<u8>(from);
  if (length == 1) {
    if ((load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) != 0) return 0;
    return c == ZERO || c == ZERO + 1 ? writeBoolean(c != ZERO, out) : 0;
  }
  const four = load<u32>(from);
  if (length == 4 && four == 0x65757274) return writeBoolean(true, out);
  return length == 5 && four == 0x736c6166 && load<u8>(from, 4) == 0x65 ? writeBoolean(false, out) : 0;
}
