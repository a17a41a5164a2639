/** Folders of tables in buckets: those that a request names by their address, and those of the shared store of the service. */
import type { DecidingStore } from '../../ports/files/objects.ts';
import type { S3Transport } from '../../adapters/object-store/s3-requests.ts';
import { AppError } from '../../errors.ts';
import type { Target } from '../../jobs/request/target.ts';
import { checksOf, sourceFor, type Asker } from './remote-sources.ts';
import type { ToolSession } from './tool-session.ts';

/** silence of a store after which a request is given up */
const idleTimeoutMs = 30_000;

export interface BucketFolder {
  readonly objects: DecidingStore;
  /** `s3://BUCKET/PREFIX` */
  readonly location: string;
  /** before every key: '' or ending in '/' */
  readonly prefix: string;
}

/** AppErrors: `invalid_option` without credentials, `target_not_allowed` where jobs may not write, `host_not_allowed`. */
export async function openBucketFolder(
  session: Asker,
  { location, bucket, prefix }: Extract<Target, { kind: 'bucket' }>,
  use: 'read' | 'write',
): Promise<BucketFolder> {
  const { access, writable } = sourceFor(session, { kind: 's3', text: location })!;
  // no other kind has such a location
  if (access.kind !== 's3') throw new AppError('target_not_allowed', `${location}: is in no bucket`);
  if (use === 'write' && !session.byHand && writable !== true)
    throw new AppError('target_not_allowed', `${location}: svc.sources.NAME.writable is not set for it`);
  const { createS3ObjectStore } = await import('../../adapters/object-store/s3.ts');
  return {
    objects: createS3ObjectStore({ ...access, bucket }, await checkedTransport(session)),
    location,
    prefix,
  };
}

/** A folder of the shared store, by what `resolvePath` answers. */
export async function sharedFolder({ home }: ToolSession, resolved: string): Promise<BucketFolder> {
  const { objectStore } = home.config;
  // what resolves to such a place is in that store
  const { bucket, prefix: before } = objectStore!;
  const prefix = `${before}files/${resolved.replace(/^object:\/+/, '')}`;
  const { createS3ObjectStore } = await import('../../adapters/object-store/s3.ts');
  return {
    objects: createS3ObjectStore(objectStore!),
    location: `s3://${bucket}/${prefix}`,
    prefix: `${prefix}/`,
  };
}

/** Connections to the addresses that were checked, as for everything that jobs reach. */
async function checkedTransport(session: Asker): Promise<S3Transport> {
  const { createPinnedHttp } = await import('../../adapters/outgoing/checked-http.ts');
  const http = createPinnedHttp({ keepsConnections: true });
  const check = checksOf(session);
  return async (signed, body, signal) => {
    const url = new URL(signed.url);
    return http.send(await check(url, 'operator'), {
      method: signed.method,
      url,
      headers: { ...Object.fromEntries(signed.headers), 'Accept-Encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
      idleTimeoutMs,
      signal: AbortSignal.any([signal, session.interrupted]),
    });
  };
}
