/** Signed requests to an S3-compatible store, by its clock. */
import { AwsClient } from 'aws4fetch';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files.ts';

export interface S3Settings {
  /** `https://HOST[:PORT]`; buckets are named in the path */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** '' for the bucket itself */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** sent again when the first try fails, so never a stream */
  readonly body?: Uint8Array | string;
  /** statuses that the caller understands, beside those below 300 and 404 */
  readonly understood?: readonly number[];
}

/**
 * Returns responses below 300, 404, and those that are understood; the caller reads the body. AppError `service_unavailable` for all
 * others.
 */
export type SendS3 = (request: S3Request) => Promise<Response>;

/**
 * One signed request over the network. A redirect is returned unchanged: a signature is valid for one host, which only the operator
 * chooses.
 */
export type S3Transport = (
  signed: Request,
  body: Uint8Array | string | undefined,
  signal: AbortSignal,
) => Promise<Response>;

const byFetch: S3Transport = (signed, _, signal) => fetch(signed, { signal, redirect: 'manual' });

export function createS3Requests(settings: S3Settings, transport: S3Transport = byFetch): SendS3 {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, sessionToken } = settings;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    region,
    service: 's3',
    retries: 0,
  });
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;
  /** number of ms by which the store's clock is ahead of ours, known after it has refused a signature for that reason */
  let skewMs = 0;

  async function attempt({ method, key, query, headers, body }: S3Request): Promise<Response> {
    const url = new URL(key === '' ? base : `${base}/${key.split('/').map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const datetime = new Date(Date.now() + skewMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
    const signed = await client.sign(url.href, {
      method,
      ...(headers === undefined ? {} : { headers }),
      // An empty body is one, too: without it the request has no length
      ...(body === undefined ? {} : { body: body as BodyInit }),
      aws: { datetime },
    });
    return inTime((signal) => transport(signed, body, signal));
  }

  return async (request) =>
    answered(
      () => attempt(request),
      request.understood ?? [],
      (fault, answer) => {
        if (fault !== 'RequestTimeTooSkewed') return false;
        const theirs = Date.parse(answer.headers.get('date') ?? '');
        if (!Number.isNaN(theirs)) skewMs = theirs - Date.now();
        return true;
      },
    );
}

// Sends requests to object stores: retries them if that may help, and describes their faults in the service's own words.

const tries = 5;
const firstPauseMs = 200;
/** characters of an error's document */
const longestFault = 64 * 1024;
/** until the headers of an answer */
const answerMs = 60_000;

/** Returns the response to a request. The request's signal is aborted if no headers arrive in time. */
export async function inTime(ask: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), answerMs);
  try {
    return await ask(patience.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns responses below 300, 404, and those in `understood`; the caller reads the body. AppError `service_unavailable` for all
 * others. `mend`: returns true if the next try differs in the point for which this one was refused.
 */
export async function answered(
  attempt: () => Promise<Response>,
  understood: readonly number[],
  mend: (fault: string, answer: Response) => boolean = () => false,
): Promise<Response> {
  for (let number = 1; ; number += 1) {
    let answer: Response | null = null;
    let fault = 'no answer';
    try {
      answer = await attempt();
      if (answer.ok || answer.status === 404 || understood.includes(answer.status)) return answer;
      const text = await startOf(answer);
      fault = faultCode(text) ?? `status ${answer.status}`;
    } catch (error) {
      // a host that may not be reached, above all
      if (error instanceof AppError && error.code !== 'service_unavailable') throw error;
      fault = causeOf(error);
    }
    if (answer !== null && number < tries && mend(fault, answer)) continue;
    const passing = answer === null || answer.status >= 500 || answer.status === 429;
    if (!passing || number === tries) {
      throw new AppError('service_unavailable', `the object store cannot be used now (${fault})`);
    }
    await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** (number - 1)));
  }
}

/** Reads the start of an error response; the rest is ignored. */
async function startOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    // leaving the loop cancels the rest
    if (text.length > longestFault) break;
  }
  return text;
}

/** Returns the cause of a fault, because `fetch failed` says nothing. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof Error ? error.name : String(error);
}

// Parses the XML responses of object stores.

export function* objectsIn(text: string): Generator<StoredObject> {
  for (const entry of elementsIn(text, 'Contents')) {
    yield {
      key: elementIn(entry, 'Key') ?? '',
      bytes: Number(elementIn(entry, 'Size')),
      modified: Date.parse(elementIn(entry, 'LastModified') ?? ''),
      version: elementIn(entry, 'ETag') ?? '',
    };
  }
}

/**
 * Yields the blobs in a list of an Azure container, without those that represent folders: accounts with real folders have them, and
 * Hadoop writes them.
 */
export function* blobsIn(text: string): Generator<StoredObject> {
  for (const entry of elementsIn(text, 'Blob')) {
    if (standsForFolder(entry)) continue;
    const key = elementIn(entry, 'Name') ?? '';
    yield {
      // names that XML cannot hold
      key: /<Name\s+Encoded="true"/.test(entry) ? decodeURIComponent(key) : key,
      bytes: Number(elementIn(entry, 'Content-Length')),
      modified: Date.parse(elementIn(entry, 'Last-Modified') ?? ''),
      // a list leaves out the quotes that headers have
      version: `"${(elementIn(entry, 'Etag') ?? '').replaceAll('"', '')}"`,
    };
  }
}

function standsForFolder(blob: string): boolean {
  return elementIn(blob, 'ResourceType') === 'directory' || /<hdi_isfolder>true</i.test(blob);
}

/**
 * Returns the marker that requests the next page of a list, or null if this page is the last. `before`: the marker of this page.
 * AppError `service_unavailable` if the text is not a complete list, or if the list never ends: files would be missing if it were
 * accepted.
 */
export function nextPage(text: string, kind: 's3' | 'az', before: string | null): string | null {
  const [root, name] =
    kind === 's3' ? ['ListBucketResult', 'NextContinuationToken'] : ['EnumerationResults', 'NextMarker'];
  if (!text.trimEnd().endsWith(`</${root}>`))
    throw noList('answers a list request with an invalid or incomplete list');
  const next = elementIn(text, name!) || null;
  const goesOn = kind === 's3' ? elementIn(text, 'IsTruncated') : null;
  // a store that leaves the one word out says by the other that there is more
  if (kind === 's3' && goesOn !== 'true' && (goesOn !== null || next === null)) return null;
  if (kind === 's3' && next === null)
    throw noList('says that its list continues, but gives no continuation token');
  if (next !== null && next === before) throw noList('answers the same page of its list again and again');
  return next;
}

function noList(what: string): AppError {
  return new AppError(
    'service_unavailable',
    `the store ${what}: check its endpoint and any proxy in front of it`,
  );
}

/** Returns the text of the first element with that name: the answers of a store are flat, in a known form. */
export function elementIn(text: string, name: string): string | null {
  const begin = `<${name}`;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
    const next = text[at + begin.length];
    if (next !== '>' && !/\s/.test(next ?? '')) continue;
    const from = text.indexOf('>', at) + 1;
    const to = text.indexOf('<', from);
    if (from > 0 && to >= 0 && text.startsWith(`</${name}>`, to)) return unescaped(text.slice(from, to));
  }
  return null;
}

/** Yields the content of each element with that name. Such elements are never nested. */
function* elementsIn(text: string, name: string): Generator<string> {
  const [begin, end] = [`<${name}>`, `</${name}>`];
  for (let at = text.indexOf(begin); at >= 0;) {
    const to = text.indexOf(end, at);
    if (to < 0) return;
    yield text.slice(at + begin.length, to);
    at = text.indexOf(begin, to);
  }
}

/** Returns the code in an error document, or null if there is none or it is not a plain word: some servers repeat the request there. */
export function faultCode(text: string): string | null {
  const code = elementIn(text, 'Code');
  return code !== null && /^[\w.-]{1,64}$/.test(code) ? code : null;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  // an ETag of each object has two
  const unquoted = text.replaceAll('&quot;', '"');
  if (!unquoted.includes('&')) return unquoted;
  return unquoted.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return entities[name as string] ?? whole;
    },
  );
}
