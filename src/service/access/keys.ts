/** API keys: issued, read from a request, checked, and what their scopes allow. */
import { type AccessStore, type ApiKeyRecord, type Scope, allScopes } from '../../ports/stores/access.ts';
import type { Clock } from '../../ports/environment.ts';

// Checks API keys: from the text of a header to the organisation and the rights of the caller.

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
const maxKeys = 1_000;

interface KeyCheck {
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
    if (found.size >= maxKeys) found.clear();
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

// Makes API keys.

interface IssuedKey {
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

// Random secrets and their stored form, on WebCrypto alone so that every runtime has them.

/** SHA-256 of the UTF-8 text, lower-case hex. */
export async function sha256Hex(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** 256 random bits in base64url, 43 characters. */
export function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** 80 random bits as 20 hex digits: a key's public id. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Compares in constant time, so that the duration does not reveal where two texts differ; their lengths are not secret. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at += 1) {
    difference |= a.charCodeAt(at) ^ (b.length === 0 ? 0 : b.charCodeAt(at % b.length));
  }
  return difference === 0;
}

// The scopes that an API key may be given.

/** The scopes that a key may have, in the order in which people list them. */
export const grantableScopes: readonly Scope[] = allScopes;
