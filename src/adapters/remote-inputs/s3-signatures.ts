/** Signatures of requests for objects of an S3-compatible store (AWS Signature Version 4), made at once: of a small object, most time went into waiting for them. */
import { createHmac, hash } from 'node:crypto';
import type { SourceAccess } from '../../config/shape.ts';

export type S3Access = Extract<SourceAccess, { kind: 's3' }>;

/** Headers that sign a GET; what else is sent is not part of the signature. `nowMs`: epoch milliseconds. */
export function createS3Signatures({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  region,
}: S3Access): (url: URL, nowMs?: number) => Readonly<Record<string, string>> {
  const signed = `host;x-amz-content-sha256;x-amz-date${sessionToken === undefined ? '' : ';x-amz-security-token'}`;
  // derived of the secret for a day, one region and one service
  let key: { readonly date: string; readonly bytes: Buffer } | null = null;
  const keyOf = (date: string): Buffer => {
    if (key?.date !== date) {
      const bytes = [date, region, 's3', 'aws4_request'].reduce<Buffer>(
        (before, text) => hmac(before, text).digest(),
        Buffer.from(`AWS4${secretAccessKey}`),
      );
      key = { date, bytes };
    }
    return key.bytes;
  };
  return (url, nowMs = Date.now()) => {
    const time = new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const token = sessionToken === undefined ? '' : `x-amz-security-token:${oneLine(sessionToken)}\n`;
    const request = `GET\n${pathOf(url)}\n${queryOf(url)}\nhost:${url.host}\nx-amz-content-sha256:${payload}\nx-amz-date:${time}\n${token}\n${signed}\n${payload}`;
    const told = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', request)}`;
    const signature = hmac(keyOf(time.slice(0, 8)), told).digest('hex');
    return {
      'x-amz-content-sha256': payload,
      'x-amz-date': time,
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    };
  };
}

/** a GET has no body to hash */
const payload = 'UNSIGNED-PAYLOAD';

function hmac(key: Buffer, text: string) {
  return createHmac('sha256', key).update(text);
}

/** What addresses may leave as it is, and signatures not (RFC 3986, 2.3: unreserved characters). */
function strict(encoded: string): string {
  return encoded.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function pathOf(url: URL): string {
  return strict(encodeURIComponent(decodeURIComponent(url.pathname)).replaceAll('%2F', '/'));
}

function queryOf(url: URL): string {
  if (url.search === '') return '';
  return [...url.searchParams]
    .map((pair) => pair.map((text) => strict(encodeURIComponent(text))))
    .toSorted(([a], [b]) => (a! < b! ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
