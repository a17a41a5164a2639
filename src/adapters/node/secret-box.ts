/** AES-256-GCM with a key from the settings, or from a file that is made at the first start. */
import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import type { SecretBox } from '../../ports/secret-box.ts';

const version = 'v1.';
const keyBytes = 32;
const nonceBytes = 12;

/** `key`: 32 bytes. A sealed text is `v1.` and the base64url form of nonce, ciphertext and tag. */
export async function createSecretBox(key: Uint8Array<ArrayBuffer>): Promise<SecretBox> {
  const cryptoKey = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  return {
    seal: async (plain) => {
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv: nonce },
        cryptoKey,
        new TextEncoder().encode(plain),
      );
      return version + Buffer.concat([nonce, new Uint8Array(sealed)]).toString('base64url');
    },
    open: async (text) => {
      const bytes = Uint8Array.from(Buffer.from(text.slice(version.length), 'base64url'));
      try {
        if (!text.startsWith(version) || bytes.length <= nonceBytes) throw new Error('not a sealed text');
        const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, nonceBytes) };
        return new TextDecoder().decode(
          await crypto.subtle.decrypt(algorithm, cryptoKey, bytes.subarray(nonceBytes)),
        );
      } catch {
        // The cause would say nothing more, and must not carry what was sealed
        throw new AppError('internal_error', 'a stored secret cannot be read: was svc.secret.key changed?');
      }
    },
  };
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
  const made = await readKey(file);
  if (made === null) throw new AppError('internal_error', `${file} cannot be read back`);
  return made;
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
