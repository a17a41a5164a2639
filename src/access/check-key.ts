import type { AccessStore, Scope } from '../ports/access-store.ts';
import type { Clock } from '../ports/clock.ts';
import { equalInConstantTime, sha256Hex } from './credential.ts';

/** Who asks: the organisation and the rights of the key in use. */
export interface Principal {
  readonly idKey: string;
  readonly idOrg: number;
  readonly scopes: readonly Scope[];
}

const keyForm = /^svk_([A-Za-z0-9]{1,64})_([A-Za-z0-9_-]{1,256})$/;
/** compared with where there is no such key, so that both answers cost the same */
const noSecret = '0'.repeat(64);

/** Checks `svk_<id>_<secret>`; null when it is malformed, unknown, wrong, expired or revoked. Read anew at each call: revocation works at once. */
export async function checkKey(access: AccessStore, clock: Clock, key: string): Promise<Principal | null> {
  const parts = keyForm.exec(key);
  if (parts === null) return null;
  const record = await access.findKey(parts[1]!);
  const matches = equalInConstantTime(await sha256Hex(parts[2]!), record?.secretSha256 ?? noSecret);
  if (record === null || !matches) return null;
  const now = clock.nowMs();
  if (record.revokedAt !== null && record.revokedAt <= now) return null;
  if (record.expiresAt !== null && record.expiresAt <= now) return null;
  return { idKey: record.idKey, idOrg: record.idOrg, scopes: record.scopes };
}
