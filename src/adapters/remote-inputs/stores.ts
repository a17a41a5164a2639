/** Object stores that inputs are fetched from: the names of a location's objects, and their addresses. */
import type { SourceAccess } from '../../config/shape.ts';
import { shortName } from '../../engine/hidden-characters.ts';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files/objects.ts';
import { listContainer } from './azure-container.ts';
import type { SendGet } from './remote-requests.ts';
import { listBucket, objectUrl } from './s3-listing.ts';

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
        `${label}: the store lists a key of ${key.length} characters (${shortName(key)}); none is longer than ${longestKey}`,
      );
    if (!key.startsWith(prefix))
      throw new AppError(
        'unprocessable_input',
        `${label}: the store lists ${shortName(key)}, which does not lie below ${shortName(prefix)}; nothing was loaded`,
      );
    if (!key.endsWith('/') && !key.endsWith('_$folder$')) yield object;
  }
}
