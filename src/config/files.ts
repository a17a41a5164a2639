/** The settings `svc.files.*` of a store that several machines share. */
import type { ObjectStoreConfig } from './shape.ts';
import { parseHttpAddress } from './values.ts';

export const fileStoreProperties = [
  {
    name: 'svc.files.store',
    initial: '',
    meaning: 's3://BUCKET/PREFIX for files and logs that several machines share; empty: folders of the home',
  },
  {
    name: 'svc.files.s3_endpoint',
    initial: '',
    meaning: 'address of the S3-compatible store; empty: that of Amazon S3 in the region',
  },
  { name: 'svc.files.s3_region', initial: 'us-east-1', meaning: 'region of the bucket' },
  { name: 'svc.files.s3_access_key', initial: '', meaning: 'access key of the store' },
  { name: 'svc.files.s3_secret_key', initial: '', meaning: 'secret key of the store' },
] as const;

type FileStoreProperty = (typeof fileStoreProperties)[number]['name'];

/** Returns null if files are stored in folders. Faults are added to `complaints`. */
export function readObjectStore(
  read: <T>(name: FileStoreProperty, parse: (text: string) => T) => T,
  complaints: string[],
): ObjectStoreConfig | null {
  const store = read('svc.files.store', parseStore);
  const region = read('svc.files.s3_region', (text) => text);
  const endpoint = read('svc.files.s3_endpoint', parseHttpAddress);
  const accessKeyId = read('svc.files.s3_access_key', (text) => text);
  const secretAccessKey = read('svc.files.s3_secret_key', (text) => text);
  if (store === null) return null;
  if (accessKeyId === '' || secretAccessKey === '')
    complaints.push('svc.files.s3_access_key, svc.files.s3_secret_key: svc.files.store needs both');
  return {
    ...store,
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
  };
}

function parseStore(text: string): Pick<ObjectStoreConfig, 'bucket' | 'prefix'> | null {
  if (text === '') return null;
  const [, bucket = '', path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  if (bucket === '' || parts.some((part) => part === '.' || part === '..'))
    throw new Error('must be s3://BUCKET or s3://BUCKET/PREFIX');
  return { bucket, prefix: parts.length === 0 ? '' : `${parts.join('/')}/` };
}
