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

/** Int32 in so many bits each, the first lowest; so many of them that they fill whole bytes. */
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

/** Whether eight int32 are the same. */
// @ts-ignore: decorator
@inline
function areEqual(from: usize): bool {
  const first = load<u32>(from);
  if (first != load<u32>(from, 28)) return false;
  const v = i32x4.splat(first);
  return i32x4.all_true(v128.and(i32x4.eq(v128.load(from), v), i32x4.eq(v128.load(from, 16), v)));
}

/** Runs of the same int32, and what lies between them in so many bits each ("RLE/bit-packing hybrid"); what follows `from` may be overwritten. */
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

// @ts-ignore: decorator
@inline
function valueAt(from: usize, index: i32, width: i32): i64 {
  return width == 4 ? <i64>load<i32>(from + ((<usize>index) << 2)) : load<i64>(from + ((<usize>index) << 3));
}

/** Differences of whole numbers of 4 or 8 bytes from one to the next ("DELTA_BINARY_PACKED"). `scratch`: room for 128 int64. */
export function encodeDeltas(from: usize, count: i32, width: i32, scratch: usize, out: usize): usize {
  out = writeVarint(BLOCK_VALUES, out);
  out = writeVarint(BLOCK_VALUES / MINI_VALUES, out);
  out = writeVarint(<u64>count, out);
  let last = count > 0 ? valueAt(from, 0, width) : 0;
  out = writeVarint(zigzag(last), out);
  for (let at = 1; at < count; at += BLOCK_VALUES) {
    const inBlock = min(BLOCK_VALUES, count - at);
    let least = i64.MAX_VALUE;
    for (let i = 0; i < inBlock; i++) {
      const value = valueAt(from, at + i, width);
      // differences of 32 bits go round at their end, as those of 64 bits do
      const delta = width == 4 ? <i64>(<i32>value - <i32>last) : value - last;
      last = value;
      if (delta < least) least = delta;
      store<i64>(scratch + ((<usize>i) << 3), delta);
    }
    out = writeVarint(zigzag(least), out);
    const widths = out;
    store<u32>(widths, 0);
    out += 4;
    for (let first = 0; first < inBlock; first += MINI_VALUES) {
      const inMini = min(MINI_VALUES, inBlock - first);
      const mini = scratch + ((<usize>first) << 3);
      let all: u64 = 0;
      for (let i = 0; i < inMini; i++) all |= load<u64>(mini + ((<usize>i) << 3)) - <u64>least;
      const bits = 64 - <i32>clz(all);
      store<u8>(widths + first / MINI_VALUES, <u8>bits);
      if (bits > 0) out = packMini(mini, inMini, <u64>least, bits, out);
    }
  }
  return out;
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
