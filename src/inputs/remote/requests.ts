/** Sends requests to the places of inputs: only to checked hosts, signed if the place requires it; redirects are checked again. */
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { CheckedHost, OutgoingHttp } from '../../ports/network.ts';
import { createQuickAnswers, type QuickAnswer } from '../../network/quick-answers.ts';
import { createHmac } from 'node:crypto';
import { sha256Of } from '../../storage/staging/durable-file.ts';

export interface RemoteRequestOptions {
  /** `by`: party that named the host; AppError `host_not_allowed` if it may not be reached */
  readonly check: (url: URL, by: 'request' | 'operator') => Promise<CheckedHost>;
  readonly http: OutgoingHttp;
  readonly signal: AbortSignal;
}

/** GET; the answer's body is the caller's to read or to cancel. Redirects are followed, each to a host that was checked. */
export type SendGet = (url: URL, headers?: Readonly<Record<string, string>>) => Promise<Response>;

export interface RemoteRequests {
  readonly get: SendGet;
  /**
   * Returns the result of `use` for a whole small file, in little time. Returns null if the quick way fails; `get` then reports the
   * reason. AppErrors of the check of the host.
   */
  readonly getSmall: <Used>(
    url: URL,
    maxBytes: number,
    use: (answer: QuickAnswer) => Used,
  ) => Promise<Used | null>;
}

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** silence of a server after which a connection is given up and resumed */
const idleTimeoutMs = 30_000;

/** Access data for a place, and the party that named its hosts. */
export interface PlaceAccess {
  readonly access: SourceAccess;
  readonly by: 'operator' | 'request';
}

/** One request, to be sent. */
interface Prepared {
  readonly checked: CheckedHost;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `given`: access data, whose secrets are sent only to their own host; null: nothing is sent. `bucket`: the bucket of a store, or a
 * container of Azure's.
 */
export function createRemoteRequests(
  { check, http, signal }: RemoteRequestOptions,
  given: PlaceAccess | null,
  bucket = '',
): RemoteRequests {
  const prepare = preparing(check, given, bucket);
  const quick = createQuickAnswers({ signal, idleTimeoutMs });
  const send = async (url: URL, headers: Readonly<Record<string, string>>): Promise<Response> => {
    const { checked, ...prepared } = await prepare(url);
    return http.send(checked, {
      method: 'GET',
      ...prepared,
      headers: { ...plainHeaders, ...headers, ...prepared.headers },
      idleTimeoutMs,
      signal,
    });
  };
  return {
    // a signature is for one host
    get: given?.access.kind === 's3' || given?.access.kind === 'az' ? sendOnce : followed(send),
    async getSmall(url, maxBytes, use) {
      const { checked, url: prepared, headers } = await prepare(url);
      return quick.get(checked, prepared, { ...plainHeaders, ...headers }, maxBytes, use);
    },
  };

  function sendOnce(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return send(url, headers);
  }
}

/** hosts that addresses without TLS may have, whatever resolves them */
const thisMachine = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

function followed(send: (url: URL, headers: Readonly<Record<string, string>>) => Promise<Response>): SendGet {
  return async (first, headers = {}) => {
    let url = first;
    for (let number = 0; ; number += 1) {
      const answer = await send(url, headers);
      const location = answer.headers.get('location');
      if (!redirects.has(answer.status) || location === null) return answer;
      await answer.body?.cancel();
      if (number === maxRedirects)
        throw new AppError('unprocessable_input', `${first.href}: too many redirects`);
      if (!URL.canParse(location, url.href))
        throw new AppError('unprocessable_input', `${first.href}: redirects to an invalid URL`);
      const next = new URL(location, url);
      next.hash = '';
      // without TLS only this machine is read, and only redirected from itself
      const isPlain =
        url.protocol === 'http:' && next.protocol === 'http:' && thisMachine.test(next.hostname);
      if (next.protocol !== 'https:' && !isPlain) {
        const port = next.port === '' && next.protocol === 'http:' ? '80' : next.port;
        const host = port === '' ? next.hostname : `${next.hostname}:${port}`;
        throw new AppError(
          'host_not_allowed',
          `${first.href}: redirects to ${host}, which may not be reached without TLS`,
        );
      }
      url = next;
    }
  };
}

/** requests bytes as stored, so that lengths count them */
const plainHeaders = { 'Accept-Encoding': 'identity' };

/** Returns a function that prepares requests in the form that a place requires. */
function preparing(
  check: RemoteRequestOptions['check'],
  given: PlaceAccess | null,
  bucket: string,
): (url: URL) => Promise<Prepared> {
  if (given?.access.kind === 's3') {
    const sign = createS3Signatures(given.access);
    return async (url) => ({ checked: await check(url, given.by), url, headers: sign(url) });
  }
  if (given?.access.kind === 'az') {
    const signed = createBlobSignatures(given.access, bucket);
    return async (url) => ({
      checked: await check(url, given.by),
      url: await signed(url),
      headers: { 'x-ms-version': '2021-12-02' },
    });
  }
  const access = given?.access.kind === 'https' ? given.access : undefined;
  return async (url) => {
    const isOwn = access !== undefined && url.host === access.host;
    const checked = await check(url, isOwn ? given!.by : 'request');
    return { checked, url, headers: isOwn ? authorization(access) : {} };
  };
}

function authorization({ token, user, password }: Extract<SourceAccess, { kind: 'https' }>): {
  readonly Authorization?: string;
} {
  if (token !== null) return { Authorization: `Bearer ${token}` };
  if (user === null) return {};
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

// Signatures of requests for objects of an S3-compatible store (AWS Signature Version 4), made at once: of a small object, most time
// went into waiting for them.

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

// Short-lived signatures that requests for blobs of an Azure storage account carry in their address.

/** validity of a signature, and the remaining validity at which the next is made */
const signatureMs = 3_600_000;
const restMs = 1_200_000;

/** Adds the signature to an address. It permits reading and listing that container, or also writing there, and nothing else. */
export function createBlobSignatures(
  access: Extract<SourceAccess, { kind: 'az' }>,
  container: string,
  use: 'read' | 'write' = 'read',
): (url: URL) => Promise<URL> {
  let made: { readonly query: string; readonly until: number } | null = null;
  return async (url) => {
    if (access.token === null && (made === null || made.until - Date.now() < restMs)) {
      const blob = await import('@azure/storage-blob');
      const until = Date.now() + signatureMs;
      const query = blob.generateBlobSASQueryParameters(
        {
          containerName: container,
          permissions: blob.ContainerSASPermissions.parse(use === 'read' ? 'rl' : 'rcwdl'),
          expiresOn: new Date(until),
        },
        new blob.StorageSharedKeyCredential(access.account, access.key ?? ''),
      );
      made = { query: query.toString(), until };
    }
    const signed = new URL(url);
    for (const [name, value] of new URLSearchParams(access.token ?? made!.query))
      signed.searchParams.set(name, value);
    return signed;
  };
}
