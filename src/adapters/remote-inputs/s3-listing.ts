/** Objects of a bucket below a prefix (ListObjectsV2). */
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files/objects.ts';
import { faultCode, nextPage, objectsIn } from '../object-store/xml-answers.ts';
import { listPage } from './list-page.ts';
import type { SendGet } from './remote-requests.ts';

/** Address of an object, or of the bucket for ''; buckets are named in the path. */
export function objectUrl(endpoint: string, bucket: string, key: string): URL {
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;
  if (key === '') return new URL(base);
  const isPlain = /^[\w.~/-]+$/.test(key);
  return new URL(`${base}/${isPlain ? key : key.split('/').map(encodeURIComponent).join('/')}`);
}

/** `label`: the place as the person knows it. AppError `input_not_found`, `unprocessable_input` or `service_unavailable`. */
export async function* listBucket(
  send: SendGet,
  endpoint: string,
  bucket: string,
  prefix: string,
  label: string,
): AsyncIterable<StoredObject> {
  let token: string | null = null;
  do {
    const url = objectUrl(endpoint, bucket, '');
    url.searchParams.set('list-type', '2');
    url.searchParams.set('prefix', prefix);
    if (token !== null) url.searchParams.set('continuation-token', token);
    const { ok, status, text } = await listPage(send, url, label);
    if (!ok) throw refusedList(status, faultCode(text), label);
    token = nextPage(text, 's3', token);
    yield* objectsIn(text);
  } while (token !== null);
}

function refusedList(status: number, code: string | null, label: string): AppError {
  const why = code ?? `status ${status}`;
  if (status === 404) return new AppError('input_not_found', `${label}: there is no such bucket (${why})`);
  if (status >= 500 || status === 429)
    return new AppError('service_unavailable', `${label}: cannot be listed now (${why})`);
  return new AppError(
    'unprocessable_input',
    `${label}: may not be listed (${why}): look at the keys, the region and the endpoint of its source (svc.sources.NAME.*)`,
  );
}
