// Part of src/engine/parquet/kernel/columns.as: dictionaries of repeated values, each stored once.

const HASH: u64 = 0x9e3779b97f4a7c15;
const FIRST_SLOTS: usize = 256;
const FIRST_BYTES: usize = 4096;
const NEAR_NUMBERS: usize = 1024;

/** Makes a dictionary for values of `width` bytes; 0: for text. `expected`: the number of entries to reserve memory for. */
export function makeDictionary(width: usize, limit: i32, bytesLimit: i32, expected: i32): usize {
  const dictionary = allocate(DICTIONARY_BYTES);
  memory.fill(dictionary, 0, DICTIONARY_BYTES);
  store<i32>(dictionary, limit, DICTIONARY_LIMIT);
  store<i32>(dictionary, bytesLimit, DICTIONARY_BYTES_LIMIT);
  store<usize>(dictionary, allocate(FIRST_BYTES), DICTIONARY_VALUES);
  store<usize>(dictionary, FIRST_BYTES, DICTIONARY_CAPACITY);
  let slots = FIRST_SLOTS;
  while (slots >> 1 < <usize>expected) slots <<= 1;
  makeTable(dictionary, slots, width);
  if (width == 4 || width == 8) {
    const near = allocate(NEAR_NUMBERS * 2);
    memory.fill(near, 0, NEAR_NUMBERS * 2);
    store<usize>(dictionary, near, DICTIONARY_NEAR);
  }
  return dictionary;
}

function makeTable(dictionary: usize, slots: usize, width: usize): void {
  const table = allocate(slots << 2);
  memory.fill(table, 0, slots << 2);
  store<usize>(dictionary, table, DICTIONARY_TABLE);
  store<usize>(dictionary, slots - 1, DICTIONARY_MASK);
  if (width != 0) return;
  const count = <usize>load<i32>(dictionary, DICTIONARY_COUNT);
  const texts = allocate((slots >> 1) * TEXT_BYTES);
  memory.copy(texts, load<usize>(dictionary, DICTIONARY_TEXTS), count * TEXT_BYTES);
  store<usize>(dictionary, texts, DICTIONARY_TEXTS);
  const pages = allocate(slots << 1);
  memory.copy(pages, load<usize>(dictionary, DICTIONARY_PAGES), count << 2);
  store<usize>(dictionary, pages, DICTIONARY_PAGES);
}

/** Room for one more entry; false: there is none. */
// @ts-ignore: decorator
@inline
function takesEntry(dictionary: usize, bytes: usize, width: usize): bool {
  const count = load<i32>(dictionary, DICTIONARY_COUNT);
  const needed = load<usize>(dictionary, DICTIONARY_USED) + bytes;
  if (count >= load<i32>(dictionary, DICTIONARY_LIMIT) || needed > load<usize>(dictionary, DICTIONARY_BYTES_LIMIT))
    return false;
  if (needed > load<usize>(dictionary, DICTIONARY_CAPACITY)) growValues(dictionary, needed);
  if (<usize>count << 1 > load<usize>(dictionary, DICTIONARY_MASK)) growTable(dictionary, width);
  return true;
}

function growValues(dictionary: usize, needed: usize): void {
  const capacity = max(needed, load<usize>(dictionary, DICTIONARY_CAPACITY) << 2);
  const values = allocate(capacity);
  memory.copy(values, load<usize>(dictionary, DICTIONARY_VALUES), load<usize>(dictionary, DICTIONARY_USED));
  store<usize>(dictionary, values, DICTIONARY_VALUES);
  store<usize>(dictionary, capacity, DICTIONARY_CAPACITY);
}

function growTable(dictionary: usize, width: usize): void {
  makeTable(dictionary, (load<usize>(dictionary, DICTIONARY_MASK) + 1) << 1, width);
  const table = load<usize>(dictionary, DICTIONARY_TABLE);
  const mask = load<usize>(dictionary, DICTIONARY_MASK);
  const count = load<i32>(dictionary, DICTIONARY_COUNT);
  const values = load<usize>(dictionary, DICTIONARY_VALUES);
  let text = load<usize>(dictionary, DICTIONARY_TEXTS);
  for (let i = 0; i < count; i++, text += TEXT_BYTES) {
    if (width == 0) {
      const start = values + load<u32>(text, TEXT_START) + 4;
      const hash = hashOfText(start, load<u32>(text, TEXT_LENGTH), load<u64>(text, TEXT_PREFIX));
      placeText(table, mask, hash, i);
      continue;
    }
    let slot = hashOf(values + <usize>i * width, width) & mask;
    while (load<u32>(table + (slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(table + (slot << 2), i + 1);
  }
}

/** 32 bits to which each bit of the word leads, and to the lowest of them, too. */
// @ts-ignore: decorator
@inline
function mixed(word: u64): u64 {
  return ((word ^ (word >> 32)) * HASH) >> 32;
}

// @ts-ignore: decorator
@inline
function hashOf(value: usize, width: usize): usize {
  const low: u64 = width == 4 ? <u64>load<u32>(value) : load<u64>(value);
  return <usize>mixed(width == 16 ? low ^ (load<u64>(value, 8) * 0xc2b2ae3d27d4eb4f) : low);
}

// @ts-ignore: decorator
@inline
function isSame(a: usize, b: usize, width: usize): bool {
  if (width == 4) return load<u32>(a) == load<u32>(b);
  return load<u64>(a) == load<u64>(b) && (width == 8 || load<u64>(a, 8) == load<u64>(b, 8));
}

/** Returns the number of a value in its dictionary, or -1 if the dictionary has no room for it. */
// @ts-ignore: decorator
@inline
function findValue(dictionary: usize, value: usize, width: usize): i32 {
  const table = load<usize>(dictionary, DICTIONARY_TABLE);
  const mask = load<usize>(dictionary, DICTIONARY_MASK);
  const entries = load<usize>(dictionary, DICTIONARY_VALUES);
  let slot = hashOf(value, width) & mask;
  let found = load<u32>(table + (slot << 2));
  while (found != 0 && !isSame(entries + <usize>(found - 1) * width, value, width)) {
    slot = (slot + 1) & mask;
    found = load<u32>(table + (slot << 2));
  }
  return found == 0 ? addValue(dictionary, value, width) : <i32>(found - 1);
}

function addValue(dictionary: usize, value: usize, width: usize): i32 {
  if (!takesEntry(dictionary, width, width)) return -1;
  const number = load<i32>(dictionary, DICTIONARY_COUNT);
  memory.copy(load<usize>(dictionary, DICTIONARY_VALUES) + <usize>number * width, value, width);
  const table = load<usize>(dictionary, DICTIONARY_TABLE);
  const mask = load<usize>(dictionary, DICTIONARY_MASK);
  let slot = hashOf(value, width) & mask;
  while (load<u32>(table + (slot << 2)) != 0) slot = (slot + 1) & mask;
  store<u32>(table + (slot << 2), number + 1);
  store<i32>(dictionary, number + 1, DICTIONARY_COUNT);
  store<usize>(dictionary, <usize>(number + 1) * width, DICTIONARY_USED);
  return number;
}

/** Whole numbers near the first one have a table of their own: their numbers in the dictionary, from 1. */
// @ts-ignore: decorator
@inline
function lookUpWidth(values: usize, count: i32, out: usize, dictionary: usize, width: usize): bool {
  const near = load<usize>(dictionary, DICTIONARY_NEAR);
  let lowest: u64 = 0;
  if (width != 16 && count > 0) {
    const first = load<i32>(dictionary, DICTIONARY_COUNT) == 0 ? values : load<usize>(dictionary, DICTIONARY_VALUES);
    lowest = (width == 4 ? <u64>load<u32>(first) : load<u64>(first)) - NEAR_NUMBERS / 2;
  }
  for (let i = 0; i < count; i++, values += width, out += 4) {
    if (width != 16) {
      const distance = (width == 4 ? <u64>load<u32>(values) : load<u64>(values)) - lowest;
      if (distance < NEAR_NUMBERS) {
        const at = near + (<usize>distance << 1);
        let number = <i32>load<u16>(at) - 1;
        if (number < 0) {
          number = findValue(dictionary, values, width);
          if (number < 0) return false;
          // larger numbers do not fit and are looked up each time
          if (number < 0xffff) store<u16>(at, <u16>(number + 1));
        }
        store<u32>(out, number);
        continue;
      }
    }
    const number = findValue(dictionary, values, width);
    if (number < 0) return false;
    store<u32>(out, number);
  }
  return true;
}

// Looks up the numbers of values of 32 bits in their dictionary, int32 each. Returns false if it has no room for one.

export function lookUp32(values: usize, count: i32, out: usize, dictionary: usize): bool {
  return lookUpWidth(values, count, out, dictionary, 4);
}

export function lookUp64(values: usize, count: i32, out: usize, dictionary: usize): bool {
  return lookUpWidth(values, count, out, dictionary, 8);
}

export function lookUp128(values: usize, count: i32, out: usize, dictionary: usize): bool {
  return lookUpWidth(values, count, out, dictionary, 16);
}

/** True if the `length` bytes at both places are equal. */
// @ts-ignore: decorator
@inline
function isSameText(a: usize, b: usize, length: usize): bool {
  while (length > 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) != 0xffff) return false;
    a += 16;
    b += 16;
    length -= 16;
  }
  const mask = (1 << <i32>length) - 1;
  return (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) & mask) == mask;
}

// @ts-ignore: decorator
@inline
function hashOfText(from: usize, length: usize, prefix: u64): u64 {
  let hash: u64 = <u64>length * 0xc2b2ae3d27d4eb4f;
  let rest = prefix;
  if (length > 8) {
    // the last eight bytes, some of which may have been there already
    const last = from + length - 8;
    for (; from < last; from += 8) {
      hash = (hash ^ load<u64>(from)) * HASH;
      hash ^= hash >> 32;
    }
    rest = load<u64>(last);
  }
  return mixed(hash ^ rest);
}

/** The bits of a hash that are above the text's number (from 1) in its slot. */
const TAG_MASK: u32 = 0xfffe0000;

// @ts-ignore: decorator
@inline
function tagOf(hash: u64): u32 {
  return <u32>hash & TAG_MASK;
}

function placeText(table: usize, mask: usize, hash: u64, number: i32): void {
  let slot = <usize>hash & mask;
  while (load<u32>(table + (slot << 2)) != 0) slot = (slot + 1) & mask;
  store<u32>(table + (slot << 2), tagOf(hash) | <u32>(number + 1));
}

/**
 * Returns the number of a text in its dictionary, or -1 if the dictionary has no room for it. `prefix`: its first eight bytes, padded
 * with zeros.
 */
// @ts-ignore: decorator
@inline
function findText(dictionary: usize, from: usize, length: usize, prefix: u64): i32 {
  const hash = hashOfText(from, length, prefix);
  const tag = tagOf(hash);
  const mask = load<usize>(dictionary, DICTIONARY_MASK);
  const table = load<usize>(dictionary, DICTIONARY_TABLE);
  const texts = load<usize>(dictionary, DICTIONARY_TEXTS);
  let slot = <usize>hash & mask;
  for (;;) {
    const entry = load<u32>(table + (slot << 2));
    if (entry == 0) break;
    if ((entry & TAG_MASK) == tag) {
      const number = (entry & ~TAG_MASK) - 1;
      const text = texts + <usize>number * TEXT_BYTES;
      if (load<u64>(text, TEXT_PREFIX) == prefix && load<u32>(text, TEXT_LENGTH) == <u32>length) {
        if (length <= 8) return <i32>number;
        const known = load<usize>(dictionary, DICTIONARY_VALUES) + load<u32>(text, TEXT_START);
        if (isSameText(known + 4, from, length)) return <i32>number;
      }
    }
    slot = (slot + 1) & mask;
  }
  return addText(dictionary, from, length, prefix, hash);
}

function addText(dictionary: usize, from: usize, length: usize, prefix: u64, hash: u64): i32 {
  if (!takesEntry(dictionary, length + 4, 0)) return -1;
  const number = load<i32>(dictionary, DICTIONARY_COUNT);
  const used = load<usize>(dictionary, DICTIONARY_USED);
  const text = load<usize>(dictionary, DICTIONARY_TEXTS) + <usize>number * TEXT_BYTES;
  store<u64>(text, prefix, TEXT_PREFIX);
  store<u32>(text, <u32>length, TEXT_LENGTH);
  store<u32>(text, <u32>used, TEXT_START);
  store<u32>(load<usize>(dictionary, DICTIONARY_PAGES) + ((<usize>number) << 2), 0);
  const entry = load<usize>(dictionary, DICTIONARY_VALUES) + used;
  store<u32>(entry, <u32>length);
  copyText(entry + 4, from, length);
  placeText(load<usize>(dictionary, DICTIONARY_TABLE), load<usize>(dictionary, DICTIONARY_MASK), hash, number);
  store<i32>(dictionary, number + 1, DICTIONARY_COUNT);
  store<usize>(dictionary, used + length + 4, DICTIONARY_USED);
  return number;
}

/** True if a text is the first occurrence on the page that is read. */
// @ts-ignore: decorator
@inline
function isFirstOfPage(dictionary: usize, number: i32, page: u32): bool {
  const at = load<usize>(dictionary, DICTIONARY_PAGES) + ((<usize>number) << 2);
  if (load<u32>(at) == page) return false;
  store<u32>(at, page);
  return true;
}
