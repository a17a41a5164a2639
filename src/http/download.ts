/** Answers that a client saves as a file, whole or a range of bytes. */
import type { Context } from 'hono';
import type { AppEnv } from './env.ts';
import { longBytes } from './long-answers.ts';
import { acceptedType } from './operation.ts';

// Sends files as answers.

/** Bytes of any kind: generators of clients that know bytes by this type alone ask for it. */
export const bytesType = 'application/octet-stream';

/** Documents `Content-Disposition`, for use as `headers` of an answer. */
export const dispositionHeader = {
  'Content-Disposition': {
    description: 'The name to save the file under (RFC 6266).',
    schema: { type: 'string' as const },
    example: 'attachment; filename="orders.csv"; filename*=UTF-8\'\'orders.csv',
  },
};

/** `Content-Disposition` of a download (RFC 6266): a plain name for all, the exact one for those that read it. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w .()-]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/** A format of a file, and the media type that it is sent as. */
interface ChosenFormat<F extends string> {
  readonly format: F;
  readonly mediaType: string;
}

/**
 * Chooses the format of a file by `Accept`, among all formats or the one that the query names; the first one if `Accept` has no
 * preference. `mediaTypes`: those of each format. AppError `not_acceptable` if `Accept` excludes them.
 */
export function chooseFormat<F extends string>(
  c: Context<AppEnv>,
  asked: F | undefined,
  mediaTypes: Readonly<Record<F, readonly string[]>>,
): ChosenFormat<F> {
  const formats = asked === undefined ? (Object.keys(mediaTypes) as F[]) : [asked];
  const offered = formats.flatMap((format) => mediaTypes[format].map((mediaType) => ({ format, mediaType })));
  const mediaType = acceptedType(c, [...offered.map((one) => one.mediaType), bytesType]);
  return { format: offered.find((one) => one.mediaType === mediaType)?.format ?? formats[0]!, mediaType };
}

/** Answers with a file in chunks, to be saved under its name. */
export function savedFile(
  c: Context<AppEnv>,
  { name, content }: { readonly name: string; readonly content: readonly Uint8Array<ArrayBuffer>[] },
  mediaType: string,
): Response {
  return longBytes(c, content, {
    'Content-Type': mediaType,
    'Content-Disposition': attachment(name),
    Vary: 'Accept',
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
