/** Signed requests to an S3-compatible store, by its clock. */
import { AwsClient } from 'aws4fetch';
import { answered, inTime } from './answered.ts';

export interface S3Settings {
  /** `https://HOST[:PORT]`; buckets are named in the path */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3Request {
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
