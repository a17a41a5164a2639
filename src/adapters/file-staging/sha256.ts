/** Computes SHA-256 of data in memory. */
import crypto from 'node:crypto';

/** Returns the hash in hex; avoids creating an object for it if Node can (20.12). */
export const sha256Of: (content: string | Uint8Array) => string =
  typeof crypto.hash === 'function'
    ? (content) => crypto.hash('sha256', content)
    : (content) => crypto.createHash('sha256').update(content).digest('hex');
