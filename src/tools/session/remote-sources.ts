/** The operator's places for inputs and targets, and how a job reaches them. */
import { checkAddress, createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createHostResolver } from '../../network/checked-http.ts';
import type { PlaceAccess } from '../../inputs/remote/requests.ts';
import type { SourceConfig } from '../../config/shape.ts';
import { readAccess } from '../../config/source-access.ts';
import type { FileReader } from '../../ports/files.ts';
import type { CheckedHost } from '../../ports/network.ts';
import { AppError } from '../../errors.ts';
import { credentialMisfit } from '../../service/files/credentials.ts';
import { sourceAt, type RemoteLocation } from '../../service/files/remote-location.ts';
import { noSource } from '../../inputs/sftp/place.ts';
import type { ToolSession } from './tool-session.ts';
import { createReadStream, statfsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { fetchFiles } from '../../storage/local/file-store.ts';
import { matchedLength, type PathPattern } from '../../service/files/path-pattern.ts';
import { jobFolder } from '../../runtime/open-installation.ts';
import { createLookBudget } from '../../inputs/walk-files.ts';

/** `by`: party that named the host. AppError `host_not_allowed` if it may not be reached. */
type CheckHost = (url: URL, by: 'request' | 'operator') => Promise<CheckedHost>;

/** The party that requests access: a job, or a person. */
export type Asker = Pick<ToolSession, 'byHand' | 'idOrg' | 'interrupted'> & {
  readonly home: { readonly config: Pick<ToolSession['home']['config'], 'allowedHosts' | 'sources'> };
};

export function checksOf({
  home,
  byHand,
}: Pick<Asker, 'byHand'> & {
  readonly home: { readonly config: Pick<Asker['home']['config'], 'allowedHosts'> };
}): CheckHost {
  const resolver = createHostResolver();
  // no list restricts a person, nor the places that the operator names
  const free = createOutgoingGuard(['*'], resolver);
  const guard = byHand ? free : createOutgoingGuard(home.config.allowedHosts, resolver);
  // looked up once a run: its connections are used again
  const checked = new Map<string, Promise<CheckedHost>>();
  return (url, by) => {
    const key = `${by} ${url.protocol}//${url.host}`;
    let found = checked.get(key);
    if (found === undefined) checked.set(key, (found = checkAddress(by === 'operator' ? free : guard, url)));
    return found;
  };
}

/** AppError `invalid_option` for an object of a store that no source is set for; a person's are those of the AWS variables, too. */
export function sourceFor(
  { home, byHand, idOrg }: Asker,
  location: { readonly kind: RemoteLocation['kind']; readonly text: string },
): SourceConfig | undefined {
  const found = sourceAt(home.config.sources ?? [], location.text, byHand ? null : idOrg);
  if (found !== undefined || location.kind === 'http') return found;
  if (location.kind === 'sftp') {
    // a person has keys and known hosts of their own
    if (byHand) return undefined;
    throw noSource(location.text);
  }
  const own = byHand ? environmentSources[location.kind](process.env) : undefined;
  if (own !== undefined) return own;
  const hint = hints[location.kind];
  throw new AppError(
    'invalid_option',
    `${location.text}: no source is set for it: svc.sources.NAME.location, .access_key and .secret_key, ${hint.places}; or, for inputs, --credential NAME${byHand ? `; or ${hint.variables}` : ''}`,
  );
}

const hints = {
  s3: {
    places: 'with .endpoint and .region if it is not Amazon’s',
    variables: 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  },
  az: {
    places: 'here the name of the account and its key, with .endpoint if it is not at Azure',
    variables: 'AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY',
  },
} as const;

/**
 * Returns the access data for an input, or null for none. AppErrors of `sourceFor`, and `invalid_option` if the credential that
 * `--credential` names does not exist or is for another place.
 */
export async function accessFor(session: ToolSession, location: RemoteLocation): Promise<PlaceAccess | null> {
  const named = await session.credential();
  if (named !== null) {
    const misfit = credentialMisfit(named, location);
    if (misfit !== null) throw new AppError('invalid_option', misfit);
    return named;
  }
  const found = sourceFor(session, location);
  return found === undefined ? null : { access: found.access, by: 'operator' };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that other programs for these stores take. */
const environmentSources = { s3: s3OfEnvironment, az: azureOfEnvironment } as const;

function azureOfEnvironment(environment: Environment): SourceConfig | undefined {
  const {
    AZURE_STORAGE_ACCOUNT: account,
    AZURE_STORAGE_KEY: key,
    AZURE_STORAGE_SAS_TOKEN: token,
    AZURE_STORAGE_SERVICE_ENDPOINT: endpoint,
  } = environment;
  if (account === undefined || (key ?? token) === undefined) return undefined;
  const texts = {
    access_key: account,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(key === undefined ? { token: token! } : { secret_key: key }),
  };
  try {
    return { name: 'environment', location: 'az://', organisations: null, access: readAccess('az', texts) };
  } catch (error) {
    throw new AppError('invalid_option', `AZURE_STORAGE_…: ${(error as Error).message}`, { cause: error });
  }
}

function s3OfEnvironment(environment: Environment): SourceConfig | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const region = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const sessionToken = environment['AWS_SESSION_TOKEN'];
  return {
    name: 'environment',
    location: 's3://',
    organisations: null,
    access: {
      kind: 's3',
      endpoint:
        environment['AWS_ENDPOINT_URL_S3'] ??
        environment['AWS_ENDPOINT_URL'] ??
        `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
  };
}

// Downloads and uploads inputs and outputs of a job whose files are in a remote store.

/** Whether a location is no path of this machine. */
export function isRemote(location: string): boolean {
  return location.startsWith('object:');
}

/** A folder of this job on this machine; its worker removes it. */
export function localFolder(session: ToolSession, name: string): string {
  return join(jobFolder(session.home.home, session.idJob), name);
}

/** Returns paths of local copies of these locations; paths of this machine stay as they are. */
export async function localCopies(
  session: ToolSession,
  locations: readonly string[],
  folder = 'in',
): Promise<string[]> {
  const { adapters, config, home } = session.home;
  const room = createFetchRoom({ directory: home.directory, maxBytes: config.limits.diskBytes });
  const files: FileReader = {
    listFiles: (location, scan) => adapters.files.listFiles(location, scan),
    async read(location, range) {
      const body = await adapters.files.read(location, range);
      return body === null ? null : body.pipeThrough(counting(room));
    },
  };
  const paths: string[] = [];
  for (const [at, location] of locations.entries())
    paths.push(
      isRemote(location)
        ? await fetchFiles(files, location, localFolder(session, `${folder}/${at}`))
        : location,
    );
  return paths;
}

/** Passes bytes on, and calls `count` with their number. */
function counting(count: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
}

// The room that the inputs of a job may take on this machine while they are fetched: a server may send for ever, and all organisations
// share the disk.

/** bytes between two looks at the disk */
const everyBytes = 64 * 1024 * 1024;
/** Space that stays free: the metadata database may be on the same disk. */
const leastFree = 1024 ** 3;
const leastFreePart = 0.05;

export interface FetchRoom {
  /** folder on the file system that files are fetched to */
  readonly directory: string;
  /** `svc.limits.disk`; `Number.MAX_SAFE_INTEGER`: no limit */
  readonly maxBytes: number;
  /** bytes of the file system that are free, and that it has */
  readonly room?: (directory: string) => { readonly free: number; readonly all: number };
}

/**
 * Returns a function to call with the number of received bytes. It throws AppErrors: `unprocessable_input` past the limit,
 * `service_unavailable` if the disk is nearly full.
 */
export function createFetchRoom({ directory, maxBytes, room = roomOf }: FetchRoom): (count: number) => void {
  let bytes = 0;
  let next = everyBytes;
  return (count) => {
    bytes += count;
    if (bytes > maxBytes)
      throw new AppError(
        'unprocessable_input',
        `the remote inputs have more than ${maxBytes} bytes (svc.limits.disk): load them in several jobs`,
      );
    if (bytes < next) return;
    next = bytes + everyBytes;
    const { free, all } = room(directory);
    const least = Math.max(leastFree, all * leastFreePart);
    if (free < least)
      throw new AppError(
        'service_unavailable',
        `after ${bytes} bytes of remote inputs, the disk of the service has only ${free} bytes left, of which ${Math.round(least)} must stay free: load them in several jobs, or make room`,
      );
  };
}

function roomOf(directory: string): { readonly free: number; readonly all: number } {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { free: bavail * bsize, all: blocks * bsize };
}

/** Returns locations of the files and folders below a folder that match a pattern; none if nothing matches. */
export async function matching(
  session: ToolSession,
  folder: string,
  pattern: PathPattern,
): Promise<string[]> {
  const found = new Set<string>();
  const budget = createLookBudget();
  for await (const { name, location } of session.home.adapters.files.listFiles(folder)) {
    budget();
    const matched = matchedLength(pattern, name);
    if (matched !== null) found.add(location.slice(0, location.length - name.length + matched));
  }
  return [...found];
}

/** Whether a folder elsewhere holds any file. */
export async function isEmptyRemoteFolder(session: ToolSession, location: string): Promise<boolean> {
  for await (const _ of session.home.adapters.files.listFiles(location)) return false;
  return true;
}

/** Uploads all files of a local folder to a location. `refuse`: AppError `conflict` if one exists there. */
export async function uploadFolder(
  session: ToolSession,
  directory: string,
  location: string,
  existing: 'refuse' | 'replace',
): Promise<void> {
  const { files } = session.home.adapters;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  if (existing === 'refuse') {
    const wanted = new Set(names);
    for await (const { name } of files.listFiles(location))
      if (wanted.has(name)) throw new AppError('conflict', `${name} already exists in the folder`);
  }
  for (const name of names) {
    const body = Readable.toWeb(createReadStream(join(directory, name)));
    await files.write(`${location}/${name}`, body as unknown as ReadableStream<Uint8Array>);
  }
}
