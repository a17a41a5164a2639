/** Checking API keys: from the text of a header to the organisation and the rights of who asks. */
import type { AccessStore, ApiKeyRecord, Scope } from '../ports/stores/access.ts';
import type { Clock } from '../ports/clock.ts';
import { equalInConstantTime, sha256Hex } from './credential.ts';

/** The authenticated caller: the organisation and the rights of the key in use. */
export interface Principal {
  readonly idKey: string;
  readonly idOrg: number;
  readonly scopes: readonly Scope[];
}

const keyForm = /^svk_([A-Za-z0-9]{1,64})_([A-Za-z0-9_-]{1,256})$/;
/** compared with if there is no such key, so that both answers take the same time */
const noSecret = '0'.repeat(64);

/** Time for which a cached key is trusted: one that another process revokes ends within a second (docs/decisions/service/secrets.md). */
const freshMs = 500;
/** Number of cached keys above which the cache is cleared. */
const mostKeys = 1_000;

export interface KeyCheck {
  /** Checks `svk_<id>_<secret>`; null when it is malformed, unknown, wrong, expired or revoked. */
  check(key: string): Promise<Principal | null>;
  /** Called when a key was revoked here: it ends at once. */
  forget(): void;
}

export function createKeyCheck(access: Pick<AccessStore, 'findKey'>, clock: Clock): KeyCheck {
  /** keyed by the whole key, including its secret, so that a hit proves that the key is right */
  let known = new Map<string, { readonly record: ApiKeyRecord; readonly sinceMs: number }>();

  async function findKey(key: string, sinceMs: number): Promise<ApiKeyRecord | null> {
    const parts = keyForm.exec(key);
    if (parts === null) return null;
    const found = known;
    const record = await access.findKey(parts[1]!);
    const matches = equalInConstantTime(await sha256Hex(parts[2]!), record?.secretSha256 ?? noSecret);
    if (record === null || !matches) return null;
    if (found.size >= mostKeys) found.clear();
    // into the map that was there at the question: who has forgotten since does not get an older answer
    found.set(key, { record, sinceMs });
    return record;
  }

  return {
    async check(key) {
      const now = clock.nowMs();
      const earlier = known.get(key);
      const age = now - (earlier?.sinceMs ?? 0);
      const record =
        earlier !== undefined && age >= 0 && age < freshMs ? earlier.record : await findKey(key, now);
      if (record === null) return null;
      if (record.revokedAt !== null && record.revokedAt <= now) return null;
      if (record.expiresAt !== null && record.expiresAt <= now) return null;
      return { idKey: record.idKey, idOrg: record.idOrg, scopes: record.scopes };
    },
    forget: () => void (known = new Map()),
  };
}
