// Part of src/engine/xml/kernel/scan.as: runs of plain bytes, sixteen at a time, and the check of UTF-8.

/** `="`, as two bytes are loaded. */
const EQUALS_QUOTE: u16 = 0x223d;

// A cache of the names seen so far, so that a repeated name need not be parsed again: 64 bytes for each raw id. Each entry has two groups
// of 16 bytes with a mask of the significant ones, 0 if the form has not been seen: `name>`, as tags end, and `name="`.
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

/** Returns a bit mask of the bytes that are space, LF, or TAB, for 16 bytes. */
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

/** Returns the first byte that ends a run of plain character data. */
// @ts-ignore: decorator
@inline
function skipPlainText(p: usize): usize {
  while (true) {
    const v = v128.load(p);
    // signed: bytes below a space are control characters or belong to a longer sequence
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

/** Returns the first byte that ends a run of a plain attribute value in these quotes. */
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

/** Returns a bit mask of the bytes that are equal at both places, for 16 bytes. */
// @ts-ignore: decorator
@inline
function equal(a: usize, b: usize): i32 {
  return i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
}

/** True if the `length` bytes at both places are equal. May read 16 bytes beyond both. */
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

/** Stores the `length` bytes of a name, and the one or two after it, for `equal`, if they fit. */
function remember(seen: usize, from: usize, length: usize, behind: usize): void {
  if (length + behind > 16) return;
  v128.store(seen, v128.load(from));
  store<i32>(seen, (1 << <i32>(length + behind)) - 1, TAG_MASK);
  store<u32>(seen, <u32>length, TAG_LENGTH);
}

/** Skips valid multi-byte sequences. Stops at an ASCII byte, or at a sequence that is incomplete, invalid, or not an XML character. */
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

// The possible faults of two neighbouring bytes of UTF-8, as bits (Keiser and Lemire, Validating UTF-8 In Less Than One Instruction Per
// Byte, 2021, §6). Each table lists the faults that one half of a byte allows; a fault that all three tables allow is real.
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

/** Writes the vectors that the kernel loads. Must be called once, before any other function. */
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

/** For each byte: not 0 if the sequence that it belongs to, or should end, is not UTF-8 or not an XML character. */
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
  // two continuation bytes are correct after a lead byte of three or four
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

/** True if there is a fault before the stop at `at`, or in the sequence that it cuts off. */
// @ts-ignore: decorator
@inline
function isWrongUpTo(at: i32, wrong: v128): bool {
  return (i8x16.bitmask(i8x16.ne(wrong, i8x16.splat(0))) & ((2 << at) - 1)) != 0;
}

/**
 * Returns the end of the bytes before `p` that are known to be valid from `from` on: the first byte of a sequence that may continue after
 * `p`, or `p`.
 */
function wholeUpTo(p: usize, from: usize): usize {
  for (let at = p; at > from && p - at < 3; ) {
    const byte: u32 = load<u8>(--at);
    if (byte >= 0xc0) return at;
    if (byte < 0x80) return p;
  }
  return p;
}

/**
 * Does the same as `skipPlainText`, but also skips valid sequences of several bytes, starting at a sequence's first byte. If a sequence
 * is incomplete or invalid, returns the first byte of a sequence shortly before it, possibly `p` itself, and `skipMultiByte` finds the
 * fault.
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
    if (stops != 0) return isWrongUpTo(ctz(stops), wrong) ? wholeUpTo(p, from) : p + ctz(stops);
    if (v128.any_true(wrong)) return wholeUpTo(p, from);
    before = v;
    p += 16;
  }
}

/** Does the same as `skipPlainValue`, in the manner of `skipMixedText`. */
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
    if (stops != 0) return isWrongUpTo(ctz(stops), wrong) ? wholeUpTo(p, from) : p + ctz(stops);
    if (v128.any_true(wrong)) return wholeUpTo(p, from);
    before = v;
    p += 16;
  }
}

/** Slots that are looked at for a name: those of src/engine/xml/names/interned.ts. */
const MOST_PROBES: i32 = 32;
