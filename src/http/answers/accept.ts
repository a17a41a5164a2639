/** Content negotiation by `Accept` (RFC 9110 §12.5.1). */
import { parseAccept } from 'hono/utils/accept';

function specificity(range: string, type: string): number {
  if (range === type) return 3;
  if (range === '*/*' || range === '*') return 1;
  if (range.endsWith('/*') && type.startsWith(range.slice(0, -1))) return 2;
  // the original framework also understands application/*+json
  const suffix = /^([^/]+\/)\*(\+.+)$/.exec(range);
  if (suffix !== null && type.startsWith(suffix[1]!) && type.endsWith(suffix[2]!)) return 2;
  return 0;
}

/** Whether an answer that is a page for people, or JSON for programs, is to be the page: only who names `text/html` gets it. */
export function wantsHtml(header: string | undefined): boolean {
  return (
    /\btext\/html\b/i.test(header ?? '') &&
    negotiate(header, ['text/html', 'application/json']) === 'text/html'
  );
}

/**
 * The best of `offered` (in the server's order of preference) for an `Accept` header: the highest q, then the more
 * specific range, then the server's order. Without a header the first; null when all are refused.
 */
export function negotiate<T extends string>(header: string | undefined, offered: readonly T[]): T | null {
  if (header === undefined || header.trim() === '') return offered[0] ?? null;
  const ranges = parseAccept(header).map(({ type, q }) => ({ range: type.toLowerCase(), q }));
  let best: { readonly type: T; readonly q: number; readonly specific: number } | null = null;
  for (const type of offered) {
    let match = { q: 0, specific: 0 };
    for (const { range, q } of ranges) {
      const specific = specificity(range, type);
      if (specific > match.specific) match = { q, specific };
    }
    if (match.q === 0) continue;
    if (best === null || match.q > best.q || (match.q === best.q && match.specific > best.specific)) {
      best = { type, ...match };
    }
  }
  return best?.type ?? null;
}
