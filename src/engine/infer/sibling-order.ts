/** Which siblings stood before which, as bits by ordinal. */

/** What stood before the child of this ordinal, in this element, joins what did elsewhere; then the child itself has been seen. */
export function noteOrder(precededBy: number[], seen: number[], ordinal: number): void {
  for (let word = 0; word < seen.length; word += 1) precededBy[word] = (precededBy[word] ?? 0) | seen[word]!;
  const word = ordinal >>> 5;
  while (seen.length <= word) seen.push(0);
  seen[word]! |= 1 << (ordinal & 31);
}

export function bitsSet(words: readonly number[]): number[] {
  return words.flatMap((word, index) => {
    const set: number[] = [];
    for (let bit = 0; bit < 32; bit += 1) if ((word & (1 << bit)) !== 0) set.push(index * 32 + bit);
    return set;
  });
}
