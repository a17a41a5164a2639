/** The first key of a new installation. */
import { randomId, randomSecret, sha256Hex } from '../access/credential.ts';
import { allScopes } from '../ports/stores/access.ts';
import type { AccessStore } from '../ports/stores/access.ts';
import { writePrivateFile } from './home.ts';

/** The organisation every installation starts with. */
const firstOrg = 1;

/** If no key exists, creates one with every scope and writes it to `file` (0600). Returns whether it did. */
export async function ensureAdminKey(access: AccessStore, file: string): Promise<boolean> {
  if (!(await access.hasNoKeys())) return false;
  const idKey = randomId();
  const secret = randomSecret();
  // The file first: a key that is stored but written nowhere could never be used, and would stop the next start from making one
  await writePrivateFile(file, `svk_${idKey}_${secret}\n`);
  await access.createKey({
    idKey,
    idOrg: firstOrg,
    name: 'first key',
    scopes: allScopes,
    secretSha256: await sha256Hex(secret),
    expiresAt: null,
    revokedAt: null,
  });
  return true;
}
