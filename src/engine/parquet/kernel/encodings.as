// Part of src/engine/parquet/kernel/columns.as: encodings of the Parquet format, which its document "Encodings" describes.

const BLOCK_VALUES = 128;
const MINI_VALUES = 32;

// @ts-ignore: decorator
@inline
function writeVarint(value: u64, out: usize): usize {
  while (value >= 128) {
    store<u8>(out++, <u8>value | 128);
    value >>= 7;
  }
  store<u8>(out, <u8>value);
  return out + 1;
}

// @ts-ignore: decorator
@inline
function zigzag(value: i64): u64 {
  return <u64>((value << 1) ^ (value >> 63));
}

/** Packs int32 values into `width` bits each, the first one lowest. `count` must fill whole bytes. */
export function packBits(from: usize, count: i32, width: i32, out: usize): usize {
  let pending: u64 = 0;
  let bits: u64 = 0;
  for (let i = 0; i < count; i++, from += 4) {
    pending |= <u64>load<u32>(from) << bits;
    bits += width;
    if (bits < 32) continue;
    store<u32>(out, <u32>pending);
    out += 4;
    pending >>= 32;
    bits -= 32;
  }
  store<u32>(out, <u32>pending);
  return out + <usize>((bits + 7) >> 3);
}

/** True if eight int32 values are equal. */
// @ts-ignore: decorator
@inline
function areEqual(from: usize): bool {
  const first = load<u32>(from);
  if (first != load<u32>(from, 28)) return false;
  const v = i32x4.splat(first);
  return i32x4.all_true(v128.and(i32x4.eq(v128.load(from), v), i32x4.eq(v128.load(from, 16), v)));
}

/**
 * Encodes runs of equal int32 values, and the values between them in `width` bits each ("RLE/bit-packing hybrid"). May overwrite the
 * bytes after `from`.
 */
export function encodeRuns(from: usize, count: i32, width: i32, out: usize): usize {
  const end = from + ((<usize>count) << 2);
  // the last group is filled up
  v128.store(end, i32x4.splat(0));
  v128.store(end, i32x4.splat(0), 16);
  while (from < end) {
    const value = load<u32>(from);
    let run = from + 4;
    while (run < end && load<u32>(run) == value) run += 4;
    if (run - from >= 32) {
      out = writeVarint(<u64>((run - from) >> 2) << 1, out);
      store<u32>(out, value);
      out += <usize>((width + 7) >> 3);
      from = run;
      continue;
    }
    const header = out++;
    let groups = 0;
    do {
      out = packBits(from, 8, width, out);
      from += 32;
      groups++;
    } while (groups < 63 && from < end && (from + 32 > end || !areEqual(from)));
    store<u8>(header, <u8>((groups << 1) | 1));
  }
  return out;
}

/**
 * Writes the differences of up to 128 whole numbers of 4 bytes from the previous ones, which wrap around at 32 bits. Returns the least
 * difference.
 */
function differencesOf32(from: usize, count: i32, out: usize): i64 {
  let least = i32x4.splat(i32.MAX_VALUE);
  let i = 0;
  for (; i + 4 <= count; i += 4, from += 16, out += 16) {
    const delta = i32x4.sub(v128.load(from), v128.load(from - 4));
    v128.store(out, delta);
    least = i32x4.min_s(least, delta);
  }
  let smallest = min(
    min(i32x4.extract_lane(least, 0), i32x4.extract_lane(least, 1)),
    min(i32x4.extract_lane(least, 2), i32x4.extract_lane(least, 3)),
  );
  for (; i < count; i++, from += 4, out += 4) {
    const delta = load<i32>(from) - load<i32>(from - 4);
    store<i32>(out, delta);
    smallest = min(smallest, delta);
  }
  return smallest;
}

/** The same of 8 bytes. */
function differencesOf64(from: usize, count: i32, out: usize): i64 {
  let least = i64x2.splat(i64.MAX_VALUE);
  let i = 0;
  for (; i + 2 <= count; i += 2, from += 16, out += 16) {
    const delta = i64x2.sub(v128.load(from), v128.load(from - 8));
    v128.store(out, delta);
    least = v128.bitselect(delta, least, i64x2.lt_s(delta, least));
  }
  let smallest = min(i64x2.extract_lane(least, 0), i64x2.extract_lane(least, 1));
  if (i < count) {
    const delta = load<i64>(from) - load<i64>(from - 8);
    store<i64>(out, delta);
    smallest = min(smallest, delta);
  }
  return smallest;
}

/**
 * Packs 32 differences, less the least of their block, in as few bits each as all of them need. Returns the end. `widthAt`: address for
 * the number of bits.
 */
// @ts-ignore: decorator
@inline
function packOf32(mini: usize, count: i32, least: i64, widthAt: usize, out: usize): usize {
  const base = i32x4.splat(<i32>least);
  let all = i32x4.splat(0);
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    const at = mini + ((<usize>i) << 2);
    const v = i32x4.sub(v128.load(at), base);
    v128.store(at, v);
    all = v128.or(all, v);
  }
  let bits = <u32>(i32x4.extract_lane(all, 0) | i32x4.extract_lane(all, 1) | i32x4.extract_lane(all, 2) | i32x4.extract_lane(all, 3));
  for (; i < count; i++) {
    const at = mini + ((<usize>i) << 2);
    const v = load<u32>(at) - <u32>least;
    store<u32>(at, v);
    bits |= v;
  }
  for (; i < MINI_VALUES; i++) store<u32>(mini + ((<usize>i) << 2), 0);
  const width = 32 - <i32>clz(bits);
  store<u8>(widthAt, <u8>width);
  return width == 0 ? out : packBits(mini, MINI_VALUES, width, out);
}

// @ts-ignore: decorator
@inline
function packOf64(mini: usize, count: i32, least: i64, widthAt: usize, out: usize): usize {
  let all: u64 = 0;
  for (let i = 0; i < count; i++) all |= load<u64>(mini + ((<usize>i) << 3)) - <u64>least;
  const width = 64 - <i32>clz(all);
  store<u8>(widthAt, <u8>width);
  if (width == 0) return out;
  if (width > 32) return packMini(mini, count, <u64>least, width, out);
  // the reads are always ahead of the writes
  for (let i = 0; i < MINI_VALUES; i++) {
    const value: u32 = i < count ? <u32>(load<u64>(mini + ((<usize>i) << 3)) - <u64>least) : 0;
    store<u32>(mini + ((<usize>i) << 2), value);
  }
  return packBits(mini, MINI_VALUES, width, out);
}

/** Differences of whole numbers of 4 or 8 bytes from one to the next ("DELTA_BINARY_PACKED"). `scratch`: room for 128 int64. */
// @ts-ignore: decorator
@inline
function encodeDeltas(from: usize, count: i32, width: i32, scratch: usize, out: usize): usize {
  const shift: usize = width == 4 ? 2 : 3;
  out = writeVarint(BLOCK_VALUES, out);
  out = writeVarint(BLOCK_VALUES / MINI_VALUES, out);
  out = writeVarint(<u64>count, out);
  out = writeVarint(zigzag(count == 0 ? 0 : width == 4 ? <i64>load<i32>(from) : load<i64>(from)), out);
  for (let at = 1; at < count; at += BLOCK_VALUES) {
    const inBlock = min(BLOCK_VALUES, count - at);
    const values = from + (<usize>at << shift);
    const least = width == 4 ? differencesOf32(values, inBlock, scratch) : differencesOf64(values, inBlock, scratch);
    out = writeVarint(zigzag(least), out);
    const widths = out;
    store<u32>(widths, 0);
    out += 4;
    for (let first = 0; first < inBlock; first += MINI_VALUES) {
      const inMini = min(MINI_VALUES, inBlock - first);
      const mini = scratch + (<usize>first << shift);
      const widthAt = widths + first / MINI_VALUES;
      out = width == 4 ? packOf32(mini, inMini, least, widthAt, out) : packOf64(mini, inMini, least, widthAt, out);
    }
  }
  return out;
}

export function encodeDeltas32(from: usize, count: i32, scratch: usize, out: usize): usize {
  return encodeDeltas(from, count, 4, scratch, out);
}

export function encodeDeltas64(from: usize, count: i32, scratch: usize, out: usize): usize {
  return encodeDeltas(from, count, 8, scratch, out);
}

/** 32 differences, those that are missing as zeros. */
function packMini(mini: usize, count: i32, least: u64, width: i32, out: usize): usize {
  let pending: u64 = 0;
  let bits: u64 = 0;
  for (let i = 0; i < MINI_VALUES; i++) {
    let value: u64 = i < count ? load<u64>(mini + ((<usize>i) << 3)) - least : 0;
    let left: u64 = width;
    while (left > 0) {
      const taken = min(left, 32);
      pending |= (value & (((<u64>1) << taken) - 1)) << bits;
      bits += taken;
      if (bits >= 32) {
        store<u32>(out, <u32>pending);
        out += 4;
        pending >>= 32;
        bits -= 32;
      }
      value >>= taken;
      left -= taken;
    }
  }
  return out;
}
