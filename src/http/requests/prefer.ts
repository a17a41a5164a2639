/** `Prefer: wait=N` (RFC 7240 §4.3). */

/** longest wait, in seconds: what stands between may close a connection that is silent for longer */
export const longestWait = 60;

/**
 * Seconds that the client would wait, at most `longestWait`; null where it says nothing of it. What is not understood is passed over
 * (RFC 7240 §2), and of two the first holds.
 */
export function preferredWait(header: string | undefined): number | null {
  for (const preference of (header ?? '').split(',')) {
    const found = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference);
    if (found !== null) return Math.min(Number(found[1]), longestWait);
  }
  return null;
}
