/** Suggests the word that a user may have meant by a misspelt one. */

/** Returns the closest candidate if it is close enough to be meant, or null. */
export function closestWord(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  // a short word has room for few errors
  const most = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | null = null;
  let bestDistance = most + 1;
  for (const candidate of candidates) {
    const known = candidate.toLowerCase();
    if (Math.abs(known.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, known);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `; did you mean X?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const closest = closestWord(word, candidates);
  return closest === null ? '' : `; did you mean ${closest}?`;
}

/**
 * Returns the number of letters to insert, delete or change, or neighbours to swap, to turn one word into the other (optimal string
 * alignment).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          change,
          last[j]! + 1,
          row[j - 1]! + 1,
          swaps ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
