/** Object stores that inputs are fetched from: the names of a location's objects, and their addresses. */
import type { SourceAccess } from '../../config/shape.ts';
import { shortName } from '../../engine/hidden-characters.ts';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files.ts';
import type { SendGet } from './requests.ts';
import { blobsIn, faultCode, nextPage, objectsIn } from '../../storage/object-store/s3-requests.ts';
import { causeOf } from './download.ts';

export type StoreAccess = Extract<SourceAccess, { kind: 's3' | 'az' }>;

export interface RemoteStore {
  /**
   * Yields objects whose keys have the prefix, without those that represent folders. `label`: name of the place for the user. AppError
   * `input_not_found`, `unprocessable_input` or `service_unavailable`.
   */
  list(prefix: string, label: string): AsyncIterable<StoredObject>;
  urlOf(key: string): URL;
}

/** `bucket`: or container. */
export function openRemoteStore(send: SendGet, access: StoreAccess, bucket: string): RemoteStore {
  if (access.kind === 'az')
    return {
      list: (prefix, label) => checked(listContainer(send, access, bucket, prefix, label), prefix, label),
      urlOf: (key) => objectUrl(access.endpoint, bucket, key),
    };
  return {
    list: (prefix, label) => checked(listBucket(send, access.endpoint, bucket, prefix, label), prefix, label),
    urlOf: (key) => objectUrl(access.endpoint, bucket, key),
  };
}

/** characters; stores have keys of 1,024 at most */
const longestKey = 4096;

/**
 * Yields objects without folders: consoles of stores write a folder as a key that ends with a slash, Hadoop as one that ends with a
 * word. AppError `unprocessable_input` for keys that were not requested, or that no store has.
 */
async function* checked(
  objects: AsyncIterable<StoredObject>,
  prefix: string,
  label: string,
): AsyncIterable<StoredObject> {
  for await (const object of objects) {
    const { key } = object;
    if (key.length > longestKey)
      throw new AppError(
        'unprocessable_input',
        `${label}: the store lists a key of ${key.length} characters (${shortName(key)}); the longest allowed has ${longestKey}`,
      );
    if (!key.startsWith(prefix))
      throw new AppError(
        'unprocessable_input',
        `${label}: the store lists ${shortName(key)}, which is not below ${shortName(prefix)}; nothing was loaded`,
      );
    if (!key.endsWith('/') && !key.endsWith('_$folder$')) yield object;
  }
}

// Blobs of an Azure storage account: lists of containers.

type AzureAccess = Extract<SourceAccess, { kind: 'az' }>;

/**
 * Yields the blobs below a prefix, each with the version that a response with it would show. `label`: name of the place for the user.
 * AppErrors as in `listBucket`.
 */
async function* listContainer(
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
    if (!ok) throw refusedList(status, faultCode(text), label, inContainer);
    marker = nextPage(text, 'az', marker);
    yield* blobsIn(text);
  } while (marker !== null);
}

// Objects of a bucket below a prefix (ListObjectsV2).

/** Address of an object, or of the bucket for ''; buckets are named in the path. */
export function objectUrl(endpoint: string, bucket: string, key: string): URL {
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(bucket)}`;
  if (key === '') return new URL(base);
  const isPlain = /^[\w.~/-]+$/.test(key);
  return new URL(`${base}/${isPlain ? key : key.split('/').map(encodeURIComponent).join('/')}`);
}

/** `label`: the place as the person knows it. AppError `input_not_found`, `unprocessable_input` or `service_unavailable`. */
async function* listBucket(
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
    if (!ok) throw refusedList(status, faultCode(text), label, inBucket);
    token = nextPage(text, 's3', token);
    yield* objectsIn(text);
  } while (token !== null);
}

// Fetches a page of a list, or throws the reason why it cannot be read.

/** Words of a message about a kind of store. */
interface ListedStore {
  readonly name: string;
  /** the settings to check if the list is refused */
  readonly settings: string;
}

const inContainer: ListedStore = {
  name: 'container',
  settings: 'the account, the key and the endpoint of its credential',
};
const inBucket: ListedStore = {
  name: 'bucket',
  settings: 'the keys, the region and the endpoint of its source (svc.sources.NAME.*)',
};

/** `code`: the store's code of the fault, if its answer has one. `label`: the place as the person knows it. */
function refusedList(status: number, code: string | null, label: string, store: ListedStore): AppError {
  const why = code ?? `status ${status}`;
  if (status === 404)
    return new AppError('input_not_found', `${label}: there is no such ${store.name} (${why})`);
  if (status >= 500 || status === 429)
    return new AppError('service_unavailable', `${label}: cannot be listed now (${why})`);
  return new AppError('unprocessable_input', `${label}: may not be listed (${why}): check ${store.settings}`);
}

interface ListPage {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/**
 * `label`: name of the place for the user. AppError `service_unavailable` if no complete answer arrives, `unprocessable_input` for one
 * without end.
 */
async function listPage(send: SendGet, url: URL, label: string): Promise<ListPage> {
  return reached(label, 'listed', async () => {
    const answer = await send(url);
    return { ok: answer.ok, status: answer.status, text: await boundedText(answer, label) };
  });
}

/** A page names at most 5,000 files, each with its metadata. */
const longestPage = 64 * 1024 * 1024;

async function boundedText(answer: Response, label: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let total = 0;
  // leaving the loop ends the connection
  for await (const chunk of answer.body ?? []) {
    total += chunk.byteLength;
    if (total > longestPage)
      throw new AppError(
        'unprocessable_input',
        `${label}: the store sends a page of its list that is longer than ${longestPage} bytes`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** `label` and `what` describe the failed operation. AppError `service_unavailable` for faults of the network. */
export async function reached<T>(label: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || (error as Error).name === 'AbortError') throw error;
    throw new AppError('service_unavailable', `${label}: cannot be ${what} now (${causeOf(error)})`, {
      cause: error,
    });
  }
}
