// Part of src/engine/parquet/kernel/columns.as: columns of text.

let leastPrefix: u64 = 0;
let greatestPrefix: u64 = 0;

/** Returns the first eight bytes of a text, padded with zeros. The first byte is the highest, so that they compare like the text. */
// @ts-ignore: decorator
@inline
function prefixOf(from: usize, length: usize): u64 {
  const bytes = load<u64>(from);
  return length >= 8 ? bytes : length == 0 ? 0 : bytes & (<u64>-1 >> <u64>((8 - length) << 3));
}

/** Less than 0, 0 or more than 0, as texts compare by their bytes. */
function compareTexts(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const order = memory.compare(a, b, min(aLength, bLength));
  return order != 0 ? order : <i32>aLength - <i32>bLength;
}

/** True if two texts with equal first eight bytes are equal because they have the same length and no further bytes. */
// @ts-ignore: decorator
@inline
function areShort(length: usize, other: usize): bool {
  return length <= 8 && length == other;
}

function noteText(from: usize, length: usize, prefix: u64, isFirst: bool): void {
  const leastLength = load<usize>(LEAST_LENGTH);
  if (
    isFirst ||
    prefix < leastPrefix ||
    (prefix == leastPrefix && !areShort(length, leastLength) && compareTexts(from, length, load<usize>(LEAST_AT), leastLength) < 0)
  ) {
    leastPrefix = prefix;
    store<usize>(LEAST_AT, from);
    store<usize>(LEAST_LENGTH, length);
  }
  const greatestLength = load<usize>(GREATEST_LENGTH);
  if (
    isFirst ||
    prefix > greatestPrefix ||
    (prefix == greatestPrefix &&
      !areShort(length, greatestLength) &&
      compareTexts(from, length, load<usize>(GREATEST_AT), greatestLength) > 0)
  ) {
    greatestPrefix = prefix;
    store<usize>(GREATEST_AT, from);
    store<usize>(GREATEST_LENGTH, length);
  }
}

/**
 * Copies a text up to its first backslash. Returns the number of bytes copied; if there is no backslash, it may be more, up to the end of
 * a vector.
 */
// @ts-ignore: decorator
@inline
function copyPlain(to: usize, from: usize, length: usize): usize {
  const backslash = i8x16.splat(BACKSLASH);
  for (let at: usize = 0; at < length; at += 16) {
    const v = v128.load(from + at);
    v128.store(to + at, v);
    const found = i8x16.bitmask(i8x16.eq(v, backslash));
    if (found != 0) return at + <usize>ctz(found);
  }
  return length;
}

/** Writes whole texts, each after its length; `isApart`: with separate lengths, from LEFT on. */
// @ts-ignore: decorator
@inline
function readTexts(isApart: bool): void {
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let lengths = load<usize>(LEFT);
  let count = 0;
  for (let row = 0; row < rows; row++, at += stride) {
    const from = <usize>load<u32>(at - 4) + 1;
    let length = <usize>load<u32>(at) - from;
    const text = isApart ? out : out + 4;
    let prefix = prefixOf(from, length);
    const plain = copyPlain(text, from, length);
    if (plain < length) {
      if (isNull(from, length)) {
        noteNull(row, count);
        continue;
      }
      length = unescape(from + plain, from + length, text + plain) - text;
      prefix = prefixOf(text, length);
    }
    noteValue(row, count);
    const order = bswap<u64>(prefix);
    if (count == 0 || order <= leastPrefix || order >= greatestPrefix) noteText(text, length, order, count == 0);
    if (isApart) {
      store<u32>(lengths, <u32>length);
      lengths += 4;
    } else {
      store<u32>(out, <u32>length);
    }
    out = text + length;
    count++;
  }
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

export function readWholeTexts(): void {
  readTexts(false);
}

export function readTextsApart(): void {
  readTexts(true);
}

/** Texts as numbers of a dictionary. One that it has no room for is a misfit. */
export function readNumberedTexts(): void {
  const dictionary = load<usize>(DICTIONARY);
  const rows = load<i32>(ROWS);
  const stride = load<usize>(STRIDE);
  let at = load<usize>(FIRST);
  let out = load<usize>(VALUES);
  let plain = load<usize>(PLAIN_TEXT);
  const page = load<u32>(dictionary, DICTIONARY_PAGE) + 1;
  store<u32>(dictionary, page, DICTIONARY_PAGE);
  let count = 0;
  let number = 0;
  let lastPrefix: u64 = 0;
  let lastLength: usize = -1;
  for (let row = 0; row < rows; row++, at += stride) {
    let from = <usize>load<u32>(at - 4) + 1;
    let length = <usize>load<u32>(at) - from;
    if (hasEscape(from, length)) {
      if (isNull(from, length)) {
        noteNull(row, count);
        continue;
      }
      const end = unescape(from, from + length, plain);
      from = plain;
      length = end - plain;
      plain = end;
    }
    noteValue(row, count);
    const prefix = prefixOf(from, length);
    if (length > 8 || prefix != lastPrefix || length != lastLength) {
      number = findText(dictionary, from, length, prefix);
      if (number < 0) return misfit(row);
      lastPrefix = prefix;
      lastLength = length;
    }
    const order = bswap<u64>(prefix);
    if (count == 0 || ((order <= leastPrefix || order >= greatestPrefix) && isFirstOfPage(dictionary, number, page)))
      noteText(from, length, order, count == 0);
    store<i32>(out, number);
    out += 4;
    count++;
  }
  store<i32>(COUNT, count);
  store<usize>(VALUES_END, out);
}

/**
 * Writes the texts of a dictionary whole, each after its length, or with separate lengths at `lengths`, if that is not 0. Returns the
 * end.
 */
export function expandTexts(numbers: usize, count: i32, dictionary: usize, lengths: usize, out: usize): usize {
  const values = load<usize>(dictionary, DICTIONARY_VALUES);
  const texts = load<usize>(dictionary, DICTIONARY_TEXTS);
  for (let i = 0; i < count; i++, numbers += 4) {
    const entry = values + load<u32>(texts + <usize>load<u32>(numbers) * TEXT_BYTES, TEXT_START);
    const length = <usize>load<u32>(entry);
    if (lengths != 0) {
      store<u32>(lengths + ((<usize>i) << 2), <u32>length);
    } else {
      store<u32>(out, <u32>length);
      out += 4;
    }
    copyText(out, entry + 4, length);
    out += length;
  }
  return out;
}
