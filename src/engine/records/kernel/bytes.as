/** Searches and compares bytes. Both functions read up to 16 bytes beyond their input. */

/** The first of three bytes, given as vectors, from `at` on; `end`: there is none. */
// @ts-ignore: decorator
@inline
function find(at: usize, end: usize, one: v128, other: v128, third: v128): usize {
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const found = i8x16.bitmask(
      v128.or(i8x16.eq(bytes, one), v128.or(i8x16.eq(bytes, other), i8x16.eq(bytes, third))),
    );
    if (found != 0) return min<usize>(at + ctz(found), end);
  }
  return end;
}

/** True if `length` bytes are equal. */
// @ts-ignore: decorator
@inline
function isSame(one: usize, other: usize, bytes: usize): bool {
  let at: usize = 0;
  for (; at + 8 <= bytes; at += 8) if (load<u64>(one + at) != load<u64>(other + at)) return false;
  const left = (bytes - at) << 3;
  return left == 0 || ((load<u64>(one + at) ^ load<u64>(other + at)) << (64 - left)) == 0;
}
