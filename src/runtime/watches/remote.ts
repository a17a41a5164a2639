/** A bucket, a server or an address on the web as the location of a watch. */
import { createHash } from 'node:crypto';
import { smallBytes } from '../../inputs/remote/download.ts';
import { reached, openRemoteStore, type StoreAccess } from '../../inputs/remote/listing.ts';
import { createRemoteRequests, type RemoteRequests } from '../../inputs/remote/requests.ts';
import {
  type SftpPlace,
  folderOf,
  noSource,
  openSftpLocation,
  type PlaceOptions,
} from '../../inputs/sftp/place.ts';
import { checkAddress, type OutgoingGuard } from '../../service/access/outgoing-guard.ts';
import type { SourceConfig } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import {
  fileNameOf,
  keyPrefix,
  parseRemoteLocation,
  storeLocation,
  type RemoteLocation,
} from '../../service/files/remote-location.ts';
import { createLookBudget } from '../../inputs/walk-files.ts';
import { accessOfOrganisation, type AccessOptions } from '../../inputs/remote/source-fetch.ts';
import type { OutgoingHttp, WatchedLocation, WatchedPlace } from '../../ports/network.ts';
import type { ListedObject } from '../../ports/stores/watches.ts';
import { nameTest } from '../../service/watches/define.ts';
import type { FilePlace } from './look-place.ts';

export interface RemoteLocationOptions {
  /** hosts that requests name, and those of the operator's own sources */
  readonly guards: { readonly request: OutgoingGuard; readonly operator: OutgoingGuard };
  readonly http: OutgoingHttp;
  /** see `PlaceOptions` */
  readonly scratch: string;
}

/** Returns the place of a watch, with its access data. AppErrors `invalid_option`, and `path_not_allowed` if no source is set. */
export async function remotePlaceOf(
  adapters: AccessOptions['adapters'],
  sources: readonly SourceConfig[],
  place: WatchedPlace,
): Promise<FilePlace> {
  const { location, pattern } = place;
  const parsed = parseRemoteLocation(location);
  const access = await accessOfOrganisation({ adapters, sources }, place, parsed);
  return { kind: 'files', location, pattern, access };
}

/** AppErrors `path_not_allowed` if there are no access data, and those of the guards. */
export function openRemote(
  { guards, http, scratch }: RemoteLocationOptions,
  { location: text, pattern, access }: Omit<FilePlace, 'kind'>,
  signal: AbortSignal,
): WatchedLocation {
  const location = storeLocation(parseRemoteLocation(text), access?.access ?? null);
  const check = (url: URL, by: 'request' | 'operator') => checkAddress(guards[by], url);
  if (location.kind === 'sftp')
    return serverFolder(location, pattern, {
      check,
      access,
      signal,
      scratch,
      ownKeys: false,
    });
  const requests = createRemoteRequests(
    { check, http, signal },
    access,
    location.kind === 'http' ? undefined : location.bucket,
  );
  if (location.kind === 'http') return webFile(requests, location);
  if (access === null) throw noSource(text);
  const store = openRemoteStore(requests.get, access.access as StoreAccess, location.bucket);
  const prefix = keyPrefix(location);
  const accept = nameTest(pattern);
  return {
    fileSystem: store.urlOf('').href,
    async *objects() {
      for await (const { key, bytes, modified, version } of store.list(prefix, text)) {
        const name = key.slice(prefix.length);
        if (accept(name)) yield { name, version, bytes, modified: Number.isNaN(modified) ? null : modified };
      }
    },
    digest: async (object) =>
      (await digestOfSmall(requests, store.urlOf(prefix + object.name), object)) ??
      digestOf(requests, store.urlOf(prefix + object.name), object.name),
  };
}

/** Files below a folder of a server, on one connection, which ends when it has rested for a while. */
function serverFolder(
  location: Extract<RemoteLocation, { kind: 'sftp' }>,
  pattern: string | null,
  options: PlaceOptions,
): WatchedLocation {
  const folder = folderOf(location.path);
  const accept = nameTest(pattern);
  let opened: Promise<SftpPlace> | null = null;
  const open = (): Promise<SftpPlace> => (opened ??= openSftpLocation(location, options));
  return {
    fileSystem: null,
    async *objects() {
      const budget = createLookBudget();
      const enter = (): boolean => {
        budget();
        return true;
      };
      for await (const object of (await open()).list(folder === '' ? '.' : folder, enter)) {
        budget();
        const { key: name, bytes, modified, version } = object;
        if (accept(name)) yield { name, version, bytes, modified: Number.isNaN(modified) ? null : modified };
      }
    },
    async digest({ name, modified }) {
      const place = await open();
      let hash = createHash('sha256');
      const begin = (): void => void (hash = createHash('sha256'));
      const found = await place.read(folder + name, begin, (bytes) => hash.update(bytes));
      if (found === null) return null;
      const { version, bytes } = found;
      return { sha256: hash.digest('hex'), object: { name, version, bytes, modified } };
    },
  };
}

function webFile(
  requests: RemoteRequests,
  { url, text }: Extract<RemoteLocation, { kind: 'http' }>,
): WatchedLocation {
  const name = fileNameOf(url);
  return {
    fileSystem: null,
    async *objects() {
      const answer = await reached(name, 'reached', () => requests.get(url));
      await answer.body?.cancel();
      if (answer.status === 404 || answer.status === 410) return;
      if (!answer.ok) throw refused(answer.status);
      const object = objectOf(answer, name);
      if (object.version === '')
        throw new AppError(
          'unprocessable_input',
          `the server sends neither ETag nor Last-Modified for ${text}, so changes cannot be noticed`,
        );
      yield object;
    },
    digest: () => digestOf(requests, url, name),
  };
}

/** Returns null if the file is not small, or has changed since it was found. */
async function digestOfSmall(
  { getSmall }: RemoteRequests,
  url: URL,
  object: ListedObject,
): ReturnType<WatchedLocation['digest']> {
  if (object.bytes > smallBytes) return null;
  return getSmall(url, smallBytes, ({ version, bytes }) =>
    version !== object.version || bytes.byteLength !== object.bytes
      ? null
      : { sha256: createHash('sha256').update(bytes).digest('hex'), object },
  );
}

/** Hashes the whole file from one answer, whose version is that of every byte. */
async function digestOf(
  { get }: RemoteRequests,
  url: URL,
  name: string,
): Promise<Awaited<ReturnType<WatchedLocation['digest']>>> {
  const answer = await reached(name, 'reached', () => get(url));
  if (answer.status === 404 || answer.status === 410) {
    await answer.body?.cancel();
    return null;
  }
  if (!answer.ok) {
    await answer.body?.cancel();
    throw refused(answer.status);
  }
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      hash.update(chunk);
      bytes += chunk.byteLength;
    }
  } catch (error) {
    throw new AppError('service_unavailable', `${name} cannot be read now`, { cause: error });
  }
  const object = objectOf(answer, name);
  if (object.bytes !== bytes && answer.headers.has('content-length'))
    throw new AppError('service_unavailable', `${name}: only ${bytes} of its bytes arrived`);
  return { sha256: hash.digest('hex'), object: { ...object, bytes } };
}

/** `version` as `downloadFile` compares it; '' if the server reports none. */
function objectOf({ headers }: Response, name: string): ListedObject {
  const changed = headers.get('last-modified');
  const modified = changed === null ? Number.NaN : Date.parse(changed);
  return {
    name,
    version: headers.get('etag') ?? changed ?? '',
    bytes: Number(headers.get('content-length') ?? 0),
    modified: Number.isNaN(modified) ? null : modified,
  };
}

function refused(status: number): AppError {
  return status >= 500 || status === 429 || status === 408
    ? new AppError('service_unavailable', `it cannot be read now (status ${status})`)
    : new AppError('unprocessable_input', `it may not be read (status ${status})`);
}
