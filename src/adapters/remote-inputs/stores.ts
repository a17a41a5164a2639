/** Stores of objects that inputs are fetched from: what a location's objects are called, and where each is asked for. */
import type { SourceAccess } from '../../config/shape.ts';
import type { StoredObject } from '../../ports/files/objects.ts';
import { listContainer } from './azure-container.ts';
import type { SendGet } from './remote-requests.ts';
import { listBucket, objectUrl } from './s3-listing.ts';

export type StoreAccess = Extract<SourceAccess, { kind: 's3' | 'az' }>;

export interface RemoteStore {
  /** Objects whose keys begin so, without those that stand for folders. `label`: the place as the person knows it. AppError `input_not_found`, `unprocessable_input` or `service_unavailable`. */
  list(prefix: string, label: string): AsyncIterable<StoredObject>;
  urlOf(key: string): URL;
}

/** `bucket`: or container. */
export function openRemoteStore(send: SendGet, access: StoreAccess, bucket: string): RemoteStore {
  if (access.kind === 'az')
    return {
      list: (prefix, label) => withoutFolders(listContainer(send, access, bucket, prefix, label)),
      urlOf: (key) => objectUrl(access.endpoint, bucket, key),
    };
  return {
    list: (prefix, label) => withoutFolders(listBucket(send, access.endpoint, bucket, prefix, label)),
    urlOf: (key) => objectUrl(access.endpoint, bucket, key),
  };
}

/** Consoles of stores write a folder as a key that ends with a slash, Hadoop as one that ends with a word. */
async function* withoutFolders(objects: AsyncIterable<StoredObject>): AsyncIterable<StoredObject> {
  for await (const object of objects)
    if (!object.key.endsWith('/') && !object.key.endsWith('_$folder$')) yield object;
}
