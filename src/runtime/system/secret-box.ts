/** AES-256-GCM with a key from the settings, or from a file that is made at the first start. */
import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import type { SecretBox } from '../../ports/stores/access.ts';

const keyBytes = 32;
const nonceBytes = 12;
/**
 * Number of hex digits of a key's SHA-256 with which a sealed text begins: they identify the key that opens it, and reveal nothing of
 * the key.
 */
const idLength = 12;

interface NamedKey {
  readonly id: string;
  readonly key: CryptoKey;
}

/**
 * `key`: 32 bytes, used for sealing. `oldKeys` only open texts that were sealed with them before the key was changed. A sealed text is
 * `v2.`, the key's id, a dot, and the base64url form of nonce, ciphertext and tag; the text before the second dot is authenticated too.
 * `v1.` texts, from before keys had ids, are opened with whichever key fits.
 */
export function createSecretBox(
  key: Uint8Array<ArrayBuffer>,
  oldKeys: readonly Uint8Array<ArrayBuffer>[] = [],
): SecretBox {
  // most runs of tools seal and open nothing
  let named: Promise<readonly [NamedKey, ...NamedKey[]]> | null = null;
  const keys = (): NonNullable<typeof named> => {
    named ??= Promise.all([nameKey(key), ...oldKeys.map(nameKey)]);
    return named;
  };
  return {
    seal: async (plain) => {
      const [current] = await keys();
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const head = `v2.${current.id}.`;
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv: nonce, additionalData: new TextEncoder().encode(head) },
        current.key,
        new TextEncoder().encode(plain),
      );
      return head + Buffer.concat([nonce, new Uint8Array(sealed)]).toString('base64url');
    },
    open: async (text) => {
      const [, head = '', id, body = ''] = /^(v1\.|v2\.([0-9a-f]{12})\.)([\w-]+)$/.exec(text) ?? [];
      for (const candidate of await keys()) {
        if (id !== undefined && id !== candidate.id) continue;
        const plain = await decrypt(candidate.key, id === undefined ? '' : head, body);
        if (plain !== null) return plain;
      }
      // The cause would say nothing more, and must not contain the sealed text
      throw new AppError(
        'internal_error',
        'a stored secret cannot be read: it was sealed with another svc.secret.key, add that key to svc.secret.old_keys, or store the secret again',
      );
    },
  };
}

async function nameKey(bytes: Uint8Array<ArrayBuffer>): Promise<NamedKey> {
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes));
  return {
    id: digest.toString('hex').slice(0, idLength),
    key: await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']),
  };
}

async function decrypt(key: CryptoKey, head: string, body: string): Promise<string | null> {
  const bytes = Uint8Array.from(Buffer.from(body, 'base64url'));
  if (bytes.length <= nonceBytes) return null;
  const additionalData = new TextEncoder().encode(head);
  try {
    const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, nonceBytes), additionalData };
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(nonceBytes)));
  } catch {
    return null;
  }
}

/** The key in `file` (0600, base64), made when missing; of several processes that start at once, one makes it. */
export async function readOrMakeKey(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const existing = await readKey(file);
  if (existing !== null) return existing;
  const part = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`);
    await handle.sync();
    await handle.close();
    await link(part, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(part);
  }
  const created = await readKey(file);
  if (created === null) throw new AppError('internal_error', `${file} cannot be read back`);
  return created;
}

/** The bytes of a key in its base64 form; AppError when it is no key. */
export function decodeKey(text: string, where: string): Uint8Array<ArrayBuffer> {
  const key = Uint8Array.from(Buffer.from(text.trim(), 'base64'));
  if (key.length !== keyBytes)
    throw new AppError('internal_error', `${where} must hold the base64 form of ${keyBytes} bytes`);
  return key;
}

async function readKey(file: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return decodeKey(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
