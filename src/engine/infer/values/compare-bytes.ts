/**
 * Compares the bytes [start, end) with the first `length` of another array: returns a negative number, 0 or a positive number, as their
 * code points sort.
 */
export function compareBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  other: Uint8Array,
  length: number,
): number {
  const shared = Math.min(end - start, length);
  for (let i = 0; i < shared; i += 1) {
    const difference = bytes[start + i]! - other[i]!;
    if (difference !== 0) return difference;
  }
  return end - start - length;
}
