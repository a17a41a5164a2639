/** Idempotency keys in memory. */
import { idempotencyKeyInUse, idempotencyKeyReused } from '../../../src/metadb/idempotency-store.ts';
import type { IdempotencyStore, KeyHold } from '../../../src/ports/stores/idempotency.ts';
import type { Clock } from '../../../src/ports/environment.ts';

interface KeptKey {
  readonly requestHash: string;
  holder: string;
  untilMs: number;
  answer: string | null;
}

/** `keys`: what is stored, by organisation and key. */
export interface MemoryIdempotencyStore extends IdempotencyStore {
  readonly keys: ReadonlyMap<string, KeptKey>;
}

export function createMemoryIdempotencyStore(clock: Clock): MemoryIdempotencyStore {
  const keys = new Map<string, KeptKey>();
  const held = ({ idOrg, key, holder }: KeyHold): KeptKey | undefined => {
    const kept = keys.get(`${idOrg} ${key}`);
    return kept?.holder === holder && kept.answer === null ? kept : undefined;
  };
  return {
    keys,
    async begin({ idOrg, key, requestHash }, leaseMs) {
      const known = keys.get(`${idOrg} ${key}`);
      if (known !== undefined && known.requestHash !== requestHash) throw idempotencyKeyReused();
      if (known?.answer != null) return { answer: known.answer };
      if (known !== undefined && known.untilMs > clock.nowMs()) throw idempotencyKeyInUse();
      const holder = crypto.randomUUID();
      keys.set(`${idOrg} ${key}`, { requestHash, holder, untilMs: clock.nowMs() + leaseMs, answer: null });
      return { hold: { idOrg, key, holder } };
    },
    async extend(hold, leaseMs) {
      const kept = held(hold);
      if (kept !== undefined) kept.untilMs = clock.nowMs() + leaseMs;
    },
    async settle(hold, answer) {
      const kept = held(hold);
      if (kept !== undefined) kept.answer = answer;
    },
    async release(hold) {
      if (held(hold) !== undefined) keys.delete(`${hold.idOrg} ${hold.key}`);
    },
  };
}
