/** Answers that a client saves as a file, whole or a range of bytes. */
import type { Context } from 'hono';
import type { AppEnv } from './env.ts';
import { negotiate } from './problem.ts';
import { longBytes } from './long-answers.ts';

// Sends files as answers.

/** Bytes of any kind: generators of clients that know bytes by this type alone ask for it. */
export const bytesType = 'application/octet-stream';

/** `Content-Disposition` of a download (RFC 6266): a plain name for all, the exact one for those that read it. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w .()-]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/**
 * Answers with a file in chunks, to be saved under its name; `Accept` chooses among its media types, the first if it names none of
 * them.
 */
export function savedFile(
  c: Context<AppEnv>,
  { name, content }: { readonly name: string; readonly content: readonly Uint8Array<ArrayBuffer>[] },
  mediaTypes: readonly [string, ...string[]],
): Response {
  return longBytes(c, content, {
    'Content-Type': negotiate(c.req.header('Accept'), [...mediaTypes, bytesType]) ?? mediaTypes[0],
    'Content-Disposition': attachment(name),
    ...(mediaTypes.length > 1 ? { Vary: 'Accept' } : {}),
  });
}

// One range of bytes (RFC 9110, section 14) of a log that grows, and whose beginning may have been dropped.

interface ByteSpan {
  readonly start: number;
  /** offset after the last byte */
  readonly end: number;
}

/**
 * Parses a `Range` header for the available bytes [from, total). Returns null if the header is absent or not a single range of bytes,
 * so that all bytes are meant; 'none' if the range is empty. Bytes before `from` are left out.
 */
export function byteRange(header: string | undefined, from: number, total: number): ByteSpan | null | 'none' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  if (first === '') {
    const start = Math.max(from, total - Number(last));
    return start < total ? { start, end: total } : 'none';
  }
  if (last !== '' && Number(last) < Number(first)) return null;
  const start = Math.max(from, Number(first));
  const end = last === '' ? total : Math.min(total, Number(last) + 1);
  return start < end ? { start, end } : 'none';
}
