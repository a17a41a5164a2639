/** SHA-256 of what lies in memory. */
import crypto from 'node:crypto';

/** In hex; without an object for it, where Node can (20.12). */
export const sha256Of: (content: string | Uint8Array) => string =
  typeof crypto.hash === 'function'
    ? (content) => crypto.hash('sha256', content)
    : (content) => crypto.createHash('sha256').update(content).digest('hex');
