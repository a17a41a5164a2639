/**
 * Signatures of requests for objects of an S3-compatible store (AWS Signature Version 4), made at once: of a small object, most time
 * went into waiting for them.
 */
import { createHmac } from 'node:crypto';
import type { SourceAccess } from '../../config/shape.ts';
import { sha256Of } from '../file-staging/sha256.ts';

export type S3Access = Extract<SourceAccess, { kind: 's3' }>;

/** Returns headers that sign a GET; other headers are not part of the signature. `nowMs`: epoch milliseconds. */
export function createS3Signatures({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  region,
}: S3Access): (url: URL, nowMs?: number) => Readonly<Record<string, string>> {
  const signed = `host;x-amz-content-sha256;x-amz-date${sessionToken === undefined ? '' : ';x-amz-security-token'}`;
  // derived of the secret for a day, one region and one service
  let key: { readonly date: string; readonly mac: (text: string) => string } | null = null;
  const macOf = (date: string): ((text: string) => string) => {
    if (key?.date !== date) {
      const bytes = [date, region, 's3', 'aws4_request'].reduce<Buffer>(
        (before, text) => createHmac('sha256', before).update(text).digest(),
        Buffer.from(`AWS4${secretAccessKey}`),
      );
      key = { date, mac: createMac(bytes) };
    }
    return key.mac;
  };
  let second = Number.NaN;
  let time = '';
  const token = sessionToken === undefined ? '' : `x-amz-security-token:${oneLine(sessionToken)}\n`;
  return (url, nowMs = Date.now()) => {
    if (second !== Math.floor(nowMs / 1000)) {
      second = Math.floor(nowMs / 1000);
      time = new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
    }
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const request = `GET\n${pathOf(url)}\n${queryOf(url)}\nhost:${url.host}\nx-amz-content-sha256:${payload}\nx-amz-date:${time}\n${token}\n${signed}\n${payload}`;
    const told = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256Of(request)}`;
    const signature = macOf(time.slice(0, 8))(told);
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

/** HMAC-SHA-256 (RFC 2104) in hex, by a key of at most a block: the objects of `createHmac` took longer than the sum. */
function createMac(key: Uint8Array): (text: string) => string {
  const padded = Buffer.alloc(blockBytes);
  padded.set(key);
  const inner = Buffer.alloc(blockBytes + longestText);
  inner.set(padded.map((byte) => byte ^ 0x36));
  const outer = Buffer.concat([padded.map((byte) => byte ^ 0x5c), Buffer.alloc(sumBytes)]);
  return (text) => {
    const length = Buffer.byteLength(text);
    if (length > longestText) throw new RangeError(`a text of ${length} bytes is none that is signed`);
    inner.write(text, blockBytes);
    outer.write(sha256Of(inner.subarray(0, blockBytes + length)), blockBytes, 'hex');
    return sha256Of(outer);
  };
}

/** a day, a short region, and a hash, with the separators between them */
const longestText = 1024;
/** sizes for SHA-256, in bytes */
const blockBytes = 64;
const sumBytes = 32;

/** Escapes the characters that addresses may contain unescaped but signatures may not (RFC 3986, 2.3: unreserved characters). */
function strict(encoded: string): string {
  return encoded.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function pathOf({ pathname }: URL): string {
  if (/^[\w.~/-]*$/.test(pathname)) return pathname;
  return strict(encodeURIComponent(decodeURIComponent(pathname)).replaceAll('%2F', '/'));
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
