/** Folders of tables in buckets that a request names by their address. */
import type { BucketFolder } from '../../ports/files.ts';
import type { S3Transport } from '../../storage/object-store/s3-requests.ts';
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import { checksOf, sourceFor, type Asker } from '../session/remote-sources.ts';

/** silence of a store after which a request is given up */
const idleTimeoutMs = 30_000;

type SendChecked = (
  request: {
    readonly method: string;
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Uint8Array | string | undefined;
  },
  signal: AbortSignal,
) => Promise<Response>;

/** AppErrors: `invalid_option` without credentials, `target_not_allowed` if jobs may not write, `host_not_allowed`. */
export async function openBucketFolder(
  session: Asker,
  { store, location, bucket, prefix }: Extract<Target, { kind: 'bucket' }>,
  use: 'read' | 'write',
): Promise<BucketFolder> {
  const { access, writable } = sourceFor(session, { kind: store, text: location })!;
  // no other kind has such a location
  if (access.kind !== store) throw new AppError('target_not_allowed', `${location}: is not in a bucket`);
  if (use === 'write' && !session.byHand && writable !== true)
    throw new AppError('target_not_allowed', `${location}: svc.sources.NAME.writable is not set for it`);
  const send = await checkedRequests(session, 'operator');
  if (access.kind === 'az') {
    const { createAzureObjectStore } = await import('../../storage/object-store/azure.ts');
    const { createBlobSignatures } = await import('../../inputs/remote/requests.ts');
    const sign = createBlobSignatures(access, bucket, use);
    return {
      objects: createAzureObjectStore(
        { endpoint: access.endpoint, container: bucket },
        async ({ url, ...request }, signal) => send({ ...request, url: await sign(url) }, signal),
      ),
      location: `abfss://${bucket}@${dataLakeHost(access)}/${prefix}`.slice(0, -1),
      prefix,
    };
  }
  const { createS3ObjectStore } = await import('../../storage/object-store/s3.ts');
  return {
    objects: createS3ObjectStore({ ...access, bucket }, s3Transport(send)),
    location,
    prefix,
  };
}

/** Tables of an account are read by its Data Lake name, whatever its blobs are called. */
function dataLakeHost({ endpoint, account }: Extract<SourceAccess, { kind: 'az' }>): string {
  const suffix = /^[^.]+\.blob\.(.+)$/.exec(new URL(endpoint).hostname)?.[1] ?? 'core.windows.net';
  return `${account}.dfs.${suffix}`;
}

/** Requests that are signed for a store, sent so. */
export function s3Transport(send: SendChecked): S3Transport {
  return (signed, body, signal) => {
    const { method } = signed;
    const headers = Object.fromEntries(signed.headers);
    return send({ method, url: new URL(signed.url), headers, body }, signal);
  };
}

/** Connections to the addresses that were checked, as for everything that jobs reach. `by`: who named the host. */
export async function checkedRequests(session: Asker, by: 'operator' | 'request'): Promise<SendChecked> {
  const { createPinnedHttp } = await import('../../network/checked-http.ts');
  const http = createPinnedHttp({ keepsConnections: true });
  const check = checksOf(session);
  return async ({ method, url, headers, body }, signal) =>
    http.send(await check(url, by), {
      method,
      url,
      headers: { ...headers, 'Accept-Encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
      idleTimeoutMs,
      signal: AbortSignal.any([signal, session.interrupted]),
    });
}
