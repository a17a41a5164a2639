// Part of src/engine/parquet/kernel/columns.as: values that come again, each kept once.

const HASH: u64 = 0x9e3779b97f4a7c15;
const FIRST_SLOTS: usize = 256;
const FIRST_BYTES: usize = 4096;

/** Makes a dictionary for values of so many bytes; 0: for text. */
export function makeDictionary(width: usize, limit: i32, bytesLimit: i32): usize {
  const dictionary = allocate(DICTIONARY_BYTES);
  memory.fill(dictionary, 0, DICTIONARY_BYTES);
  store<i32>(dictionary, limit, DICTIONARY_LIMIT);
  store<i32>(dictionary, bytesLimit, DICTIONARY_BYTES_LIMIT);
  store<usize>(dictionary, allocate(FIRST_BYTES), DICTIONARY_VALUES);
  store<usize>(dictionary, FIRST_BYTES, DICTIONARY_CAPACITY);
  makeTable(dictionary, FIRST_SLOTS, width);
  return dictionary;
}

function makeTable(dictionary: usize, slots: usize, width: usize): void {
  const bytes = slots << (width == 0 ? 3 : 2);
  const table = allocate(bytes);
  memory.fill(table, 0, bytes);
  store<usize>(dictionary, table, DICTIONARY_TABLE);
  store<usize>(dictionary, slots - 1, DICTIONARY_MASK);
  if (width != 0) return;
  const starts = allocate(slots << 1);
  memory.copy(starts, load<usize>(dictionary, DICTIONARY_STARTS), <usize>load<i32>(dictionary, DICTIONARY_COUNT) << 2);
  store<usize>(dictionary, starts, DICTIONARY_STARTS);
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
  const old = load<usize>(dictionary, DICTIONARY_TABLE);
  const oldSlots = load<usize>(dictionary, DICTIONARY_MASK) + 1;
  makeTable(dictionary, oldSlots << 2, width);
  const table = load<usize>(dictionary, DICTIONARY_TABLE);
  const mask = load<usize>(dictionary, DICTIONARY_MASK);
  const count = load<i32>(dictionary, DICTIONARY_COUNT);
  if (width == 0) {
    for (let i: usize = 0; i < oldSlots; i++) {
      const entry = load<u64>(old + (i << 3));
      if (entry == 0) continue;
      let slot = <usize>(entry >> 32) & mask;
      while (load<u64>(table + (slot << 3)) != 0) slot = (slot + 1) & mask;
      store<u64>(table + (slot << 3), entry);
    }
    return;
  }
  const values = load<usize>(dictionary, DICTIONARY_VALUES);
  for (let i = 0; i < count; i++) {
    let slot = hashOf(values + <usize>i * width, width) & mask;
    while (load<u32>(table + (slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(table + (slot << 2), i + 1);
  }
}

// @ts-ignore: decorator
@inline
function hashOf(value: usize, width: usize): usize {
  const low: u64 = width == 4 ? <u64>load<u32>(value) : load<u64>(value);
  const mixed = width == 16 ? (low ^ (load<u64>(value, 8) * 0xc2b2ae3d27d4eb4f)) * HASH : low * HASH;
  return <usize>((mixed ^ (mixed >> 29)) >> 32);
}

// @ts-ignore: decorator
@inline
function isSame(a: usize, b: usize, width: usize): bool {
  if (width == 4) return load<u32>(a) == load<u32>(b);
  return load<u64>(a) == load<u64>(b) && (width == 8 || load<u64>(a, 8) == load<u64>(b, 8));
}

// @ts-ignore: decorator
@inline
function lookUpWidth(values: usize, count: i32, out: usize, dictionary: usize, width: usize): bool {
  let table = load<usize>(dictionary, DICTIONARY_TABLE);
  let mask = load<usize>(dictionary, DICTIONARY_MASK);
  let entries = load<usize>(dictionary, DICTIONARY_VALUES);
  for (let i = 0; i < count; i++, values += width, out += 4) {
    let slot = hashOf(values, width) & mask;
    for (;;) {
      const found = load<u32>(table + (slot << 2));
      if (found != 0) {
        if (isSame(entries + <usize>(found - 1) * width, values, width)) {
          store<u32>(out, found - 1);
          break;
        }
        slot = (slot + 1) & mask;
        continue;
      }
      if (!takesEntry(dictionary, width, width)) return false;
      if (load<usize>(dictionary, DICTIONARY_TABLE) != table) {
        table = load<usize>(dictionary, DICTIONARY_TABLE);
        mask = load<usize>(dictionary, DICTIONARY_MASK);
        slot = hashOf(values, width) & mask;
        while (load<u32>(table + (slot << 2)) != 0) slot = (slot + 1) & mask;
      }
      entries = load<usize>(dictionary, DICTIONARY_VALUES);
      const number = load<i32>(dictionary, DICTIONARY_COUNT);
      memory.copy(entries + <usize>number * width, values, width);
      store<u32>(table + (slot << 2), number + 1);
      store<i32>(dictionary, number + 1, DICTIONARY_COUNT);
      store<usize>(dictionary, <usize>(number + 1) * width, DICTIONARY_USED);
      store<u32>(out, number);
      break;
    }
  }
  return true;
}

/** Numbers of values of 4, 8 or 16 bytes in their dictionary, int32 each; false where it has no room for one. */
export function lookUp(values: usize, count: i32, width: i32, out: usize, dictionary: usize): bool {
  if (width == 4) return lookUpWidth(values, count, out, dictionary, 4);
  if (width == 8) return lookUpWidth(values, count, out, dictionary, 8);
  return lookUpWidth(values, count, out, dictionary, 16);
}

/** Whether so many bytes are the same. */
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
function hashOfText(from: usize, length: usize): u64 {
  let hash: u64 = <u64>length * 0xc2b2ae3d27d4eb4f;
  while (length > 8) {
    hash = (hash ^ load<u64>(from)) * HASH;
    hash ^= hash >> 32;
    from += 8;
    length -= 8;
  }
  const rest = length == 0 ? 0 : load<u64>(from) & (<u64>-1 >> <u64>((8 - length) << 3));
  hash = (hash ^ rest) * HASH;
  return (hash ^ (hash >> 29)) >> 32;
}

/** Number of a text in its dictionary; -1 where that has no room for it. */
// @ts-ignore: decorator
@inline
function findText(dictionary: usize, from: usize, length: usize): i32 {
  const hash = hashOfText(from, length);
  let mask = load<usize>(dictionary, DICTIONARY_MASK);
  let table = load<usize>(dictionary, DICTIONARY_TABLE);
  let slot = <usize>hash & mask;
  for (;;) {
    const entry = load<u64>(table + (slot << 3));
    if (entry == 0) break;
    if (entry >> 32 == hash) {
      const number = <u32>entry - 1;
      const known =
        load<usize>(dictionary, DICTIONARY_VALUES) +
        load<usize>(load<usize>(dictionary, DICTIONARY_STARTS) + ((<usize>number) << 2));
      if (load<u32>(known) == <u32>length && isSameText(known + 4, from, length)) return <i32>number;
    }
    slot = (slot + 1) & mask;
  }
  if (!takesEntry(dictionary, length + 4, 0)) return -1;
  if (load<usize>(dictionary, DICTIONARY_TABLE) != table) {
    table = load<usize>(dictionary, DICTIONARY_TABLE);
    mask = load<usize>(dictionary, DICTIONARY_MASK);
    slot = <usize>hash & mask;
    while (load<u64>(table + (slot << 3)) != 0) slot = (slot + 1) & mask;
  }
  const number = load<i32>(dictionary, DICTIONARY_COUNT);
  const used = load<usize>(dictionary, DICTIONARY_USED);
  store<usize>(load<usize>(dictionary, DICTIONARY_STARTS) + ((<usize>number) << 2), used);
  const entry = load<usize>(dictionary, DICTIONARY_VALUES) + used;
  store<u32>(entry, <u32>length);
  copyText(entry + 4, from, length);
  store<u64>(table + (slot << 3), (hash << 32) | <u64>(number + 1));
  store<i32>(dictionary, number + 1, DICTIONARY_COUNT);
  store<usize>(dictionary, used + length + 4, DICTIONARY_USED);
  return number;
}
