/** Requests that do not need one another, several at a time. */

/** as many as a store takes of one job without asking it to slow down */
const mostAtOnce = 8;

/** What `work` answers of each, in their order. Where one fails none begins any more, and none goes on once this has thrown. */
export async function eachAtOnce<One, Answer>(
  all: readonly One[],
  work: (one: One) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < all.length; at += mostAtOnce) {
    const settled = await Promise.allSettled(all.slice(at, at + mostAtOnce).map(work));
    for (const outcome of settled) {
      if (outcome.status === 'rejected') throw outcome.reason;
      answers.push(outcome.value);
    }
  }
  return answers;
}
