// Part of src/engine/parquet/kernel/columns.as: rows of COPY text, cut into fields.

// @ts-ignore: decorator
@inline
function delimitersOf(at: usize): u64 {
  const v = v128.load(at);
  return <u64><u32>i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(TAB)), i8x16.eq(v, i8x16.splat(LF))));
}

/** Writes the addresses of at most `most` tabs and line feeds from `from` to `to`, which no value contains. Returns their number. */
export function split(from: usize, to: usize, out: usize, most: usize): usize {
  const end = out + (most << 2);
  let at = out;
  for (; from < to; from += 64) {
    let found =
      delimitersOf(from) | (delimitersOf(from + 16) << 16) | (delimitersOf(from + 32) << 32) | (delimitersOf(from + 48) << 48);
    if (to - from < 64) found &= ((<u64>1) << <u64>(to - from)) - 1;
    const next = at + (<usize>popcnt(found) << 2);
    if (next > end) {
      for (; at < end; at += 4) {
        store<u32>(at, <u32>from + <u32>ctz(found));
        found &= found - 1;
      }
      return most;
    }
    // most words have no more than these; addresses written beyond the end are overwritten later
    while (at < next) {
      for (let i: usize = 0; i < 16; i += 4) {
        store<u32>(at + i, <u32>from + <u32>ctz(found));
        found &= found - 1;
      }
      at += 16;
    }
    at = next;
  }
  return (at - out) >> 2;
}

// @ts-ignore: decorator
@inline
function isNull(from: usize, length: usize): bool {
  return length == 2 && load<u16>(from) == NULL_TEXT;
}

// @ts-ignore: decorator
@inline
function hasEscape(from: usize, length: usize): bool {
  const backslash = i8x16.splat(BACKSLASH);
  while (length > 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(from), backslash)) != 0) return true;
    from += 16;
    length -= 16;
  }
  return (i8x16.bitmask(i8x16.eq(v128.load(from), backslash)) & ((1 << <i32>length) - 1)) != 0;
}

/** Copies bytes. May overwrite the bytes after the copy up to the end of a vector. */
// @ts-ignore: decorator
@inline
function copyText(to: usize, from: usize, length: usize): void {
  if (length > 128) {
    memory.copy(to, from, length);
    return;
  }
  for (let at: usize = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at));
}

/** Writes a text without its escapes and returns its end. May overwrite the bytes after it up to the end of a vector. */
function unescape(from: usize, to: usize, out: usize): usize {
  while (from < to) {
    const v = v128.load(from);
    v128.store(out, v);
    const found = i8x16.bitmask(i8x16.eq(v, i8x16.splat(BACKSLASH)));
    const plain = min(<usize>ctz(found | 0x10000), to - from);
    from += plain;
    out += plain;
    if (found == 0 || from >= to) continue;
    const escaped = load<u8>(from, 1);
    store<u8>(out++, escaped == 0x74 ? TAB : escaped == 0x6e ? LF : escaped == 0x72 ? CR : escaped);
    from += 2;
  }
  return out;
}

/** Allocates memory that remains valid until FREE is reset. Grows the memory if necessary. */
function allocate(bytes: usize): usize {
  const at = (load<usize>(FREE) + 15) & ~15;
  const end = at + bytes + MARGIN_BYTES;
  const present = <usize>memory.size() << 16;
  if (end > present && memory.grow(<i32>((end - present + 0xffff) >> 16) + 16) < 0) unreachable();
  store<usize>(FREE, end);
  return at;
}
