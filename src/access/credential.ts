/** Random secrets and their stored form, on WebCrypto alone so that every runtime has them. */

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
