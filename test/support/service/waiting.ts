/** Waiting for what a real service does in its own time. */

const patienceMs = 90_000;

/**
 * Asks until the answer is not null; patience for a machine under load, no measure of speed. With `maxMs`, what takes long is
 * asked for less and less often: asking costs the time that the answer waits for.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null> | T | null,
  everyMs = 20,
  maxMs = everyMs,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (let pauseMs = everyMs; ; pauseMs = Math.min(pauseMs * 1.2, maxMs)) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > until) throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
