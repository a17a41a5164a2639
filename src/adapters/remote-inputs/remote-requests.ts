/** Sends requests to the places of inputs: only to checked hosts, signed if the place requires it; redirects are checked again. */
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { CheckedHost, OutgoingHttp } from '../../ports/network/outgoing.ts';
import { createQuickAnswers } from '../outgoing/quick-answers.ts';
import type { QuickAnswer } from '../outgoing/quick-connection.ts';
import { createBlobSignatures } from './azure-signatures.ts';
import { createS3Signatures } from './s3-signatures.ts';

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
    mostBytes: number,
    use: (answer: QuickAnswer) => Used,
  ) => Promise<Used | null>;
}

const mostRedirects = 5;
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
    async getSmall(url, mostBytes, use) {
      const { checked, url: prepared, headers } = await prepare(url);
      return quick.get(checked, prepared, { ...plainHeaders, ...headers }, mostBytes, use);
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
      if (number === mostRedirects)
        throw new AppError(
          'unprocessable_input',
          `${first.href}: leads from one address to the next without an end`,
        );
      if (!URL.canParse(location, url.href))
        throw new AppError('unprocessable_input', `${first.href}: leads to what is no address`);
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
          `${first.href}: leads away; ${host} may not be reached without TLS`,
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
