// Part of src/engine/unshred/kernel/elements.as: compares and writes values of cells. The output is below LIMIT; only vectors write beyond
// it.

let out: usize = 0;
let limit: usize = 0;

// @ts-ignore: decorator
@inline
function field(record: usize, offset: usize): i32 {
  return load<i32>(record + offset);
}

// @ts-ignore: decorator
@inline
function address(record: usize, offset: usize): usize {
  return <usize>load<u32>(record + offset);
}

// @ts-ignore: decorator
@inline
function isSame(from: usize, other: usize, length: usize): bool {
  // keys differ at their ends
  for (let at = length; at > 0; ) {
    at--;
    if (load<u8>(from + at) != load<u8>(other + at)) return false;
  }
  return true;
}

/** True if the cell has exactly these bytes. */
// @ts-ignore: decorator
@inline
function cellIs(base: usize, row: usize, column: i32, from: usize, to: usize): bool {
  const cell = row + <usize>column;
  const start = load<i32>(cell);
  if (start < 0) return false;
  const length = <usize>(load<i32>(cell, 4) - start);
  return length == to - from && isSame(base + <usize>start, from, length);
}

// @ts-ignore: decorator
@inline
function isEmpty(row: usize, column: i32): bool {
  return load<i32>(row + <usize>column) < 0;
}

/** A whole number; -1: not one, or its digits are not exact. */
function wholeNumber(from: usize, to: usize): f64 {
  if (to - from > 15) return -1;
  let value: i64 = 0;
  for (let at = from; at < to; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) return -1;
    value = value * 10 + digit;
  }
  return <f64>value;
}

// @ts-ignore: decorator
@inline
function put(byte: u8): void {
  store<u8>(out, byte);
  out++;
}

/** False: there is no room. */
function copy(from: usize, length: usize): bool {
  if (out + length > limit) return false;
  for (let at: usize = 0; at < length; at += 16) v128.store(out + at, v128.load(from + at));
  out += length;
  return true;
}

/** A reference of up to eight characters, as a number. */
// @ts-ignore: decorator
@inline
function reference(characters: u64, length: usize): void {
  store<u64>(out, characters);
  out += length;
}

function refer(byte: u8): void {
  if (byte == 0x26) reference(0x3b706d6126, 5);
  else if (byte == 0x3c) reference(0x3b746c26, 4);
  else if (byte == 0x3e) reference(0x3b746726, 4);
  else if (byte == 0x22) reference(0x3b746f757126, 6);
  else if (byte == 0x09) reference(0x3b392326, 4);
  else if (byte == 0x0a) reference(0x3b30312326, 5);
  else reference(0x3b33312326, 5);
}

/**
 * Writes `bytes`, those at `from`, up to the first one marked in the bit mask `special`, and that one as a reference. Returns the next
 * position.
 */
// @ts-ignore: decorator
@inline
function stretch(from: usize, to: usize, bytes: v128, special: i32): usize {
  const within = special & (to - from < 16 ? (1 << <i32>(to - from)) - 1 : 0xffff);
  const length = within == 0 ? min<usize>(16, to - from) : <usize>ctz(within);
  v128.store(out, bytes);
  out += length;
  if (within == 0) return from + length;
  refer(load<u8>(from + length));
  return from + length + 1;
}

/** False: there is no room. */
function text(from: usize, to: usize): bool {
  while (from < to) {
    if (out >= limit) return false;
    const bytes = v128.load(from);
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(0x26)), i8x16.eq(bytes, i8x16.splat(0x3c))),
        v128.or(i8x16.eq(bytes, i8x16.splat(0x3e)), i8x16.eq(bytes, i8x16.splat(0x0d))),
      ),
    );
    from = stretch(from, to, bytes, special);
  }
  return true;
}

/** Does the same as `text`, between quotes. */
function attributeValue(from: usize, to: usize): bool {
  while (from < to) {
    if (out >= limit) return false;
    const bytes = v128.load(from);
    const spaces = v128.or(
      i8x16.eq(bytes, i8x16.splat(0x09)),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d))),
    );
    const signs = v128.or(
      i8x16.eq(bytes, i8x16.splat(0x22)),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x26)), i8x16.eq(bytes, i8x16.splat(0x3c))),
    );
    const special = i8x16.bitmask(v128.or(spaces, signs));
    from = stretch(from, to, bytes, special);
  }
  return true;
}
