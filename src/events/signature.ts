/** Signatures of webhooks, as Standard Webhooks 1.0.0 has them: HMAC-SHA256 over id, time and body. */

const prefix = 'whsec_';

/** Returns null if the text is not a secret: `whsec_` and the base64 of 24 to 64 bytes. */
export function decodeWebhookSecret(text: string): Uint8Array<ArrayBuffer> | null {
  const base64 = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return bytes.byteLength >= 24 && bytes.byteLength <= 64 ? bytes : null;
}

/** Returns the headers that authenticate the sender of a body, and its time. */
export async function signedHeaders(
  secret: Uint8Array<ArrayBuffer>,
  id: string,
  epochMs: number,
  body: string,
): Promise<Record<string, string>> {
  const seconds = String(Math.floor(epochMs / 1000));
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ]);
  const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${seconds}.${body}`));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signed)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${base64}` };
}
