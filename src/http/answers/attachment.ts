/** Sends files as answers. */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { negotiate } from './accept.ts';
import { longBytes } from './long-answers.ts';

/** Bytes of any kind: generators of clients that know bytes by this type alone ask for it. */
export const bytesType = 'application/octet-stream';

/** `Content-Disposition` of a download (RFC 6266): a plain name for all, the exact one for those that read it. */
export function attachment(name: string): string {
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
