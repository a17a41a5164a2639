/** Requests to places that inputs are fetched from: to checked hosts alone, signed where the place wants it, redirects looked at again. */
import { AwsClient } from 'aws4fetch';
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import { createBlobSignatures } from './azure-signatures.ts';
import type { CheckedHost, OutgoingHttp } from '../../ports/network/outgoing.ts';

export interface RemoteRequestOptions {
  /** `by`: who named the host; AppError `host_not_allowed` where it may not be reached */
  readonly check: (url: URL, by: 'request' | 'operator') => Promise<CheckedHost>;
  readonly http: OutgoingHttp;
  readonly signal: AbortSignal;
}

/** GET; the answer's body is the caller's to read or to cancel. Redirects are followed, each to a host that was checked. */
export type SendGet = (url: URL, headers?: Readonly<Record<string, string>>) => Promise<Response>;

const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** silence of a server after which a connection is given up, to be taken up again */
const idleTimeoutMs = 30_000;

/** What a place is read with, and who named the hosts that it is for. */
export interface PlaceAccess {
  readonly access: SourceAccess;
  readonly by: 'operator' | 'request';
}

/** `given`: what is secret of it goes to its own host alone; null: nothing is sent. `bucket`: what is read of a store, a container of Azure's. */
export function createRemoteRequests(
  { check, http, signal }: RemoteRequestOptions,
  given: PlaceAccess | null,
  bucket = '',
): SendGet {
  if (given?.access.kind === 's3') return signedRequests(given.access, given.by, { check, http, signal });
  if (given?.access.kind === 'az')
    return blobRequests(createBlobSignatures(given.access, bucket), given.by, { check, http, signal });
  const access = given?.access.kind === 'https' ? given.access : undefined;
  return async (first, headers = {}) => {
    let url = first;
    for (let number = 0; ; number += 1) {
      const isOwn = access !== undefined && url.host === access.host;
      const checked = await check(url, isOwn ? given!.by : 'request');
      const answer = await http.send(checked, {
        method: 'GET',
        url,
        headers: {
          ...plainHeaders,
          ...headers,
          ...(isOwn ? authorization(access) : {}),
        },
        idleTimeoutMs,
        signal,
      });
      const location = answer.headers.get('location');
      if (!redirects.has(answer.status) || location === null) return answer;
      await answer.body?.cancel();
      if (number === mostRedirects)
        throw new AppError(
          'unprocessable_input',
          `${first.href}: leads from one address to the next without an end`,
        );
      if (!URL.canParse(location, url.href))
        throw new AppError('unprocessable_input', `${first.href}: leads to what is no address`);
      const next = new URL(location, url);
      next.hash = '';
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new AppError('host_not_allowed', `${first.href}: leads to an address without TLS`);
      url = next;
    }
  };
}

/** bytes as they lie there: a length counts them */
const plainHeaders = { 'Accept-Encoding': 'identity' };

function blobRequests(
  signed: (url: URL) => Promise<URL>,
  by: PlaceAccess['by'],
  { check, http, signal }: RemoteRequestOptions,
): SendGet {
  return async (url, headers = {}) =>
    http.send(await check(url, by), {
      method: 'GET',
      url: await signed(url),
      headers: { ...plainHeaders, 'x-ms-version': '2021-12-02', ...headers },
      idleTimeoutMs,
      signal,
    });
}

function authorization({ token, user, password }: Extract<SourceAccess, { kind: 'https' }>): {
  readonly Authorization?: string;
} {
  if (token !== null) return { Authorization: `Bearer ${token}` };
  if (user === null) return {};
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function signedRequests(
  { accessKeyId, secretAccessKey, sessionToken, region }: Extract<SourceAccess, { kind: 's3' }>,
  by: PlaceAccess['by'],
  { check, http, signal }: RemoteRequestOptions,
): SendGet {
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    region,
    service: 's3',
    retries: 0,
  });
  return async (url, headers = {}) => {
    const checked = await check(url, by);
    const signed = await client.sign(url.href, { method: 'GET', headers });
    return http.send(checked, {
      method: 'GET',
      url: new URL(signed.url),
      headers: { ...plainHeaders, ...Object.fromEntries(signed.headers) },
      idleTimeoutMs,
      signal,
    });
  };
}
