/** `Prefer: wait=N` (RFC 7240 §4.3). */

/** longest wait, in seconds: intermediaries may close a connection that is silent for longer */
export const longestWait = 60;

/**
 * Returns the seconds that the client would wait, at most `longestWait`, or null if it states none. Invalid preferences are ignored
 * (RFC 7240 §2), and the first of two applies.
 */
export function preferredWait(header: string | undefined): number | null {
  for (const preference of (header ?? '').split(',')) {
    const found = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference);
    if (found !== null) return Math.min(Number(found[1]), longestWait);
  }
  return null;
}
