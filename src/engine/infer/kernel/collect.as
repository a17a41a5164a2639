// AssemblyScript. The common part of taking statistics: elements and attributes that have been met before, and their values. At
// anything else this function returns with everything as it was before the record; src/engine/infer/kernel-collector.ts makes it known, or
// answers what was asked, and the record is taken again. Compiled by `npm run wasm` into src/engine/infer/kernel/collect-wasm.ts; layout of the control
// block, of nodes, values and frames: src/engine/infer/kernel/layout.ts. What is counted, and how: src/engine/infer/collector.ts, src/engine/infer/values/collector.ts.

/** Behind the tokeniser's part of the memory. */
const CONTROL: usize = 2490368;
const EVENTS: usize = CONTROL + 0;
const BYTES: usize = CONTROL + 4;
const DECODED: usize = CONTROL + 8;
const NEXT: usize = CONTROL + 12;
const DEPTH: usize = CONTROL + 16;
const FRAMES: usize = CONTROL + 20;
const FRAME_CAPACITY: usize = CONTROL + 24;
const COUNTS_TOP: usize = CONTROL + 28;
const COUNTS_END: usize = CONTROL + 32;
const SEEN_TOP: usize = CONTROL + 36;
const SEEN_END: usize = CONTROL + 40;
const TEXT: usize = CONTROL + 44;
const TEXT_CAPACITY: usize = CONTROL + 48;
const TEXT_LENGTH: usize = CONTROL + 52;
const TEXT_CHARACTERS: usize = CONTROL + 56;
const TEXT_HASH: usize = CONTROL + 60;
const DOCUMENT: usize = CONTROL + 64;
const SAMPLES: usize = CONTROL + 68;
const ANSWERED: usize = CONTROL + 72;
const ANSWER: usize = CONTROL + 76;
const EXTREMES_SEEN: usize = CONTROL + 80;
const ASKED: usize = CONTROL + 84;
const ASKED_FROM: usize = CONTROL + 88;
const ASKED_TO: usize = CONTROL + 92;
const POWERS_OF_TEN: usize = CONTROL + 1024;
const ALL_CONTINUATION: usize = CONTROL + 1152;

const EXIT_DONE = 0;
const EXIT_ELEMENT = 1;
const EXIT_ATTRIBUTE = 2;
const EXIT_VALUE = 3;
const EXIT_EXTREMES = 4;
const EXIT_NAMESPACE = 5;
const EXIT_FULL = 6;

const KIND_MASK = 7;
const KIND_START = 0;
const KIND_END = 1;
const KIND_ATTRIBUTE = 2;
const KIND_TEXT = 3;
const KIND_NAMESPACE = 4;
const FLAG_DECODED = 8;
const FLAG_WHITE_SPACE = 16;
const RECORD_BYTES: usize = 16;

// node
const NODE_COUNT: usize = 0;
const NODE_WITH_CHILDREN: usize = 8;
const NODE_WITH_TEXT: usize = 16;
const NODE_MIXED: usize = 24;
const NODE_ENDED: usize = 32;
const NODE_DOCUMENTS: usize = 48;
const NODE_LAST_DOCUMENT: usize = 52;
const NODE_VALUE: usize = 56;
const NODE_CHILD_COUNT: usize = 60;
/** a multiple of four */
const NODE_CHILD_CAPACITY: usize = 64;
const NODE_CHILD_NAMES: usize = 68;
const NODE_CHILD_TARGETS: usize = 72;
const NODE_LEAST: usize = 76;
const NODE_MOST: usize = 80;
const NODE_PRECEDED: usize = 84;
const NODE_WORDS: usize = 88;
const NODE_ATTRIBUTES: usize = 92;
const NODE_ATTRIBUTE_COUNT: usize = 96;

// attribute, 32 bytes
const ATTRIBUTE_SHIFT: usize = 5;
const ATTRIBUTE_COUNT: usize = 0;
const ATTRIBUTE_NAME: usize = 8;
const ATTRIBUTE_VALUE: usize = 12;
const ATTRIBUTE_DOCUMENTS: usize = 16;
const ATTRIBUTE_LAST_DOCUMENT: usize = 20;

// frame, 32 bytes
const FRAME_SHIFT: usize = 5;
const FRAME_NODE: usize = 0;
const FRAME_COUNTS: usize = 4;
const FRAME_COUNTED: usize = 8;
const FRAME_SEEN: usize = 12;
const FRAME_WORDS: usize = 16;
const FRAME_LAST: usize = 20;
const FRAME_ATTRIBUTES: usize = 24;
const FRAME_HAS_TEXT: usize = 28;
const FRAME_HAS_CHILDREN: usize = 30;

// value
const VALUE_COUNT: usize = 0;
const VALUE_EMPTY: usize = 8;
const LEAST_NUMBER: usize = 16;
const GREATEST_NUMBER: usize = 24;
const CLASSES: usize = 32;
const MIN_LENGTH: usize = 36;
const MAX_LENGTH: usize = 40;
const WHOLE_DIGITS: usize = 44;
const MIN_FRACTION: usize = 48;
const MAX_FRACTION: usize = 52;
const SKETCH_SIZE: usize = 56;
const LEAST_LENGTH: usize = 60;
const LEAST_KIND: usize = 64;
const GREATEST_LENGTH: usize = 68;
const GREATEST_KIND: usize = 72;
const SKETCH: usize = 80;
const RECENT: usize = 336;
const LEAST: usize = 592;
const GREATEST: usize = 1424;

const SKETCH_MOST = 64;
/** bytes up to which a value surely is kept whole */
const KEPT_BYTES: usize = 200;

const TEXT_VALUE = 0;
const NUMBER = 1;
/** a number, and nothing but digits, not the first of many 0 */
const DIGITS = 3;

const CLASS_BOOLEAN = 1;
const CLASS_INTEGER = 2;
const CLASS_DECIMAL = 4;
const CLASS_DATE = 8;
const CLASS_TIME = 16;
const CLASS_DATETIME_LOCAL = 32;
const CLASS_DATETIME_ZONED = 64;
const CLASSES_OF_CALENDAR = 120;

const ZERO: u8 = 0x30;
const PLUS: u8 = 0x2b;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const COLON: u8 = 0x3a;

/** Writes what the kernel loads as constants: once, before all else. See src/engine/xml/kernel/scan.as. */
export function prepare(): void {
  let power: f64 = 1;
  for (let i: usize = 0; i < 16; i++) {
    store<f64>(POWERS_OF_TEN + (i << 3), power);
    power *= 10;
  }
  v128.store(ALL_CONTINUATION, i8x16.splat(<i8>0xbf));
}

// @ts-ignore: decorator
@inline
function isDigit(c: u32): bool {
  return c - ZERO <= 9;
}

// @ts-ignore: decorator
@inline
function increment(at: usize): void {
  store<f64>(at, load<f64>(at) + 1);
}

/** Characters of UTF-8 text; 16 bytes behind it may be read. */
// @ts-ignore: decorator
@inline
function characters(from: usize, to: usize): i32 {
  let count: i32 = 0;
  while (true) {
    let leads = i8x16.bitmask(i8x16.gt_s(v128.load(from), v128.load(ALL_CONTINUATION)));
    const rest = to - from;
    if (rest <= 16) return count + popcnt(leads & ((1 << <i32>rest) - 1));
    count += popcnt(leads);
    from += 16;
  }
}

/** FNV-1a, going on from `hash`. */
// @ts-ignore: decorator
@inline
function hashOf(hash: u32, from: usize, to: usize): u32 {
  for (; from < to; from++) hash = (hash ^ load<u8>(from)) * 0x01000193;
  return hash;
}

/** As a byte comparison sorts them: negative, 0 or positive. */
function compareBytes(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const shared = min<usize>(aLength, bLength);
  for (let i: usize = 0; i < shared; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference != 0) return difference;
  }
  return <i32>aLength - <i32>bLength;
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
  if (load<u8>(at, 4) != MINUS || load<u8>(at, 7) != MINUS) return false;
  const century = twoDigits(at);
  const inCentury = twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (century < 0 || inCentury < 0 || month < 1 || month > 12 || day < 1) return false;
  const year = century * 100 + inCentury;
  if (year == 0) return false;
  if (day <= 28) return true;
  if (month == 2) return day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31);
}

/** Where a time without its zone ends, of hours up to 23 and at most six digits of a second; 0 for all others. */
function endOfTime(at: usize, to: usize): usize {
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
  }
  return at;
}

function isZone(at: usize, to: usize): bool {
  const sign: u32 = load<u8>(at);
  if (sign == 0x5a) return at + 1 == to;
  if ((sign != PLUS && sign != MINUS) || at + 6 != to || load<u8>(at, 3) != COLON) return false;
  const hours = twoDigits(at + 1);
  const minutes = twoDigits(at + 4);
  return hours >= 0 && minutes >= 0 && minutes <= 59 && (hours < 14 || (hours == 14 && minutes == 0));
}

/** Of at least eight bytes. */
function calendarClass(from: usize, to: usize): i32 {
  if (load<u8>(from, 2) == COLON) return endOfTime(from, to) == to ? CLASS_TIME : 0;
  if (from + 10 > to || !isDate(from)) return 0;
  if (from + 10 == to) return CLASS_DATE;
  if (load<u8>(from, 10) != 0x54) return 0;
  const end = endOfTime(from + 11, to);
  if (end == 0) return 0;
  if (end == to) return CLASS_DATETIME_LOCAL;
  return isZone(end, to) ? CLASS_DATETIME_ZONED : 0;
}

// @ts-ignore: decorator
@inline
function isBoolean(from: usize, length: usize): bool {
  const four = load<u32>(from);
  if (length == 4) return four == 0x65757274;
  return length == 5 && four == 0x736c6166 && load<u8>(from, 4) == 0x65;
}

function addToSketch(value: usize, fnv: u32): void {
  let hash = fnv ^ (fnv >> 15);
  hash *= 0x2c1b3c6d;
  hash ^= hash >> 12;
  const recent = value + RECENT + ((<usize>hash & 63) << 2);
  if (load<u32>(recent) == hash) return;
  store<u32>(recent, hash);
  const hashes = value + SKETCH;
  const size = load<i32>(value, SKETCH_SIZE);
  if (size == SKETCH_MOST && hash >= load<u32>(hashes, (SKETCH_MOST - 1) * 4)) return;
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(hashes + (<usize>middle << 2)) < hash) low = middle + 1;
    else high = middle;
  }
  const place = hashes + (<usize>low << 2);
  if (low < size && load<u32>(place) == hash) return;
  memory.copy(place + 4, place, <usize>(min(size, SKETCH_MOST - 1) - low) << 2);
  store<u32>(place, hash);
  if (size < SKETCH_MOST) store<i32>(value, size + 1, SKETCH_SIZE);
}

/** What cannot be told here. */
const UNKNOWN = i32.MAX_VALUE;

/** A value against one that is kept: negative where it comes before it, positive behind it, 0 for the same. */
function compareToKept(
  kept: usize,
  keptLength: usize,
  keptKind: i32,
  keptNumber: f64,
  from: usize,
  length: usize,
  kind: i32,
  number: f64,
): i32 {
  const isNumber = kind != TEXT_VALUE;
  if (isNumber != (keptKind != TEXT_VALUE)) return isNumber ? -1 : 1;
  if (!isNumber) return compareBytes(from, length, kept, keptLength);
  if (kind == DIGITS && keptKind == DIGITS && length != keptLength) return <i32>length - <i32>keptLength;
  if (kind == DIGITS && keptKind == DIGITS) return compareBytes(from, length, kept, keptLength);
  if (number < keptNumber) return -1;
  if (number > keptNumber) return 1;
  return compareBytes(from, length, kept, keptLength) == 0 ? 0 : UNKNOWN;
}

function keep(value: usize, place: usize, lengthAt: usize, numberAt: usize, from: usize, length: usize, kind: i32, number: f64): void {
  memory.copy(value + place, from, length);
  store<i32>(value + lengthAt, <i32>length);
  store<i32>(value + lengthAt, kind, 4);
  store<f64>(value + numberAt, number);
}

/**
 * A value of `length` bytes, those from `from` on or, of a very long one, its start, with as many characters and that hash.
 * Answers false, with nothing changed, where its extremes are to be looked at by others.
 */
function addValue(value: usize, from: usize, length: usize, count: i32, fnv: u32, event: usize): bool {
  if (length == 0) {
    increment(value + VALUE_COUNT);
    increment(value + VALUE_EMPTY);
    return true;
  }
  const to = from + length;
  const first: u32 = load<u8>(from);
  const negative = first == MINUS;
  let kind = TEXT_VALUE;
  let canonical = false;
  let number: f64 = NaN;
  let whole: i32 = 0;
  let fraction: i32 = 0;
  if ((negative || isDigit(first)) && length <= 1001) {
    const start = negative ? from + 1 : from;
    let point: usize = 0;
    let size: f64 = 0;
    let p = start;
    for (; p < to; p++) {
      const digit: u32 = load<u8>(p) - ZERO;
      if (digit <= 9) size = size * 10 + <f64>digit;
      else if (digit + ZERO == POINT && point == 0 && p > start && p < to - 1) point = p;
      else break;
    }
    if (p == to && start < to) {
      whole = <i32>((point == 0 ? to : point) - start);
      fraction = point == 0 ? 0 : <i32>(to - point - 1);
      const padded = load<u8>(start) == ZERO && whole > 1;
      canonical = !padded && (!negative || size != 0) && to - start <= 1000;
      kind = point == 0 && !negative && !padded ? DIGITS : NUMBER;
      if (whole + fraction <= 15)
        number = (negative ? -size : size) / load<f64>(POWERS_OF_TEN + (<usize>fraction << 3));
    }
  }

  if (
    load<i32>(SAMPLES) != 0 &&
    !(number > load<f64>(value, LEAST_NUMBER) && number < load<f64>(value, GREATEST_NUMBER)) &&
    load<usize>(EXTREMES_SEEN) != event
  ) {
    const leastLength = load<i32>(value, LEAST_LENGTH);
    if (leastLength < 0) {
      if (length > KEPT_BYTES) return false;
      keep(value, LEAST, LEAST_LENGTH, LEAST_NUMBER, from, length, kind, number);
      keep(value, GREATEST, GREATEST_LENGTH, GREATEST_NUMBER, from, length, kind, number);
    } else {
      const isLong = length > KEPT_BYTES;
      // of a long one that may be a number only the start would be kept: perhaps another number
      if (isLong && (negative || isDigit(first))) return false;
      const toLeast = compareToKept(
        value + LEAST, leastLength, load<i32>(value, LEAST_KIND), load<f64>(value, LEAST_NUMBER), from, length, kind, number,
      );
      const toGreatest = compareToKept(
        value + GREATEST, load<i32>(value, GREATEST_LENGTH), load<i32>(value, GREATEST_KIND), load<f64>(value, GREATEST_NUMBER), from, length, kind, number,
      );
      if (toLeast == UNKNOWN || toGreatest == UNKNOWN || (isLong && (toLeast < 0 || toGreatest > 0))) return false;
      if (toLeast < 0) keep(value, LEAST, LEAST_LENGTH, LEAST_NUMBER, from, length, kind, number);
      if (toGreatest > 0) keep(value, GREATEST, GREATEST_LENGTH, GREATEST_NUMBER, from, length, kind, number);
    }
  }

  const isFirst = load<i32>(value, SKETCH_SIZE) == 0;
  const classes = load<i32>(value, CLASSES);
  if (classes != 0) {
    let found = 0;
    if ((classes & CLASS_DECIMAL) != 0 && canonical) {
      found = fraction == 0 ? CLASS_INTEGER | CLASS_DECIMAL : CLASS_DECIMAL;
      if (whole > load<i32>(value, WHOLE_DIGITS)) store<i32>(value, whole, WHOLE_DIGITS);
      if (isFirst || fraction < load<i32>(value, MIN_FRACTION)) store<i32>(value, fraction, MIN_FRACTION);
      if (fraction > load<i32>(value, MAX_FRACTION)) store<i32>(value, fraction, MAX_FRACTION);
    } else {
      if (first == 0x74 || first == 0x66) found = isBoolean(from, length) ? CLASS_BOOLEAN : 0;
      else if (negative || isDigit(first)) {
        if (length >= 8 && (classes & CLASSES_OF_CALENDAR) != 0) found = calendarClass(from, to);
      }
      if ((classes & CLASS_DECIMAL) != 0) {
        store<i32>(value, 0, WHOLE_DIGITS);
        store<i32>(value, 0, MIN_FRACTION);
        store<i32>(value, 0, MAX_FRACTION);
      }
    }
    store<i32>(value, classes & found, CLASSES);
  }
  increment(value + VALUE_COUNT);
  if (isFirst || count < load<i32>(value, MIN_LENGTH)) store<i32>(value, count, MIN_LENGTH);
  if (count > load<i32>(value, MAX_LENGTH)) store<i32>(value, count, MAX_LENGTH);
  addToSketch(value, fnv);
  return true;
}

/** What an exit is about: a node or a value, and bytes. */
function ask(about: usize, from: usize, to: usize): void {
  store<usize>(ASKED, about);
  store<usize>(ASKED_FROM, from);
  store<usize>(ASKED_TO, to);
}

/** Adds to the text of the innermost element: its start is kept, of the rest what is counted. */
function addText(from: usize, to: usize): void {
  const length = load<usize>(TEXT_LENGTH);
  const capacity = load<usize>(TEXT_CAPACITY);
  if (length == 0) {
    store<i32>(TEXT_CHARACTERS, 0);
    store<u32>(TEXT_HASH, 0x811c9dc5);
  }
  if (from == to) return;
  if (length < capacity) memory.copy(load<usize>(TEXT) + length, from, min<usize>(to - from, capacity - length));
  store<usize>(TEXT_LENGTH, length + (to - from));
  store<i32>(TEXT_CHARACTERS, load<i32>(TEXT_CHARACTERS) + characters(from, to));
  store<u32>(TEXT_HASH, hashOf(load<u32>(TEXT_HASH), from, to));
}

/** Ordinal of a node's child of this name; -1 for none, or where there are so many that others are quicker. */
function findChild(node: usize, name: i32, last: i32): i32 {
  const names: usize = load<usize>(node, NODE_CHILD_NAMES);
  const count = load<i32>(node, NODE_CHILD_COUNT);
  // children mostly repeat, or come in the order they were first met in
  if (last >= 0 && load<i32>(names + (<usize>last << 2)) == name) return last;
  const next = last + 1;
  if (next < count && load<i32>(names + (<usize>next << 2)) == name) return next;
  if (count > 256) return -1;
  for (let i = 0; i < count; i++) if (load<i32>(names + (<usize>i << 2)) == name) return i;
  return -1;
}

/** Makes room for the counts of all children that the innermost open element may have; false where there is none. */
function makeRoom(frame: usize, node: usize): bool {
  const capacity = load<i32>(node, NODE_CHILD_CAPACITY);
  const counted = load<i32>(frame, FRAME_COUNTED);
  const counts: usize = load<usize>(frame, FRAME_COUNTS);
  const words = load<i32>(node, NODE_WORDS);
  const seenWords = load<i32>(frame, FRAME_WORDS);
  const seen: usize = load<usize>(frame, FRAME_SEEN);
  const countsTop = counts + (<usize>capacity << 2);
  const seenTop = seen + (<usize>words << 2);
  if (countsTop > load<usize>(COUNTS_END) || seenTop > load<usize>(SEEN_END)) return false;
  for (let at = counts + (<usize>counted << 2); at < countsTop; at += 16) v128.store(at, i32x4.splat(0));
  for (let at = seen + (<usize>seenWords << 2); at < seenTop; at += 4) store<i32>(at, 0);
  store<i32>(frame, capacity, FRAME_COUNTED);
  store<i32>(frame, words, FRAME_WORDS);
  store<usize>(COUNTS_TOP, countsTop);
  store<usize>(SEEN_TOP, seenTop);
  return true;
}

function endElement(frame: usize, node: usize): void {
  increment(node + NODE_ENDED);
  const counted = load<i32>(frame, FRAME_COUNTED);
  const capacity = load<i32>(node, NODE_CHILD_CAPACITY);
  let least: usize = load<usize>(node, NODE_LEAST);
  let counts: usize = load<usize>(frame, FRAME_COUNTS);
  const behind = least + (<usize>counted << 2);
  for (; least < behind; least += 16) {
    v128.store(least, i32x4.min_s(v128.load(least), v128.load(counts)));
    counts += 16;
  }
  // children that only other elements had
  const end = least + (<usize>(capacity - counted) << 2);
  for (; least < end; least += 16) v128.store(least, i32x4.splat(0));
  const hasText = load<u16>(frame, FRAME_HAS_TEXT) != 0;
  if (hasText) increment(node + NODE_WITH_TEXT);
  if (load<u16>(frame, FRAME_HAS_CHILDREN) != 0) {
    increment(node + NODE_WITH_CHILDREN);
    if (hasText) increment(node + NODE_MIXED);
  }
  store<usize>(COUNTS_TOP, load<usize>(frame, FRAME_COUNTS));
  store<usize>(SEEN_TOP, load<usize>(frame, FRAME_SEEN));
}

function leave(exit: i32, e: usize, depth: i32): i32 {
  store<i32>(NEXT, <i32>((e - load<usize>(EVENTS)) >> 4));
  store<i32>(DEPTH, depth);
  return exit;
}

/** Record `from` and those that follow, of `count`; sets NEXT to the one it stopped at. */
export function collect(from: i32, count: i32): i32 {
  const events: usize = load<usize>(EVENTS);
  const bytes: usize = load<usize>(BYTES);
  const decoded: usize = load<usize>(DECODED);
  const frames: usize = load<usize>(FRAMES);
  const last = events + ((<usize>count) << 4);
  const document = load<i32>(DOCUMENT);
  let e = events + ((<usize>from) << 4);
  let depth = load<i32>(DEPTH);
  let frame = frames + (<usize>depth << FRAME_SHIFT);
  let node: usize = load<usize>(frame, FRAME_NODE);
  // the text of the innermost element, while it is one range of this batch
  let textFrom: usize = 0;
  let textTo: usize = 0;
  for (; e < last; e += RECORD_BYTES) {
    const flags = load<i32>(e);
    const kind = flags & KIND_MASK;
    if (kind == KIND_TEXT) {
      if (depth == 0) continue;
      if ((flags & FLAG_WHITE_SPACE) == 0) store<u16>(frame, 1, FRAME_HAS_TEXT);
      if (load<u16>(frame, FRAME_HAS_CHILDREN) != 0) continue;
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const pieceFrom = source + load<u32>(e, 8);
      const pieceTo = source + load<u32>(e, 12);
      if (textFrom == 0 && load<usize>(TEXT_LENGTH) == 0) {
        textFrom = pieceFrom;
        textTo = pieceTo;
        continue;
      }
      if (textFrom != 0) addText(textFrom, textTo);
      textFrom = textTo = 0;
      addText(pieceFrom, pieceTo);
      continue;
    }

    if (kind == KIND_START) {
      const name = load<i32>(e, 4);
      let ordinal = findChild(node, name, load<i32>(frame, FRAME_LAST));
      if (ordinal < 0) {
        if (load<usize>(ANSWERED) != e) {
          if (textFrom != 0) addText(textFrom, textTo);
          return leave(EXIT_ELEMENT, e, depth);
        }
        ordinal = load<i32>(ANSWER);
      }
      if (depth + 1 >= load<i32>(FRAME_CAPACITY) || (ordinal >= load<i32>(frame, FRAME_COUNTED) && !makeRoom(frame, node))) {
        if (textFrom != 0) addText(textFrom, textTo);
        return leave(EXIT_FULL, e, depth);
      }
      store<i32>(frame, ordinal, FRAME_LAST);
      store<u16>(frame, 1, FRAME_HAS_CHILDREN);
      const place = <usize>ordinal << 2;
      const counter = load<usize>(frame, FRAME_COUNTS) + place;
      const seen = load<i32>(counter) + 1;
      store<i32>(counter, seen);
      const most = load<usize>(node, NODE_MOST) + place;
      if (seen > load<i32>(most)) store<i32>(most, seen);
      if (seen == 1) {
        const words = <usize>load<i32>(node, NODE_WORDS);
        const preceded = load<usize>(node, NODE_PRECEDED) + ((<usize>ordinal * words) << 2);
        const bits: usize = load<usize>(frame, FRAME_SEEN);
        for (let word: usize = 0; word < words << 2; word += 4)
          store<i32>(preceded + word, load<i32>(preceded + word) | load<i32>(bits + word));
        const own = bits + ((<usize>ordinal >> 5) << 2);
        store<i32>(own, load<i32>(own) | (1 << (ordinal & 31)));
      }
      node = load<usize>(load<usize>(node, NODE_CHILD_TARGETS) + place);
      increment(node + NODE_COUNT);
      if (load<i32>(node, NODE_LAST_DOCUMENT) != document) {
        store<i32>(node, document, NODE_LAST_DOCUMENT);
        store<i32>(node, load<i32>(node, NODE_DOCUMENTS) + 1, NODE_DOCUMENTS);
      }
      depth++;
      frame += 1 << FRAME_SHIFT;
      store<usize>(frame, node, FRAME_NODE);
      store<usize>(frame, load<usize>(COUNTS_TOP), FRAME_COUNTS);
      store<i32>(frame, 0, FRAME_COUNTED);
      store<usize>(frame, load<usize>(SEEN_TOP), FRAME_SEEN);
      store<i32>(frame, 0, FRAME_WORDS);
      store<i32>(frame, -1, FRAME_LAST);
      store<i32>(frame, 0, FRAME_ATTRIBUTES);
      store<i32>(frame, 0, FRAME_HAS_TEXT);
      textFrom = textTo = 0;
      store<usize>(TEXT_LENGTH, 0);
      continue;
    }

    if (kind == KIND_END) {
      if (load<u16>(frame, FRAME_HAS_CHILDREN) == 0) {
        const value: usize = load<usize>(node, NODE_VALUE);
        const kept = load<usize>(TEXT_LENGTH);
        const begin: usize = kept == 0 ? textFrom : load<usize>(TEXT);
        const length = kept == 0 ? textTo - textFrom : kept;
        const isOne = kept == 0;
        const count = isOne ? (length == 0 ? 0 : characters(textFrom, textTo)) : load<i32>(TEXT_CHARACTERS);
        const hash = isOne ? hashOf(0x811c9dc5, textFrom, textTo) : load<u32>(TEXT_HASH);
        if (value == 0 || !addValue(value, begin, length, count, hash, e)) {
          if (textFrom != 0) addText(textFrom, textTo);
          ask(value == 0 ? node : value, load<usize>(TEXT), load<usize>(TEXT) + min<usize>(length, load<usize>(TEXT_CAPACITY)));
          return leave(value == 0 ? EXIT_VALUE : EXIT_EXTREMES, e, depth);
        }
      }
      endElement(frame, node);
      depth--;
      frame -= 1 << FRAME_SHIFT;
      node = load<usize>(frame, FRAME_NODE);
      textFrom = textTo = 0;
      store<usize>(TEXT_LENGTH, 0);
      continue;
    }

    if (kind == KIND_ATTRIBUTE) {
      const name = load<i32>(e, 4);
      const attributes: usize = load<usize>(node, NODE_ATTRIBUTES);
      const known = load<i32>(node, NODE_ATTRIBUTE_COUNT);
      let place = load<i32>(frame, FRAME_ATTRIBUTES);
      if (place >= known || load<i32>(attributes + (<usize>place << ATTRIBUTE_SHIFT), ATTRIBUTE_NAME) != name) {
        place = known > 256 ? known : 0;
        while (place < known && load<i32>(attributes + (<usize>place << ATTRIBUTE_SHIFT), ATTRIBUTE_NAME) != name) place++;
        if (place >= known) {
          if (load<usize>(ANSWERED) != e) return leave(EXIT_ATTRIBUTE, e, depth);
          place = load<i32>(ANSWER);
          // no content
          if (place < 0) continue;
        }
      }
      const attribute = attributes + (<usize>place << ATTRIBUTE_SHIFT);
      const source = (flags & FLAG_DECODED) == 0 ? bytes : decoded;
      const valueFrom = source + load<u32>(e, 8);
      const valueTo = source + load<u32>(e, 12);
      const value: usize = load<usize>(attribute, ATTRIBUTE_VALUE);
      const length = valueTo - valueFrom;
      const count = length == 0 ? 0 : characters(valueFrom, valueTo);
      if (!addValue(value, valueFrom, length, count, hashOf(0x811c9dc5, valueFrom, valueTo), e)) {
        ask(value, valueFrom, valueTo);
        return leave(EXIT_EXTREMES, e, depth);
      }
      store<i32>(frame, place + 1, FRAME_ATTRIBUTES);
      increment(attribute + ATTRIBUTE_COUNT);
      if (load<i32>(attribute, ATTRIBUTE_LAST_DOCUMENT) != document) {
        store<i32>(attribute, document, ATTRIBUTE_LAST_DOCUMENT);
        store<i32>(attribute, load<i32>(attribute, ATTRIBUTE_DOCUMENTS) + 1, ATTRIBUTE_DOCUMENTS);
      }
      continue;
    }
    if (kind == KIND_NAMESPACE) return leave(EXIT_NAMESPACE, e, depth);
  }
  // the batch's buffers are the tokeniser's again
  if (textFrom != 0) addText(textFrom, textTo);
  return leave(EXIT_DONE, e, depth);
}
