/** Making API keys. */
import type { AccessStore, Scope } from '../ports/stores/access.ts';
import { randomId, randomSecret, sha256Hex } from './credential.ts';

export interface IssuedKey {
  readonly idKey: string;
  /** `svk_<id>_<secret>`: given once, stored nowhere */
  readonly key: string;
}

/** Makes a key for an organisation; `expiresAt` in epoch milliseconds, null for never. */
export async function issueKey(
  access: AccessStore,
  wanted: {
    readonly idOrg: number;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly expiresAt: number | null;
  },
): Promise<IssuedKey> {
  const idKey = randomId();
  const secret = randomSecret();
  const scopes = [...new Set(wanted.scopes)];
  await access.createKey({
    ...wanted,
    scopes,
    idKey,
    secretSha256: await sha256Hex(secret),
    revokedAt: null,
  });
  return { idKey, key: `svk_${idKey}_${secret}` };
}
