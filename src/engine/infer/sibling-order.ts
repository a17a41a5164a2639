/** Which siblings stood before which, as bits by ordinal. */

/** What stood before the child of this ordinal, in this element, joins what did elsewhere; then the child itself has been seen. */
export function noteOrder(precededBy: number[], seen: Int32Array, words: number, ordinal: number): void {
  while (precededBy.length < words) precededBy.push(0);
  for (let word = 0; word < words && word < seen.length; word += 1) precededBy[word]! |= seen[word]!;
  seen[ordinal >>> 5]! |= 1 << (ordinal & 31);
}

export function bitsSet(words: readonly number[]): number[] {
  return words.flatMap((word, index) => {
    const set: number[] = [];
    for (let bit = 0; bit < 32; bit += 1) if ((word & (1 << bit)) !== 0) set.push(index * 32 + bit);
    return set;
  });
}
