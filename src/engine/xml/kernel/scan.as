// AssemblyScript. The common part of content: text, end tags, start tags whose names are known. What is rare is left to the
// scanners of ../, which work on the same memory: this function then returns with everything as it was before the construct.
// Compiled by `npm run wasm` into src/engine/xml/kernel/scan-wasm.ts; layout of the control block and exits: src/engine/xml/kernel/instance.ts.

const WINDOW: usize = 0;
const END: usize = 4;
const POS: usize = 8;
const EVENTS: usize = 12;
const COUNT: usize = 16;
const FLUSH_AT: usize = 20;
const EVENTS_LENGTH: usize = 24;
const DECODED: usize = 28;
const DECODED_END: usize = 32;
const DECODED_FULL: usize = 36;
const SOURCES: usize = 40;
const DEPTH: usize = 44;
const STACK_CAPACITY: usize = 48;
const STACK_RAW: usize = 52;
const STACK_NAME: usize = 56;
const STACK_CONTEXT: usize = 60;
const CONTEXT: usize = 64;
const PREDICTOR: usize = 68;
const SERIAL: usize = 72;
const ARENA: usize = 76;
const STARTS: usize = 80;
const ENDS: usize = 84;
const SLOTS: usize = 88;
const SLOT_MASK: usize = 92;
const HASHES: usize = 96;
const KINDS: usize = 100;
const ELEMENT_CONTEXTS: usize = 104;
const ELEMENT_NAMES: usize = 108;
const ATTRIBUTE_NAMES: usize = 112;
const SEEN_IN: usize = 116;
const NEXT_ATTRIBUTES: usize = 120;
const NEXT_ELEMENTS: usize = 124;
const EXPANDED_SEEN_IN: usize = 128;
const EXPANDED_LENGTH: usize = 132;
const NAME_CLASS: usize = 136;
const MAX_TEXT: usize = 140;
const MAX_ATTRIBUTES: usize = 144;
const TEXT_START: usize = 148;
const TEXT_AT: usize = 152;
const NAME_END: usize = 156;
const TAGS: usize = 160;
const GAPS: usize = 164;

const EXIT_FULL = 0;
const EXIT_TEXT = 1;
const EXIT_END_TAG = 2;
const EXIT_MARKUP = 3;
const EXIT_START_TAG = 4;
const EXIT_ROOT_CLOSED = 5;

const KIND_START = 0;
const KIND_END = 1;
const KIND_ATTRIBUTE = 2;
const KIND_TEXT = 3;
const FLAG_DECODED = 8;
const FLAG_WHITE_SPACE = 16;

const NAME_LOCAL = 0;
const NAME_PREFIXED = 1;
const CLASS_NONE = 0;
const CLASS_START = 1;
const CLASS_WIDE = 3;

const TAB: u8 = 0x09;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const SPACE: u8 = 0x20;
const EXCLAMATION: u8 = 0x21;
const QUOTE: u8 = 0x22;
const HASH: u8 = 0x23;
const AMPERSAND: u8 = 0x26;
const APOSTROPHE: u8 = 0x27;
const SLASH: u8 = 0x2f;
const SEMICOLON: u8 = 0x3b;
const LESS: u8 = 0x3c;
const EQUALS: u8 = 0x3d;
/** `="`, as two bytes are loaded. */
const EQUALS_QUOTE: u16 = 0x223d;
const GREATER: u8 = 0x3e;
const QUESTION: u8 = 0x3f;
const CLOSE_BRACKET: u8 = 0x5d;

// What has been seen of a name so far, so that it need not be taken apart when it comes again: 64 bytes for each, by raw id.
// Twice 16 bytes with a mask of those that count, 0 where nothing has been seen: `name>`, as tags end, and `name="`.
const TAG_SHIFT: usize = 6;
const TAG_MASK: usize = 16;
const TAG_LENGTH: usize = 20;
const PAIR: usize = 32;
const PAIR_MASK: usize = 48;
const PAIR_LENGTH: usize = 52;

// Vectors of one byte, and tables, which `prepare` puts into memory: V8 makes a constant anew wherever it is used, in three or
// four instructions, and loads it in one.
const ALL_SPACE: usize = 1024;
const ALL_LF: usize = 1040;
const ALL_TAB: usize = 1056;
const ALL_CR: usize = 1072;
const ALL_LESS: usize = 1088;
const ALL_AMPERSAND: usize = 1104;
const ALL_CLOSE_BRACKET: usize = 1120;
const ALL_QUOTE: usize = 1136;
const ALL_APOSTROPHE: usize = 1152;
const BY_FIRST_HIGH: usize = 1168;
const BY_FIRST_LOW: usize = 1184;
const BY_SECOND_HIGH: usize = 1200;
const ALL_NIBBLE: usize = 1216;
const ALL_TOP_BIT: usize = 1232;
const ALL_BELOW_LEAD_3: usize = 1248;
const ALL_BELOW_LEAD_4: usize = 1264;
const ALL_EF: usize = 1280;
const ALL_BF: usize = 1296;
const ALL_BE: usize = 1312;

/** A decoded record is ended at about this size, so that it never has to be held whole. */
const DECODED_RECORD_BYTES: usize = 64 * 1024;

// @ts-ignore: decorator
@inline
function at(table: usize, index: i32): i32 {
  return load<i32>(table + ((<usize>index) << 2));
}

// @ts-ignore: decorator
@inline
function put(table: usize, index: i32, value: i32): void {
  store<i32>(table + ((<usize>index) << 2), value);
}

// @ts-ignore: decorator
@inline
function isSpace(c: u32): bool {
  return c == SPACE || c == LF || c == TAB || c == CR;
}

/** Of 16 bytes, those that are space, LF, or TAB, as bits. */
// @ts-ignore: decorator
@inline
function plainSpaces(p: usize): i32 {
  const v = v128.load(p);
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(v, v128.load(ALL_SPACE)), i8x16.eq(v, v128.load(ALL_LF))),
      i8x16.eq(v, v128.load(ALL_TAB)),
    ),
  );
}

/** First byte that is neither space nor LF nor TAB. */
function skipPlainSpace(p: usize): usize {
  while (true) {
    const spaces = plainSpaces(p);
    if (spaces != 0xffff) return p + ctz(spaces ^ 0xffff);
    p += 16;
  }
}

/** First byte where character data cannot simply run on. */
// @ts-ignore: decorator
@inline
function skipPlainText(p: usize): usize {
  while (true) {
    const v = v128.load(p);
    // signed: what is below a space is a control character or a byte of a longer sequence
    const low = v128.andnot(
      i8x16.lt_s(v, v128.load(ALL_SPACE)),
      v128.or(i8x16.eq(v, v128.load(ALL_LF)), i8x16.eq(v, v128.load(ALL_TAB))),
    );
    const marks = v128.or(
      v128.or(i8x16.eq(v, v128.load(ALL_LESS)), i8x16.eq(v, v128.load(ALL_AMPERSAND))),
      v128.or(i8x16.eq(v, v128.load(ALL_CLOSE_BRACKET)), low),
    );
    const stops = i8x16.bitmask(marks);
    if (stops != 0) return p + ctz(stops);
    p += 16;
  }
}

/** First byte where an attribute value in these quotes cannot simply run on. */
// @ts-ignore: decorator
@inline
function skipPlainValue(p: usize, quote: u32): usize {
  const quotes = v128.load(quote == QUOTE ? ALL_QUOTE : ALL_APOSTROPHE);
  while (true) {
    const v = v128.load(p);
    const marks = v128.or(
      v128.or(i8x16.eq(v, quotes), i8x16.eq(v, v128.load(ALL_AMPERSAND))),
      v128.or(i8x16.eq(v, v128.load(ALL_LESS)), i8x16.lt_s(v, v128.load(ALL_SPACE))),
    );
    const stops = i8x16.bitmask(marks);
    if (stops != 0) return p + ctz(stops);
    p += 16;
  }
}

/** Of 16 bytes, those that are the same at both places, as bits. */
// @ts-ignore: decorator
@inline
function equal(a: usize, b: usize): i32 {
  return i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
}

/** Whether the `length` bytes at both places are the same; both may be read 16 bytes further. */
// @ts-ignore: decorator
@inline
function same(a: usize, b: usize, length: usize): bool {
  while (true) {
    const others = equal(a, b) ^ 0xffff;
    if (length <= 16) return (others & ((1 << <i32>length) - 1)) == 0;
    if (others != 0) return false;
    a += 16;
    b += 16;
    length -= 16;
  }
}

/** Keeps the `length` bytes of a name and the one or two behind it for `equal`, where they fit. */
function remember(seen: usize, from: usize, length: usize, behind: usize): void {
  if (length + behind > 16) return;
  v128.store(seen, v128.load(from));
  store<i32>(seen, (1 << <i32>(length + behind)) - 1, TAG_MASK);
  store<u32>(seen, <u32>length, TAG_LENGTH);
}

/** Skips valid multi-byte sequences; stops at an ASCII byte or at what is not whole, valid, and an XML character. */
function skipMultiByte(p: usize, end: usize): usize {
  while (true) {
    const first: u32 = load<u8>(p);
    if (first < 0xc2 || first > 0xf4) return p;
    const second: u32 = load<u8>(p, 1);
    if ((second & 0xc0) != 0x80) return p;
    if (first < 0xe0) {
      if (p + 2 > end) return p;
      p += 2;
      continue;
    }
    const third: u32 = load<u8>(p, 2);
    if ((third & 0xc0) != 0x80) return p;
    if (first < 0xf0) {
      if (p + 3 > end) return p;
      if (first == 0xe0 && second < 0xa0) return p;
      if (first == 0xed && second >= 0xa0) return p;
      if (first == 0xef && second == 0xbf && third >= 0xbe) return p;
      p += 3;
      continue;
    }
    if (p + 4 > end || (load<u8>(p, 3) & 0xc0) != 0x80) return p;
    if (first == 0xf0 && second < 0x90) return p;
    if (first == 0xf4 && second >= 0x90) return p;
    p += 4;
  }
}

// What can be wrong with two neighbouring bytes of UTF-8, as bits (Keiser and Lemire, Validating UTF-8 In Less Than One
// Instruction Per Byte, 2021, §6): each table has those that one half of a byte leaves open; wrong is what all three leave.
const TOO_SHORT: i8 = 1;
const TOO_LONG: i8 = 1 << 1;
const OVERLONG_3: i8 = 1 << 2;
const TOO_LARGE: i8 = 1 << 3;
const SURROGATE: i8 = 1 << 4;
const OVERLONG_2: i8 = 1 << 5;
const TOO_LARGE_1000: i8 = 1 << 6;
const OVERLONG_4: i8 = 1 << 6;
const TWO_CONTINUATIONS: i8 = -128;
const CARRY: i8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;

/** Writes the vectors that the kernel loads: once, before all else. */
export function prepare(): void {
  v128.store(ALL_SPACE, i8x16.splat(SPACE));
  v128.store(ALL_LF, i8x16.splat(LF));
  v128.store(ALL_TAB, i8x16.splat(TAB));
  v128.store(ALL_CR, i8x16.splat(CR));
  v128.store(ALL_LESS, i8x16.splat(LESS));
  v128.store(ALL_AMPERSAND, i8x16.splat(AMPERSAND));
  v128.store(ALL_CLOSE_BRACKET, i8x16.splat(CLOSE_BRACKET));
  v128.store(ALL_QUOTE, i8x16.splat(QUOTE));
  v128.store(ALL_APOSTROPHE, i8x16.splat(APOSTROPHE));
  v128.store(
    BY_FIRST_HIGH,
    i8x16(
      TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
      TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
      TOO_SHORT | OVERLONG_2,
      TOO_SHORT,
      TOO_SHORT | OVERLONG_3 | SURROGATE,
      TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
    ),
  );
  v128.store(
    BY_FIRST_LOW,
    i8x16(
      CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4,
      CARRY | OVERLONG_2,
      CARRY, CARRY,
      CARRY | TOO_LARGE,
      CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE,
      CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
    ),
  );
  v128.store(
    BY_SECOND_HIGH,
    i8x16(
      TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE,
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
      TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    ),
  );
  v128.store(ALL_NIBBLE, i8x16.splat(0x0f));
  v128.store(ALL_TOP_BIT, i8x16.splat(-128));
  v128.store(ALL_BELOW_LEAD_3, i8x16.splat(<i8>(0xe0 - 0x80)));
  v128.store(ALL_BELOW_LEAD_4, i8x16.splat(<i8>(0xf0 - 0x80)));
  v128.store(ALL_EF, i8x16.splat(-17));
  v128.store(ALL_BF, i8x16.splat(-65));
  v128.store(ALL_BE, i8x16.splat(-66));
}

/** By byte: not 0 where the sequence that it belongs to, or should end, is not UTF-8 or not an XML character. */
// @ts-ignore: decorator
@inline
function wrongBytes(before: v128, v: v128): v128 {
  const one = i8x16.shuffle(before, v, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const two = i8x16.shuffle(before, v, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const three = i8x16.shuffle(before, v, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const nibble = v128.load(ALL_NIBBLE);
  const firstHigh = i8x16.swizzle(v128.load(BY_FIRST_HIGH), v128.and(i16x8.shr_u(one, 4), nibble));
  const firstLow = i8x16.swizzle(v128.load(BY_FIRST_LOW), v128.and(one, nibble));
  const secondHigh = i8x16.swizzle(v128.load(BY_SECOND_HIGH), v128.and(i16x8.shr_u(v, 4), nibble));
  const wrong = v128.and(v128.and(firstHigh, firstLow), secondHigh);
  // two continuations are right where a lead byte of three or four stands before them
  const continued = v128.and(
    v128.or(
      i8x16.sub_sat_u(two, v128.load(ALL_BELOW_LEAD_3)),
      i8x16.sub_sat_u(three, v128.load(ALL_BELOW_LEAD_4)),
    ),
    v128.load(ALL_TOP_BIT),
  );
  // U+FFFE, U+FFFF
  const noCharacter = v128.and(
    v128.and(i8x16.eq(two, v128.load(ALL_EF)), i8x16.eq(one, v128.load(ALL_BF))),
    i8x16.ge_u(v, v128.load(ALL_BE)),
  );
  return v128.or(v128.xor(wrong, continued), noCharacter);
}

/** Whether there is something wrong before the stop at `at`, or in what it cuts off. */
// @ts-ignore: decorator
@inline
function isWrongUpTo(at: i32, wrong: v128): bool {
  return (i8x16.bitmask(i8x16.ne(wrong, i8x16.splat(0))) & ((2 << at) - 1)) != 0;
}

/**
 * As `skipPlainText`, over valid sequences of several bytes too, from one's first byte on. Where one is not whole or not
 * valid: `p` itself, and `skipMultiByte` finds it.
 */
function skipMixedText(p: usize): usize {
  const from = p;
  let before = i8x16.splat(0);
  while (true) {
    const v = v128.load(p);
    const low = v128.andnot(
      i8x16.lt_u(v, v128.load(ALL_SPACE)),
      v128.or(i8x16.eq(v, v128.load(ALL_LF)), i8x16.eq(v, v128.load(ALL_TAB))),
    );
    const marks = v128.or(
      v128.or(i8x16.eq(v, v128.load(ALL_LESS)), i8x16.eq(v, v128.load(ALL_AMPERSAND))),
      v128.or(i8x16.eq(v, v128.load(ALL_CLOSE_BRACKET)), low),
    );
    const stops = i8x16.bitmask(marks);
    const wrong = wrongBytes(before, v);
    if (stops != 0) return isWrongUpTo(ctz(stops), wrong) ? from : p + ctz(stops);
    if (v128.any_true(wrong)) return from;
    before = v;
    p += 16;
  }
}

/** As `skipPlainValue`, in the way of `skipMixedText`. */
function skipMixedValue(p: usize, quote: u32): usize {
  const from = p;
  const quotes = v128.load(quote == QUOTE ? ALL_QUOTE : ALL_APOSTROPHE);
  let before = i8x16.splat(0);
  while (true) {
    const v = v128.load(p);
    const marks = v128.or(
      v128.or(i8x16.eq(v, quotes), i8x16.eq(v, v128.load(ALL_AMPERSAND))),
      v128.or(i8x16.eq(v, v128.load(ALL_LESS)), i8x16.lt_u(v, v128.load(ALL_SPACE))),
    );
    const stops = i8x16.bitmask(marks);
    const wrong = wrongBytes(before, v);
    if (stops != 0) return isWrongUpTo(ctz(stops), wrong) ? from : p + ctz(stops);
    if (v128.any_true(wrong)) return from;
    before = v;
    p += 16;
  }
}

/** Slots that are looked at for a name: those of src/engine/xml/names/byte-interner.ts. */
const MOST_PROBES: i32 = 32;

/** Id of the known name at `from`, -1 for all others; sets NAME_END. */
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

/** Code point of the predefined or character reference at `&`; -1 for all others. Sets NAME_END to what follows. */
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
 * Text that began at `start` and cannot be taken as it stands from `p` on: decodes it into one record at `e`, if it can.
 * Returns where it stopped: at `<`, at what it leaves to others, or at `p`, with no record written, when that is right there.
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
 * The value that began at `start` and cannot be taken as it stands from `p` on: appends it, decoded, to what is decoded.
 * Returns the closing quote; 0 when the value is to be read by others.
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

/**
 * The attributes from `p` on, behind an element's name, as records from `e` + 16 on. Returns the `>` or `/` that ends them;
 * 0 when the tag is to be scanned by others. Sets COUNT to the end of the records, as an address.
 */
function scanAttributes(p: usize, e: usize, element: i32, context: i32, end: usize): usize {
  const base: usize = load<usize>(WINDOW);
  const arena: usize = load<usize>(ARENA);
  const starts: usize = load<usize>(STARTS);
  const ends: usize = load<usize>(ENDS);
  const kinds: usize = load<usize>(KINDS);
  const seenIn: usize = load<usize>(SEEN_IN);
  const attributeNames: usize = load<usize>(ATTRIBUTE_NAMES);
  const nextAttributes: usize = load<usize>(NEXT_ATTRIBUTES);
  const classes: usize = load<usize>(NAME_CLASS);
  const tags: usize = load<usize>(TAGS);
  const maxText: usize = load<usize>(MAX_TEXT);
  const most = min<usize>(
    load<usize>(EVENTS) + ((load<usize>(EVENTS_LENGTH)) << 2) - 32,
    e + (load<usize>(MAX_ATTRIBUTES)) * 16,
  );
  const serial = load<i32>(SERIAL) + 1;
  store<i32>(SERIAL, serial);
  let previous = element;
  e += 16;
  while (true) {
    const gap = p;
    let c: u32 = load<u8>(p);
    while (isSpace(c)) c = load<u8>(++p);
    if (c == GREATER || (c == SLASH && load<u8>(p, 1) == GREATER)) {
      store<u32>(COUNT, <u32>e);
      return p;
    }
    if (p == gap || e > most) return 0;

    const nameAt = p;
    let name = at(nextAttributes, previous);
    const seen = tags + (<usize>name << TAG_SHIFT);
    const mask = load<i32>(seen, PAIR_MASK);
    let quote: u32 = QUOTE;
    if (mask != 0 && (equal(seen + PAIR, nameAt) & mask) == mask) {
      p += load<u32>(seen, PAIR_LENGTH) + 1;
    } else {
      const start = at(starts, name);
      const length = <usize>(at(ends, name) - start);
      p += length;
      if (length == 0 || !same(arena + start, nameAt, length) || load<u8>(classes + load<u8>(p)) != CLASS_NONE) {
        name = findName(nameAt);
        if (name < 0) return 0;
        put(nextAttributes, previous, name);
        p = load<usize>(NAME_END);
      }
      if (load<u16>(p) == EQUALS_QUOTE) remember(tags + (<usize>name << TAG_SHIFT) + PAIR, nameAt, p - nameAt, 2);
      while (isSpace(load<u8>(p))) p++;
      if (load<u8>(p) != EQUALS) return 0;
      quote = load<u8>(++p);
      while (isSpace(quote)) quote = load<u8>(++p);
      if (quote != QUOTE && quote != APOSTROPHE) return 0;
    }
    previous = name;
    const valueAt = ++p;
    while (true) {
      p = skipPlainValue(p, quote);
      c = load<u8>(p);
      if (c < 0x80) break;
      let next = skipMixedValue(p, quote);
      if (next == p) next = skipMultiByte(p, end);
      if (next == p) return 0;
      p = next;
    }
    let flags = KIND_ATTRIBUTE;
    let from = valueAt - base;
    let to = p - base;
    if (c != quote) {
      from = load<u32>(DECODED_END);
      p = decodeValue(valueAt, p, quote, end);
      if (p == 0) return 0;
      to = load<u32>(DECODED_END);
      flags = KIND_ATTRIBUTE | FLAG_DECODED;
      store<i32>(load<usize>(SOURCES) + ((e - load<usize>(EVENTS)) >> 2), <i32>(valueAt - base));
    }
    if (to - from > maxText || at(seenIn, name) == serial) return 0;
    put(seenIn, name, serial);
    let nameId = at(attributeNames, name);
    const kind = at(kinds, name);
    if (kind != NAME_LOCAL) {
      if (kind != NAME_PREFIXED || at(load<usize>(ELEMENT_CONTEXTS), name) != context) return 0;
      nameId = at(load<usize>(ELEMENT_NAMES), name);
      const expandedSeenIn: usize = load<usize>(EXPANDED_SEEN_IN);
      if (nameId >= load<i32>(EXPANDED_LENGTH) || at(expandedSeenIn, nameId) == serial) return 0;
      put(expandedSeenIn, nameId, serial);
    } else if (nameId < 0) {
      return 0;
    }
    store<i32>(e, flags);
    store<i32>(e, nameId, 4);
    store<i32>(e, <i32>from, 8);
    store<i32>(e, <i32>to, 12);
    e += 16;
    p++;
  }
}

function leave(exit: i32, p: usize, e: usize, depth: i32, context: i32, predictor: i32): i32 {
  store<i32>(POS, <i32>(p - load<usize>(WINDOW)));
  store<i32>(COUNT, <i32>((e - load<usize>(EVENTS)) >> 2));
  store<i32>(DEPTH, depth);
  store<i32>(CONTEXT, context);
  store<i32>(PREDICTOR, predictor);
  return exit;
}

export function scanContent(): i32 {
  const base: usize = load<usize>(WINDOW);
  const end: usize = base + load<usize>(END);
  const events: usize = load<usize>(EVENTS);
  const flushAt: usize = events + ((load<usize>(FLUSH_AT)) << 2);
  const decodedFull = load<i32>(DECODED_FULL);
  const maxText: usize = load<usize>(MAX_TEXT);
  const arena: usize = load<usize>(ARENA);
  const starts: usize = load<usize>(STARTS);
  const ends: usize = load<usize>(ENDS);
  const classes: usize = load<usize>(NAME_CLASS);
  const stackRaw: usize = load<usize>(STACK_RAW);
  const stackName: usize = load<usize>(STACK_NAME);
  const stackContext: usize = load<usize>(STACK_CONTEXT);
  const stackCapacity = load<i32>(STACK_CAPACITY);
  const nextElements: usize = load<usize>(NEXT_ELEMENTS);
  const elementContexts: usize = load<usize>(ELEMENT_CONTEXTS);
  const elementNames: usize = load<usize>(ELEMENT_NAMES);
  const tags: usize = load<usize>(TAGS);
  const gaps: usize = load<usize>(GAPS);
  let p: usize = base + load<usize>(POS);
  let e: usize = events + ((load<usize>(COUNT)) << 2);
  let depth = load<i32>(DEPTH);
  let context = load<i32>(CONTEXT);
  let predictor = load<i32>(PREDICTOR);
  while (true) {
    if (e >= flushAt || load<i32>(DECODED_END) >= decodedFull)
      return leave(EXIT_FULL, p, e, depth, context, predictor);

    let c: u32 = load<u8>(p);
    if (c != LESS) {
      // the usual line end of a Windows file needs no decoding: the text begins at its LF
      if (c == CR && load<u8>(p, 1) == LF) p++;
      const start = p;
      let kind = KIND_TEXT | FLAG_WHITE_SPACE;
      c = load<u8>(p);
      if (c <= SPACE) {
        // where lines are indented alike the gap is as long as it was here last time: what follows need not wait for its end
        const gap = at(gaps, predictor);
        const others = plainSpaces(p) ^ 0xffff;
        if (others != 0) {
          if ((others & -others) == 1 << gap) {
            p += gap;
          } else {
            p += ctz(others);
            put(gaps, predictor, <i32>(p - start));
          }
        } else {
          const others = plainSpaces(p + 16) ^ 0xffff;
          if (others != 0 && (others & -others) << 16 == 1 << gap) {
            p += gap;
          } else {
            p = skipPlainSpace(p + 16);
            if (p - start < 32) put(gaps, predictor, <i32>(p - start));
          }
        }
        c = load<u8>(p);
      }
      if (c != LESS) {
        kind = KIND_TEXT;
        while (true) {
          p = skipPlainText(p);
          c = load<u8>(p);
          if (c == LESS) break;
          if (c >= 0x80) {
            let next = skipMixedText(p);
            if (next == p) next = skipMultiByte(p, end);
            if (next == p) break;
            p = next;
          } else if (c == CLOSE_BRACKET && p + 1 < end && load<u8>(p, 1) != CLOSE_BRACKET) {
            p++;
          } else {
            break;
          }
        }
      }
      if (p - start > maxText) {
        store<i32>(TEXT_START, <i32>(start - base));
        store<i32>(TEXT_AT, <i32>(p - base));
        return leave(EXIT_TEXT, p, e, depth, context, predictor);
      }
      if (c != LESS) {
        const stopped = decodeText(start, p, end, e);
        if (stopped == p) {
          store<i32>(TEXT_START, <i32>(start - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        if (load<i32>(e, 12) - load<i32>(e, 8) > <i32>maxText) {
          store<i32>(DECODED_END, load<i32>(e, 8));
          store<i32>(TEXT_START, <i32>(start - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        p = stopped;
        e += 16;
        if (load<u8>(p) != LESS) {
          store<i32>(TEXT_START, <i32>(p - base));
          store<i32>(TEXT_AT, <i32>(p - base));
          return leave(EXIT_TEXT, p, e, depth, context, predictor);
        }
        // the batch may have become too full for another record
        continue;
      }
      store<i32>(e, kind);
      store<i32>(e, 0, 4);
      store<i32>(e, <i32>(start - base), 8);
      store<i32>(e, <i32>(p - base), 12);
      e += 16;
    }

    c = load<u8>(p, 1);
    if (c == SLASH) {
      const name = at(stackRaw, depth);
      const seen = tags + (<usize>name << TAG_SHIFT);
      const mask = load<i32>(seen, TAG_MASK);
      let behind = p + load<u32>(seen, TAG_LENGTH) + 3;
      if (mask == 0 || (equal(seen, p + 2) & mask) != mask) {
        const start = at(starts, name);
        const length = <usize>(at(ends, name) - start);
        behind = p + length + 3;
        if (depth == 0 || load<u8>(behind - 1) != GREATER || !same(arena + start, p + 2, length))
          return leave(EXIT_END_TAG, p, e, depth, context, predictor);
        remember(seen, p + 2, length, 1);
      }
      store<i32>(e, KIND_END);
      store<i32>(e, at(stackName, depth), 4);
      store<i32>(e, <i32>(p - base), 8);
      store<i32>(e, <i32>(behind - base), 12);
      e += 16;
      p = behind;
      context = at(stackContext, --depth);
      predictor = name * 2 + 1;
      if (depth == 0) return leave(EXIT_ROOT_CLOSED, p, e, depth, context, predictor);
      continue;
    }
    if (c == EXCLAMATION || c == QUESTION) return leave(EXIT_MARKUP, p, e, depth, context, predictor);

    if (depth + 2 >= stackCapacity) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
    let name = at(nextElements, predictor);
    const seen = tags + (<usize>name << TAG_SHIFT);
    const mask = load<i32>(seen, TAG_MASK);
    let i = p + 1 + load<u32>(seen, TAG_LENGTH);
    if (mask == 0 || (equal(seen, p + 1) & mask) != mask) {
      const start = at(starts, name);
      const length = <usize>(at(ends, name) - start);
      i = p + 1 + length;
      if (length == 0 || !same(arena + start, p + 1, length) || load<u8>(classes + load<u8>(i)) != CLASS_NONE) {
        name = findName(p + 1);
        if (name < 0) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
        put(nextElements, predictor, name);
        i = load<usize>(NAME_END);
      }
    }
    if (at(elementContexts, name) != context) return leave(EXIT_START_TAG, p, e, depth, context, predictor);
    const nameId = at(elementNames, name);
    const record = e;
    if (load<u8>(i) == GREATER) {
      e += 16;
    } else {
      const decodedEnd = load<i32>(DECODED_END);
      i = scanAttributes(i, e, name, context, end);
      if (i == 0) {
        store<i32>(DECODED_END, decodedEnd);
        return leave(EXIT_START_TAG, p, e, depth, context, predictor);
      }
      e = load<usize>(COUNT);
    }
    const isEmpty = load<u8>(i) == SLASH;
    i += isEmpty ? 2 : 1;
    store<i32>(record, KIND_START);
    store<i32>(record, nameId, 4);
    store<i32>(record, <i32>(p - base), 8);
    store<i32>(record, <i32>(i - base), 12);
    if (isEmpty) {
      store<i32>(e, KIND_END);
      store<i32>(e, nameId, 4);
      store<i32>(e, <i32>(p - base), 8);
      store<i32>(e, <i32>(i - base), 12);
      e += 16;
      p = i;
      predictor = name * 2 + 1;
      if (depth == 0) return leave(EXIT_ROOT_CLOSED, p, e, depth, context, predictor);
      continue;
    }
    depth++;
    put(stackRaw, depth, name);
    put(stackName, depth, nameId);
    put(stackContext, depth, context);
    predictor = name * 2;
    p = i;
  }
}

/** Line feeds in `[from, to)`; -1 where there is a CR among them. */
export function countLineFeeds(from: usize, to: usize): i32 {
  let count: i32 = 0;
  let returns = i8x16.splat(0);
  while (from + 32 <= to) {
    // a lane is a byte: it is added up before it can overflow
    const stop = min<usize>(to, from + 32 * 255);
    let odd = i8x16.splat(0);
    let even = i8x16.splat(0);
    for (; from + 32 <= stop; from += 32) {
      const a = v128.load(from);
      const b = v128.load(from, 16);
      odd = i8x16.sub(odd, i8x16.eq(a, v128.load(ALL_LF)));
      even = i8x16.sub(even, i8x16.eq(b, v128.load(ALL_LF)));
      returns = v128.or(returns, v128.or(i8x16.eq(a, v128.load(ALL_CR)), i8x16.eq(b, v128.load(ALL_CR))));
    }
    count += sumOfBytes(odd) + sumOfBytes(even);
  }
  let found = v128.any_true(returns);
  for (; from < to; from++) {
    const c: u32 = load<u8>(from);
    if (c == LF) count++;
    else if (c == CR) found = true;
  }
  return found ? -1 : count;
}

// @ts-ignore: decorator
@inline
function sumOfBytes(v: v128): i32 {
  const words = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(v));
  return (
    i32x4.extract_lane(words, 0) +
    i32x4.extract_lane(words, 1) +
    i32x4.extract_lane(words, 2) +
    i32x4.extract_lane(words, 3)
  );
}
