/**
 * Entity tags: conditional requests (RFC 9110 section 13), and content that is the same for every caller until the program changes.
 * Every tag is weak, because it names the content whatever coding it is sent in.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import type { AppEnv, StaticContent } from './env.ts';
import type { Coding } from '../ports/network.ts';

/** A GET marked so sends `ETag`, and 304 for an `If-None-Match` that has it. */
export const conditionalGet = { 'x-conditional': true } as const;

/** Documents the tag, for use as `headers` of an answer. */
export const tagHeader = {
  ETag: {
    description:
      'A weak tag of the content. A request with it in `If-None-Match` is answered with 304 until the content changes.',
    schema: { type: 'string' as const },
    example: 'W/"5d41402abc4b2a76b9719d911017c592ab34cd12"',
  },
};

const headersOf304 = [...RETAINED_304_HEADERS, 'link', 'ratelimit', 'ratelimit-policy'];

/** The answer may be stored by the client alone, and is to be revalidated each time, unless the handler says otherwise. */
const revalidated = 'private, no-cache';

const tagged = etag({ weak: true, retainedHeaders: headersOf304 });

/** Gives the answer the tag that the handler has set, or the digest of its content; 304 if the client has that content. */
export const conditional: MiddlewareHandler<AppEnv> = async (c, next) => {
  await tagged(c, async () => {
    await next();
    if (c.res.ok && !c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', revalidated);
  });
};

/** Hashes content of the program. */
export async function createStaticContent(content: string | Uint8Array<ArrayBuffer>): Promise<StaticContent> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 8);
  const byCoding = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    bytes,
    digest: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join(''),
    compressed(compressor, coding) {
      if (!byCoding.has(coding)) byCoding.set(coding, compressor.whole(coding, bytes));
      return byCoding.get(coding)!;
    },
  };
}

/** `Cache-Control` of content that everybody may store, and that may change with the program. */
const publicRevalidated = 'no-cache';
/** `Cache-Control` of content under an address that contains its digest. */
const immutable = 'public, max-age=31536000, immutable';

/** Sends static content with its tag. `isImmutable`: the address contains the digest. For routes with `conditional`. */
export function sendStatic(
  c: Context<AppEnv>,
  content: StaticContent,
  contentType: string,
  isImmutable = false,
): Response {
  c.set('staticContent', content);
  return c.body(content.bytes, 200, {
    'Content-Type': contentType,
    'Cache-Control': isImmutable ? immutable : publicRevalidated,
    ETag: `W/"${content.digest}"`,
  });
}

/** The name of a file with its digest: `page.css` becomes `page.0123456789abcdef.css`. */
export function hashedName(name: string, digest: string): string {
  return name.replace(/\.\w+$/, `.${digest}$&`);
}

/** Splits a name as `hashedName` makes it; `digest` is null if it has none. */
export function splitHashedName(name: string): { readonly name: string; readonly digest: string | null } {
  const [, stem, digest, ending] = /^(.+)\.([0-9a-f]{16})(\.\w+)$/.exec(name) ?? [];
  return digest === undefined ? { name, digest: null } : { name: `${stem}${ending}`, digest };
}
