// AssemblyScript. The common part of shredding: elements that the plan knows, attributes and text that their columns hold as they
// are. What is rare is left to src/engine/shred/shredder.ts, which works on the same memory: this function then returns with everything as it was
// before the event. Compiled by `npm run wasm` into src/engine/shred/kernel/shred-wasm.ts; layout of the control block and of the plan: src/engine/shred/kernel/layout.ts,
// of frames, rows and slots: src/engine/shred/open-elements.ts. The forms of values are those of src/engine/shred/values/conversion.ts.

/** Behind the tokeniser's part of the memory. */
const CONTROL: usize = 2490368;
const EVENTS: usize = CONTROL + 0;
const BYTES: usize = CONTROL + 4;
const DECODED: usize = CONTROL + 8;
const NEXT: usize = CONTROL + 12;
const FULL_TABLE: usize = CONTROL + 16;
const RELAXED: usize = CONTROL + 20;
const DEPTH: usize = CONTROL + 24;
const FRAMES: usize = CONTROL + 28;
const FRAME_CAPACITY: usize = CONTROL + 32;
const ROWS: usize = CONTROL + 36;
const ROW_CAPACITY: usize = CONTROL + 40;
const ROW_TOP: usize = CONTROL + 44;
const SLOTS: usize = CONTROL + 48;
const SLOT_TOP: usize = CONTROL + 52;
const SLOT_CAPACITY: usize = CONTROL + 56;
const ARENA: usize = CONTROL + 60;
const ARENA_LENGTH: usize = CONTROL + 64;
const ARENA_CAPACITY: usize = CONTROL + 68;
const TEXT: usize = CONTROL + 72;
const TEXT_LENGTH: usize = CONTROL + 76;
const TEXT_CAPACITY: usize = CONTROL + 80;
const SCOPE_SIZE: usize = CONTROL + 84;
const NODES: usize = CONTROL + 88;
const TABLES: usize = CONTROL + 92;
const COLUMNS: usize = CONTROL + 96;
const REQUIRED: usize = CONTROL + 100;
const LAST_NUMBERS: usize = CONTROL + 104;
const EDGES: usize = CONTROL + 108;
const EDGE_MASK: usize = CONTROL + 112;
const OUT_STARTS: usize = CONTROL + 116;
const OUT_LENGTHS: usize = CONTROL + 120;
const OUT_PENDING: usize = CONTROL + 124;
const OUT_CAPACITY: usize = CONTROL + 128;
const MODE: usize = CONTROL + 132;
const SEPARATOR: usize = CONTROL + 136;
const XSI_TYPE: usize = CONTROL + 140;
const KEY_BASE: usize = CONTROL + 144;
const KEY_TEXTS: usize = CONTROL + 152;

const EXIT_DONE = 0;
const EXIT_EVENT = 1;
const EXIT_TABLE_FULL = 2;

const MODE_CSV = 1;

const KIND_START = 0;
const KIND_END = 1;
const KIND_ATTRIBUTE = 2;
const KIND_TEXT = 3;
const KIND_NAMESPACE = 4;
const KIND_MASK = 7;
const FLAG_DECODED = 8;
const FLAG_WHITE_SPACE = 16;
const RECORD_SHIFT = 4;

// frames, 64 bytes each
const FRAME_NODE: usize = 0;
const FRAME_ROW: usize = 4;
const FRAME_POSITION: usize = 8;
const FRAME_NAME: usize = 12;
const FRAME_ROW_COUNT: usize = 16;
const FRAME_NIL: usize = 20;
const FRAME_SHOWN: usize = 24;
const FRAME_ORDINAL: usize = 28;
const FRAME_LAST_FOLDED: usize = 32;
const FRAME_SCOPE: usize = 36;
const FRAME_BYTES: usize = 64;

// rows, 32 bytes each
const ROW_TABLE: usize = 0;
const ROW_SLOTS: usize = 4;
const ROW_MARK: usize = 8;
const ROW_NUMBER: usize = 16;

// nodes, 64 bytes each
const NODE_TABLE: usize = 0;
const NODE_FLAGS: usize = 4;
const NODE_SEEN_SLOT: usize = 8;
const NODE_TEXT_COLUMN: usize = 12;
const NODE_TEXT_TABLE: usize = 16;
const NODE_PRESENCE_COLUMN: usize = 20;
const NODE_FOLDED_POSITION_COLUMN: usize = 24;
const NODE_ELEMENT_NAME_COLUMN: usize = 28;
const OPENS_ROW = 1;
const TAKES_TEXT = 2;
const SHOWS_NOTHING = 4;
/** folded, with a text column and no other of its own */
const LEAF = 8;

// tables, 64 bytes each
const TABLE_COLUMN_COUNT: usize = 0;
const TABLE_FIRST_COLUMN: usize = 4;
const TABLE_SLOT_COUNT: usize = 8;
const TABLE_ROW_KEY: usize = 12;
const TABLE_POSITION: usize = 16;
const TABLE_PARENT_KEY: usize = 20;
const TABLE_CONTENT: usize = 24;
const TABLE_FIRST_REQUIRED: usize = 28;
const TABLE_REQUIRED_COUNT: usize = 32;
/** bytes of a row's separators and of all its defaults */
const TABLE_BASE_BYTES: usize = 36;

// columns, 32 bytes each
const COLUMN_CONVERSION: usize = 0;
const COLUMN_FIRST: usize = 4;
const COLUMN_SECOND: usize = 8;
const COLUMN_FLAGS: usize = 12;
const COLUMN_DEFAULT: usize = 16;
const COLUMN_DEFAULT_LENGTH: usize = 20;
const COLUMN_RELAXED: usize = 24;
const COLUMN_PLAIN_SCALE: usize = 28;
const COLLAPSES = 1;
const KEEPS_FORM = 2;

// edges, 32 bytes each; a node of 0 and a name of -1: free
const EDGE_NODE: usize = 0;
const EDGE_NAME: usize = 4;
const EDGE_TARGET: usize = 8;
const EDGE_PARENT_KEY: usize = 12;
const EDGE_LABEL: usize = 16;
const EDGE_LABEL_LENGTH: usize = 20;
/** the edge that was taken after this one the last time */
const EDGE_NEXT: usize = 24;
/** Added to a node's index: an attribute of it. */
const ATTRIBUTE_OF: i32 = 0x40000000;

const CONVERT_TEXT = 1;
const CONVERT_BOOLEAN = 2;
const CONVERT_INTEGER = 3;
const CONVERT_DECIMAL = 4;
const CONVERT_FLOAT = 5;
const CONVERT_DATE = 6;
const CONVERT_TIME = 7;
const CONVERT_TIMESTAMP = 8;
const CONVERT_TIMESTAMP_UTC = 9;

const TAB: u8 = 0x09;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const SPACE: u8 = 0x20;
const QUOTE: u8 = 0x22;
const PLUS: u8 = 0x2b;
const COMMA: u8 = 0x2c;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const ZERO: u8 = 0x30;
const COLON: u8 = 0x3a;
const BACKSLASH: u8 = 0x5c;

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

/** Writes the vectors that the kernel loads: once, before all else. */
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

/** Whether white space is to be collapsed: some is at an end, repeated, or not a space. */
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

/** Answers the end of the value. */
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
    // far enough behind what is written that it is read before it is overwritten
    const value = out + (to - from) + 32;
    to = collapse(from, to, value);
    from = value;
  }
  const limit: u32 = load<u32>(column, COLUMN_FIRST);
  if (to - from > limit && <u32>characters(from, to) > limit) return 0;
  return escape(from, to, out);
}

function writeBoolean(value: bool, out: usize): usize {
  if (load<i32>(MODE) != MODE_CSV) {
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

/**
 * Of up to 16 bytes at `at`: those that are not digits, as bits. What lies behind them does not show.
 */
// @ts-ignore: decorator
@inline
function nonDigits(at: usize, length: usize): i32 {
  // moved so that the digits are the lowest signed bytes: there is no unsigned comparison of vectors on x86
  const v = i8x16.sub(v128.load(at), v128.load(ALL_ZERO_ABOVE_LOWEST));
  return i8x16.bitmask(i8x16.gt_s(v, v128.load(ALL_LOWEST_NINE))) & ((1 << <i32>length) - 1);
}

/** The form that most numbers have: digits, no more than `most`, without a sign or a leading zero. */
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
  return plainScale < 0 || fraction == plainScale || (load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) == 0;
}

/** No plus sign, no leading zero, no negative zero, digits on both sides of a point; `scale`: as many digits after it. */
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
  return !(negative && isZero) && (scale < 0 || fraction == scale);
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

/** -1 for what is not two digits */
// @ts-ignore: decorator
@inline
function twoDigits(at: usize): i32 {
  const tens: u32 = load<u8>(at) - ZERO;
  const ones: u32 = load<u8>(at, 1) - ZERO;
  return tens > 9 || ones > 9 ? -1 : <i32>(tens * 10 + ones);
}

/** Whether `YYYY-MM-DD` is at `at`: a year from 1 to 9999 and a day that exists. */
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

/** Where a time without its zone ends, of hours up to 23 and at most six digits of a second; 0 for all others. */
function endOfTime(column: usize, at: usize, to: usize): usize {
  if (at + 8 > to || load<u8>(at, 2) != COLON || load<u8>(at, 5) != COLON) return 0;
  const hour = twoDigits(at);
  const minute = twoDigits(at + 3);
  const second = twoDigits(at + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
  at += 8;
  if (at < to && load<u8>(at) == POINT) {
    const first = ++at;
    while (at < to && isDigit(load<u8>(at))) at++;
    if (at == first || at - first > 6) return 0;
    if (load<u8>(at - 1) == ZERO && (load<i32>(column, COLUMN_FLAGS) & KEEPS_FORM) != 0) return 0;
  }
  return at;
}

/** Values without a zone, and for COLUMN_CONVERSION timestamp with time zone, those in UTC. */
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
  if (kind == CONVERT_TIMESTAMP_UTC) {
    if (end == to || load<u8>(end) != 0x5a) return 0;
    end++;
  }
  return end == to ? copy(out, from, to - from) : 0;
}

/** The value in its column's form at `out`, answering its end; 0 for what has to be looked at by others. */
function convert(column: usize, from: usize, to: usize, out: usize): usize {
  const kind = load<i32>(column);
  if (kind == CONVERT_TEXT) return convertText(column, from, to, out);
  if (kind == CONVERT_DECIMAL && isUsualDecimal(column, from, to)) return copy(out, from, to - from);
  if (kind == CONVERT_INTEGER && isUsualInteger(from, to, load<usize>(column, COLUMN_FIRST) - 1)) {
    // of a type with a scale the database prints one
    if (load<i32>(column, COLUMN_PLAIN_SCALE) <= 0) return copy(out, from, to - from);
  }
  if (kind == 0) return 0;
  const start = from;
  const end = to;
  while (from < to && isSpace(load<u8>(from))) from++;
  while (to > from && isSpace(load<u8>(to - 1))) to--;
  if (from == to) return 0;
  const flags = load<i32>(column, COLUMN_FLAGS);
  if ((flags & KEEPS_FORM) != 0 && (from != start || to != end)) return 0;
  if (kind == CONVERT_INTEGER) return convertInteger(column, from, to, out);
  if (kind == CONVERT_DECIMAL) return convertDecimal(column, from, to, out);
  if (kind == CONVERT_BOOLEAN) return convertBoolean(column, from, to, out);
  if (kind == CONVERT_FLOAT) return convertFloat(column, from, to, out);
  return convertCalendar(column, kind, from, to, out);
}

/** In decimal digits. */
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

/** The edge or attribute that has been learned for a node and a name, probably the one that `previous` foretells; 0 for none. */
// @ts-ignore: decorator
@inline
function findEdge(previous: usize, node: i32, name: i32): usize {
  const foretold = load<usize>(previous, EDGE_NEXT);
  if (load<i32>(foretold, EDGE_NAME) == name && load<i32>(foretold, EDGE_NODE) == node) return foretold;
  const found = searchEdge(node, name);
  if (found != 0) store<usize>(previous, found, EDGE_NEXT);
  return found;
}

function searchEdge(node: i32, name: i32): usize {
  const edges: usize = load<usize>(EDGES);
  const mask = load<i32>(EDGE_MASK);
  let slot = (node * 0x9e3779b1 + name * 0x85ebca6b) & 0x7fffffff;
  slot = (slot ^ (slot >>> 15)) & mask;
  while (true) {
    const edge = edges + ((<usize>slot) << 5);
    if (load<i32>(edge, EDGE_NAME) == name && load<i32>(edge, EDGE_NODE) == node) return edge;
    if (load<i32>(edge, EDGE_NAME) < 0) return 0;
    slot = (slot + 1) & mask;
  }
}

// @ts-ignore: decorator
@inline
function tableAt(index: i32): usize {
  return load<usize>(TABLES) + ((<usize>index) << 6);
}

// @ts-ignore: decorator
@inline
function columnAt(table: usize, index: i32): usize {
  return load<usize>(COLUMNS) + ((<usize>(load<i32>(table, TABLE_FIRST_COLUMN) + index)) << 5);
}

/** Where the start and end of a row's value are noted. */
// @ts-ignore: decorator
@inline
function slotAt(row: usize, column: i32): usize {
  return load<usize>(SLOTS) + ((<usize>(load<i32>(row, ROW_SLOTS) + (column << 1))) << 2);
}

// @ts-ignore: decorator
@inline
function setSlot(row: usize, column: i32, start: usize, end: usize): void {
  const slot = slotAt(row, column);
  const arena: usize = load<usize>(ARENA);
  store<i32>(slot, <i32>(start - arena));
  store<i32>(slot, <i32>(end - arena), 4);
}

/**
 * The key of row `number` of a table. The last one written is kept as text, as mostly the next is one more: 32 bytes a table, the
 * number, the length, and the digits.
 */
// @ts-ignore: decorator
@inline
function writeKey(index: i32, number: f64, out: usize): usize {
  const last = load<usize>(KEY_TEXTS) + ((<usize>index) << 5);
  const length = load<usize>(last, 8);
  const digit = last + 11 + length;
  const c = load<u8>(digit);
  if (load<f64>(last) + 1 == number && length > 0 && c != ZERO + 9) {
    store<u8>(digit, c + 1);
    store<f64>(last, number);
    v128.store(out, v128.load(last, 12));
    store<u32>(out, load<u32>(last, 28), 16);
    return out + length;
  }
  const end = writeLong(load<u64>(KEY_BASE) + <u64>number, out);
  store<f64>(last, number);
  store<usize>(last, end - out, 8);
  v128.store(last, v128.load(out), 12);
  store<u32>(last, load<u32>(out, 16), 28);
  return end;
}

/** Opens a row above the top one; there is room for it. Answers the end of the arena, with its key written. */
function openRow(table: usize, index: i32, out: usize): usize {
  const top = load<i32>(ROW_TOP) + 1;
  store<i32>(ROW_TOP, top);
  const row = load<usize>(ROWS) + ((<usize>top) << 5);
  const slotTop = load<i32>(SLOT_TOP);
  const count = load<i32>(table, TABLE_SLOT_COUNT);
  store<i32>(row, index);
  store<i32>(row, slotTop, ROW_SLOTS);
  store<i32>(row, <i32>(out - load<usize>(ARENA)), ROW_MARK);
  store<i32>(SLOT_TOP, slotTop + (count << 1));
  const none = i32x4.splat(-1);
  let slot = load<usize>(SLOTS) + ((<usize>slotTop) << 2);
  const end = slot + ((<usize>count) << 3);
  for (; slot < end; slot += 16) v128.store(slot, none);
  const keys = load<usize>(LAST_NUMBERS) + ((<usize>index) << 3);
  const number = load<f64>(keys) + 1;
  store<f64>(keys, number);
  store<f64>(row, number, ROW_NUMBER);
  const key = writeKey(index, number, out);
  setSlot(row, load<i32>(table, TABLE_ROW_KEY), out, key);
  return key;
}

/** The parent's key, as it is written there. */
// @ts-ignore: decorator
@inline
function copyKey(row: usize, column: i32, parent: usize, out: usize): usize {
  const slot = slotAt(parent, load<i32>(tableAt(load<i32>(parent)), TABLE_ROW_KEY));
  const start = load<i32>(slot);
  const end = copy(out, load<usize>(ARENA) + start, <usize>(load<i32>(slot, 4) - start));
  setSlot(row, column, out, end);
  return end;
}

// @ts-ignore: decorator
@inline
function hasRoomForRow(table: usize, out: usize): bool {
  return (
    load<i32>(ROW_TOP) + 1 < load<i32>(ROW_CAPACITY) &&
    load<i32>(SLOT_TOP) + (load<i32>(table, TABLE_SLOT_COUNT) << 1) + 4 <= load<i32>(SLOT_CAPACITY) &&
    out + 128 <= load<usize>(ARENA) + load<usize>(ARENA_CAPACITY)
  );
}

/** Whether a row of so many bytes of values fits; else sets FULL_TABLE, to -1 where it would not even fit an empty buffer. */
// @ts-ignore: decorator
@inline
function fits(table: usize, index: i32, bytes: usize): bool {
  const length = load<usize>(load<usize>(OUT_LENGTHS) + ((<usize>index) << 2));
  if (length + bytes + load<usize>(table, TABLE_BASE_BYTES) + 64 <= load<usize>(OUT_CAPACITY)) return true;
  store<i32>(FULL_TABLE, length > 0 ? index : -1);
  return false;
}

/** Writes the top row to its table's buffer, where it fits, and forgets it; answers the end of the arena. */
function closeRow(): usize {
  const top = load<i32>(ROW_TOP);
  const row = load<usize>(ROWS) + ((<usize>top) << 5);
  const index = load<i32>(row);
  const table = tableAt(index);
  const arena: usize = load<usize>(ARENA);
  const slots = slotAt(row, 0);
  const required = load<usize>(REQUIRED) + ((<usize>load<i32>(table, TABLE_FIRST_REQUIRED)) << 2);
  const requiredCount = load<i32>(table, TABLE_REQUIRED_COUNT);
  for (let i = 0; i < requiredCount; i++) {
    const number = load<i32>(required + ((<usize>i) << 2));
    if (load<i32>(slots + ((<usize>number) << 3)) >= 0) continue;
    const column = columnAt(table, number);
    if (load<i32>(column, COLUMN_RELAXED) != 0) continue;
    store<i32>(column, 1, COLUMN_RELAXED);
    store<i32>(RELAXED, 1);
  }
  const lengths = load<usize>(OUT_LENGTHS) + ((<usize>index) << 2);
  const begin = load<usize>(load<usize>(OUT_STARTS) + ((<usize>index) << 2));
  let out = begin + load<usize>(lengths);
  const separator = load<u8>(SEPARATOR);
  let slot = slots;
  let column = columnAt(table, 0);
  const last = slots + ((<usize>load<i32>(table, TABLE_COLUMN_COUNT)) << 3);
  for (; slot < last; slot += 8) {
    const start = load<i32>(slot);
    if (start >= 0) out = copy(out, arena + start, <usize>(load<i32>(slot, 4) - start));
    else out = copy(out, load<usize>(column, COLUMN_DEFAULT), load<usize>(column, COLUMN_DEFAULT_LENGTH));
    store<u8>(out++, separator);
    column += 32;
  }
  store<u8>(out - 1, LF);
  store<usize>(lengths, out - begin);
  const pending = load<usize>(OUT_PENDING) + ((<usize>index) << 2);
  store<i32>(pending, load<i32>(pending) + 1);
  store<i32>(ROW_TOP, top - 1);
  store<i32>(SLOT_TOP, load<i32>(row, ROW_SLOTS));
  return arena + load<i32>(row, ROW_MARK);
}

/**
 * A run of text of mixed content, as a row of its own in table `index`; answers the end of the arena, 0 where there is no room
 * (see `fits`).
 */
function writeTextRow(frame: usize, index: i32, out: usize): usize {
  const table = tableAt(index);
  const length = load<usize>(TEXT_LENGTH);
  store<i32>(FULL_TABLE, -1);
  if (!hasRoomForRow(table, out + 2 * length + 64) || !fits(table, index, 2 * length + 192)) return 0;
  const position = load<i32>(frame, FRAME_POSITION) + 1;
  store<i32>(frame, position, FRAME_POSITION);
  store<i32>(frame, 1, FRAME_SHOWN);
  const parent = load<usize>(ROWS) + ((<usize>load<i32>(frame, FRAME_ROW)) << 5);
  out = openRow(table, index, out);
  const row = load<usize>(ROWS) + ((<usize>load<i32>(ROW_TOP)) << 5);
  out = copyKey(row, load<i32>(table, TABLE_PARENT_KEY), parent, out);
  let end = writeInteger(position, out);
  setSlot(row, load<i32>(table, TABLE_POSITION), out, end);
  out = end;
  const text: usize = load<usize>(TEXT);
  end = escape(text, text + length, out);
  setSlot(row, load<i32>(table, TABLE_CONTENT), out, end);
  store<i32>(TEXT_LENGTH, 0);
  return closeRow();
}

function leave(exit: i32, e: usize, depth: i32, out: usize): i32 {
  store<i32>(NEXT, <i32>((e - load<usize>(EVENTS)) >> RECORD_SHIFT));
  store<i32>(DEPTH, depth);
  store<i32>(ARENA_LENGTH, <i32>(out - load<usize>(ARENA)));
  return exit;
}

/** Record `from` and those that follow, of `count`; sets NEXT to the one it stopped at. */
export function shred(from: i32, count: i32): i32 {
  const events: usize = load<usize>(EVENTS);
  const bytes: usize = load<usize>(BYTES);
  const decoded: usize = load<usize>(DECODED);
  const frames: usize = load<usize>(FRAMES);
  const rows: usize = load<usize>(ROWS);
  const nodes: usize = load<usize>(NODES);
  const columns: usize = load<usize>(COLUMNS);
  const slots: usize = load<usize>(SLOTS);
  const arena: usize = load<usize>(ARENA);
  const arenaEnd = arena + load<usize>(ARENA_CAPACITY);
  const scope = load<i32>(SCOPE_SIZE);
  const xsiType = load<i32>(XSI_TYPE);
  const last = events + ((<usize>count) << RECORD_SHIFT);
  let e = events + ((<usize>from) << RECORD_SHIFT);
  let depth = load<i32>(DEPTH);
  let frame = frames + (<usize>(depth - 1)) * FRAME_BYTES;
  let out: usize = arena + load<usize>(ARENA_LENGTH);
  if (depth == 0) return leave(EXIT_EVENT, e, depth, out);
  // any edge will do to begin with
  let previous: usize = load<usize>(EDGES);
  // of the innermost open element
  let known: usize = 0;
  let nodeIndex: i32 = 0;
  let node: usize = 0;
  let nodeFlags: i32 = 0;
  let row: usize = 0;
  let rowSlots: usize = 0;
  let rowColumns: usize = 0;
  while (e < last) {
    if (frame != known) {
      known = frame;
      nodeIndex = load<i32>(frame);
      node = nodes + ((<usize>nodeIndex) << 6);
      nodeFlags = load<i32>(node, NODE_FLAGS);
      row = rows + ((<usize>load<i32>(frame, FRAME_ROW)) << 5);
      rowSlots = slots + ((<usize>load<i32>(row, ROW_SLOTS)) << 2);
      rowColumns = columns + ((<usize>load<i32>(tableAt(load<i32>(row)), TABLE_FIRST_COLUMN)) << 5);
    }
    const flags = load<i32>(e);
    const kind = flags & KIND_MASK;
    if (kind == KIND_START) {
      if (load<i32>(TEXT_LENGTH) > 0) {
        const textTable = load<i32>(node, NODE_TEXT_TABLE);
        if (load<i32>(node, NODE_TEXT_COLUMN) >= 0 || textTable < 0)
          return leave(EXIT_EVENT, e, depth, out);
        const end = writeTextRow(frame, textTable, out);
        if (end == 0)
          return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, e, depth, out);
        out = end;
      }
      const name = load<i32>(e, 4);
      const edge = findEdge(previous, nodeIndex, name);
      if (edge == 0) return leave(EXIT_EVENT, e, depth, out);
      previous = edge;
      const target = load<i32>(edge, EDGE_TARGET);
      const child = nodes + ((<usize>target) << 6);
      const childFlags = load<i32>(child, NODE_FLAGS);
      const next = load<i32>(e, 16);
      if (
        (childFlags & LEAF) != 0 &&
        (next & KIND_MASK) == KIND_TEXT &&
        e + 32 < last &&
        (load<i32>(e, 32) & KIND_MASK) == KIND_END
      ) {
        // most elements: a start tag, one piece of text, an end tag
        const seen = rowSlots + ((<usize>load<i32>(child, NODE_SEEN_SLOT)) << 3);
        const source = (next & FLAG_DECODED) == 0 ? bytes : decoded;
        const start = source + load<i32>(e, 24);
        const end = source + load<i32>(e, 28);
        if (
          load<i32>(seen) == -1 &&
          target > load<i32>(frame, FRAME_LAST_FOLDED) &&
          out + 2 * (end - start) + 128 <= arenaEnd
        ) {
          const number = <usize>load<i32>(child, NODE_TEXT_COLUMN);
          const written = convert(rowColumns + (number << 5), start, end, out);
          if (written != 0) {
            store<i32>(seen, -2);
            const slot = rowSlots + (number << 3);
            store<i32>(slot, <i32>(out - arena));
            store<i32>(slot, <i32>(written - arena), 4);
            store<i32>(frame, target, FRAME_LAST_FOLDED);
            store<i32>(frame, load<i32>(frame, FRAME_POSITION) + 1, FRAME_POSITION);
            store<i32>(frame, 1, FRAME_SHOWN);
            out = written;
            e += 48;
            continue;
          }
        }
      }
      for (let at = e + 16; at < last; at += 16) {
        const other = load<i32>(at) & KIND_MASK;
        if (other == KIND_NAMESPACE || (other == KIND_ATTRIBUTE && load<i32>(at, 4) == xsiType))
          return leave(EXIT_EVENT, e, depth, out);
        if (other != KIND_ATTRIBUTE) break;
      }
      if (depth >= load<i32>(FRAME_CAPACITY)) return leave(EXIT_EVENT, e, depth, out);
      const inner = frame + FRAME_BYTES;
      const position = load<i32>(frame, FRAME_POSITION) + 1;
      if ((childFlags & OPENS_ROW) != 0) {
        const index = load<i32>(child);
        const table = tableAt(index);
        if (!hasRoomForRow(table, out + load<usize>(edge, EDGE_LABEL_LENGTH)))
          return leave(EXIT_EVENT, e, depth, out);
        out = openRow(table, index, out);
        const top = load<i32>(ROW_TOP);
        const opened = rows + ((<usize>top) << 5);
        const parentKey = load<i32>(edge, EDGE_PARENT_KEY);
        if (parentKey >= 0) out = copyKey(opened, parentKey, row, out);
        const positionColumn = load<i32>(table, TABLE_POSITION);
        if (positionColumn >= 0) {
          const end = writeInteger(position, out);
          setSlot(opened, positionColumn, out, end);
          out = end;
        }
        store<i32>(inner, top, FRAME_ROW);
        store<i32>(inner, 1, FRAME_ROW_COUNT);
      } else {
        const seen = rowSlots + ((<usize>load<i32>(child, NODE_SEEN_SLOT)) << 3);
        const positionColumn = load<i32>(child, NODE_FOLDED_POSITION_COLUMN);
        if (
          load<i32>(seen) != -1 ||
          (positionColumn < 0 && target <= load<i32>(frame, FRAME_LAST_FOLDED)) ||
          out + load<usize>(edge, EDGE_LABEL_LENGTH) + 128 > arenaEnd
        )
          return leave(EXIT_EVENT, e, depth, out);
        store<i32>(seen, -2);
        const presence = load<i32>(child, NODE_PRESENCE_COLUMN);
        if (presence >= 0) {
          const end = writeBoolean(true, out);
          setSlot(row, presence, out, end);
          out = end;
        }
        if (positionColumn >= 0) {
          const end = writeInteger(position, out);
          setSlot(row, positionColumn, out, end);
          out = end;
        } else {
          store<i32>(frame, target, FRAME_LAST_FOLDED);
        }
        store<i32>(inner, load<i32>(frame, FRAME_ROW), FRAME_ROW);
        store<i32>(inner, 0, FRAME_ROW_COUNT);
      }
      const label = load<i32>(child, NODE_ELEMENT_NAME_COLUMN);
      if (label >= 0) {
        const end = copy(out, load<usize>(edge, EDGE_LABEL), load<usize>(edge, EDGE_LABEL_LENGTH));
        setSlot(rows + ((<usize>load<i32>(inner, FRAME_ROW)) << 5), label, out, end);
        out = end;
      }
      store<i32>(frame, position, FRAME_POSITION);
      store<i32>(frame, 1, FRAME_SHOWN);
      store<i32>(inner, target, FRAME_NODE);
      store<i32>(inner, 0, FRAME_POSITION);
      store<i32>(inner, name, FRAME_NAME);
      store<i32>(inner, 0, FRAME_NIL);
      store<i32>(inner, 0, FRAME_SHOWN);
      store<i32>(inner, position, FRAME_ORDINAL);
      store<i32>(inner, -1, FRAME_LAST_FOLDED);
      store<i32>(inner, scope, FRAME_SCOPE);
      frame = inner;
      depth++;
      e += 16;
      continue;
    }

    if (kind == KIND_ATTRIBUTE) {
      const edge = findEdge(previous, nodeIndex + ATTRIBUTE_OF, load<i32>(e, 4));
      if (edge == 0) return leave(EXIT_EVENT, e, depth, out);
      previous = edge;
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const start = source + load<i32>(e, 8);
      const end = source + load<i32>(e, 12);
      if (out + 2 * (end - start) + 128 > arenaEnd) return leave(EXIT_EVENT, e, depth, out);
      const number = <usize>load<i32>(edge, EDGE_TARGET);
      const written = convert(rowColumns + (number << 5), start, end, out);
      if (written == 0) return leave(EXIT_EVENT, e, depth, out);
      const slot = rowSlots + (number << 3);
      store<i32>(slot, <i32>(out - arena));
      store<i32>(slot, <i32>(written - arena), 4);
      store<i32>(frame, 1, FRAME_SHOWN);
      out = written;
      e += 16;
      continue;
    }

    const event = e;
    let textLength = load<usize>(TEXT_LENGTH);
    if (kind == KIND_TEXT && textLength == 0 && (nodeFlags & TAKES_TEXT) == 0) {
      if ((flags & FLAG_WHITE_SPACE) == 0) return leave(EXIT_EVENT, e, depth, out);
      e += 16;
      continue;
    }
    const textColumn = load<i32>(node, NODE_TEXT_COLUMN);
    let start: usize = load<usize>(TEXT);
    let end: usize = start + textLength;
    if (kind == KIND_TEXT) {
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const from = source + load<i32>(e, 8);
      const to = source + load<i32>(e, 12);
      const next = e + 16;
      if (textLength == 0 && textColumn >= 0 && next < last && (load<i32>(next) & KIND_MASK) == KIND_END) {
        // the whole value, as it nearly always is
        start = from;
        end = to;
        textLength = to - from;
        e = next;
      } else {
        if (textLength + (to - from) > load<usize>(TEXT_CAPACITY)) return leave(EXIT_EVENT, e, depth, out);
        copy(end, from, to - from);
        store<i32>(TEXT_LENGTH, <i32>(textLength + (to - from)));
        e += 16;
        continue;
      }
    } else if (kind != KIND_END) {
      return leave(EXIT_EVENT, e, depth, out);
    }

    const rowCount = load<i32>(frame, FRAME_ROW_COUNT);
    if (rowCount > 1 || load<i32>(frame, FRAME_SCOPE) != scope) return leave(EXIT_EVENT, event, depth, out);
    if (textColumn >= 0) {
      if (textLength > 0 && load<i32>(frame, FRAME_POSITION) > 0) return leave(EXIT_EVENT, event, depth, out);
      if (textLength > 0 || load<i32>(frame, FRAME_NIL) == 0) {
        if (out + 2 * textLength + 128 > arenaEnd) return leave(EXIT_EVENT, event, depth, out);
        const written = convert(rowColumns + ((<usize>textColumn) << 5), start, end, out);
        if (written == 0) return leave(EXIT_EVENT, event, depth, out);
        const index = load<i32>(row);
        if (rowCount > 0 && !fits(tableAt(index), index, written - arena - load<i32>(row, ROW_MARK)))
          return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
        setSlot(row, textColumn, out, written);
        out = written;
        store<i32>(TEXT_LENGTH, 0);
        if (rowCount > 0) out = closeRow();
        frame -= FRAME_BYTES;
        depth--;
        e += 16;
        if (depth == 0) return leave(e < last ? EXIT_EVENT : EXIT_DONE, e, depth, out);
        continue;
      }
    } else if (textLength > 0) {
      const textTable = load<i32>(node, NODE_TEXT_TABLE);
      if (textTable < 0) return leave(EXIT_EVENT, event, depth, out);
      const end = writeTextRow(frame, textTable, out);
      if (end == 0)
        return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
      out = end;
    }
    if (load<i32>(frame, FRAME_SHOWN) == 0 && (nodeFlags & SHOWS_NOTHING) != 0)
      return leave(EXIT_EVENT, event, depth, out);
    if (rowCount > 0) {
      const index = load<i32>(row);
      if (!fits(tableAt(index), index, out - arena - load<i32>(row, ROW_MARK)))
        return leave(load<i32>(FULL_TABLE) >= 0 ? EXIT_TABLE_FULL : EXIT_EVENT, event, depth, out);
      out = closeRow();
    }
    frame -= FRAME_BYTES;
    depth--;
    e += 16;
    if (depth == 0) return leave(e < last ? EXIT_EVENT : EXIT_DONE, e, depth, out);
  }
  return leave(EXIT_DONE, e, depth, out);
}
