/** Runs independent requests, several at a time. */

/** the number of requests that a store accepts from one job without asking it to slow down */
const mostAtOnce = 8;

/**
 * Returns the results of `work` for all elements, in their order. After a failure no further call begins, and all calls have ended when
 * this throws.
 */
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
