/** Limits the requests of a key. */
import type { Clock } from '../../ports/clock.ts';

export interface RateLimiter {
  /** Counts one request of this key; returns 0 if it may pass, otherwise the milliseconds until one may. */
  take(key: string): number;
}

/** Number of remembered keys above which full buckets are forgotten. */
const sweepAt = 10_000;

/** A token bucket per key, in this process: `perSecond` on average, `burst` at once. */
export function createRateLimiter(
  clock: Clock,
  limit: { readonly perSecond: number; readonly burst: number },
): RateLimiter {
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function refilled(bucket: { tokens: number; atMs: number }, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - bucket.atMs);
    return Math.min(limit.burst, bucket.tokens + (elapsedMs * limit.perSecond) / 1000);
  }

  function forgetFull(nowMs: number): void {
    for (const [key, bucket] of buckets) {
      if (refilled(bucket, nowMs) >= limit.burst) buckets.delete(key);
    }
  }

  return {
    take(key) {
      const nowMs = clock.nowMs();
      if (buckets.size >= sweepAt) forgetFull(nowMs);
      const bucket = buckets.get(key) ?? { tokens: limit.burst, atMs: nowMs };
      const tokens = refilled(bucket, nowMs);
      const passes = tokens >= 1;
      buckets.set(key, { tokens: passes ? tokens - 1 : tokens, atMs: nowMs });
      return passes ? 0 : Math.max(1, Math.ceil(((1 - tokens) * 1000) / limit.perSecond));
    },
  };
}
