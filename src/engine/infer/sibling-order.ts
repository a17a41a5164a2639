/** Records which siblings preceded others, as bits by ordinal. */

/**
 * Notes the siblings that preceded the child of this ordinal in this element, in addition to those of earlier elements, and then notes
 * the child as seen.
 */
export function noteOrder(precededBy: number[], seen: Int32Array, words: number, ordinal: number): void {
  while (precededBy.length < words) precededBy.push(0);
  for (let word = 0; word < words && word < seen.length; word += 1) precededBy[word]! |= seen[word]!;
  seen[ordinal >>> 5]! |= 1 << (ordinal & 31);
}

/**
 * Returns the ordinals below `count` in the form of statistics: ascending; for three or more consecutive ones the first, and the last as
 * a negative number. Otherwise an element of thousands of children would have millions of them.
 */
export function packOrdinals(count: number, has: (ordinal: number) => boolean): number[] {
  const packed: number[] = [];
  for (let first = 0; first < count; first += 1) {
    if (!has(first)) continue;
    let last = first;
    while (last + 1 < count && has(last + 1)) last += 1;
    packed.push(first);
    if (last > first) packed.push(last === first + 1 ? last : -last);
    first = last;
  }
  return packed;
}

/** `packOrdinals` of the bits that are set. */
export function packBits(words: readonly number[]): number[] {
  return packOrdinals(words.length * 32, (ordinal) => (words[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0);
}

/** True if any of the ordinals passes the test. Tests them in ascending order. */
export function someOrdinal(packed: readonly number[], test: (ordinal: number) => boolean): boolean {
  for (const [at, ordinal] of packed.entries()) {
    if (ordinal >= 0) {
      if (test(ordinal)) return true;
      continue;
    }
    for (let next = packed[at - 1]! + 1; next <= -ordinal; next += 1) if (test(next)) return true;
  }
  return false;
}

export function unpackOrdinals(packed: readonly number[]): number[] {
  const ordinals: number[] = [];
  someOrdinal(packed, (ordinal) => ordinals.push(ordinal) === 0);
  return ordinals;
}
