/** Blobs of an Azure storage account: lists of containers. */
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files/objects.ts';
import { blobsIn, faultCode, nextPage } from '../object-store/xml-answers.ts';
import { listPage } from './list-page.ts';
import type { SendGet } from './remote-requests.ts';
import { objectUrl } from './s3-listing.ts';

type AzureAccess = Extract<SourceAccess, { kind: 'az' }>;

/**
 * Yields the blobs below a prefix, each with the version that a response with it would show. `label`: name of the place for the user.
 * AppErrors as in `listBucket`.
 */
export async function* listContainer(
  send: SendGet,
  access: AzureAccess,
  container: string,
  prefix: string,
  label: string,
): AsyncIterable<StoredObject> {
  let marker: string | null = null;
  do {
    const url = objectUrl(access.endpoint, container, '');
    for (const [name, value] of [
      ['restype', 'container'],
      ['comp', 'list'],
      ['prefix', prefix],
      // the metadata show which blobs represent folders
      ['include', 'metadata'],
      ...(marker === null ? [] : [['marker', marker]]),
    ] as const)
      url.searchParams.set(name!, value!);
    const { ok, status, text } = await listPage(send, url, label);
    if (!ok) throw refusedList(status, faultCode(text), label);
    marker = nextPage(text, 'az', marker);
    yield* blobsIn(text);
  } while (marker !== null);
}

function refusedList(status: number, code: string | null, label: string): AppError {
  const why = code ?? `status ${status}`;
  if (status === 404) return new AppError('input_not_found', `${label}: there is no such container (${why})`);
  if (status >= 500 || status === 429)
    return new AppError('service_unavailable', `${label}: cannot be listed now (${why})`);
  return new AppError(
    'unprocessable_input',
    `${label}: may not be listed (${why}): look at the account, the key and the endpoint of its credential`,
  );
}
