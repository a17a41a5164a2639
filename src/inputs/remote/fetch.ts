/** Fetches files from buckets, servers and the web to a folder of this machine. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, sep, posix } from 'node:path';
import { isChange } from '../../storage/staging/staged-files.ts';
import { createPinnedHttp } from '../../network/checked-http.ts';
import { downloadFile, smallBytes, type DownloadOptions, lookAt } from './download.ts';
import { createRemoteRequests } from './requests.ts';
import { openRemoteStore, type RemoteStore, type StoreAccess } from './listing.ts';
import {
  type SftpPlace,
  accessElsewhere,
  folderOf,
  noSource,
  openSftpLocation,
  sftpLabel,
  type PlaceOptions,
} from '../sftp/place.ts';
import { shortName } from '../../engine/hidden-characters.ts';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files.ts';
import { matchedLength, parsePathPattern } from '../../service/files/path-pattern.ts';
import {
  fileNameOf,
  keyPrefix,
  parseRemoteLocation,
  storeLocation,
  type RemoteLocation,
} from '../../service/files/remote-location.ts';
import { isXsdName } from '../../service/jobs/xsd-inputs.ts';
import type { WatchedFiles } from '../../service/jobs/request/shape.ts';
import { archiveKind, headBytes } from '../archives/kinds.ts';
import { isMisnamed, mayBeMisnamed } from '../open-file.ts';
import { createLookBudget } from '../walk-files.ts';
import { changedFile } from '../changed-file.ts';
import { openDescribed } from './read-place.ts';
import { fixedLimits } from '../../config/limits.ts';
import { createReferenceReader, isRelativeLocation } from '../xsd-files.ts';
import { documentTest } from '../document-names.ts';
import type { FileSpool } from '../file-spool.ts';

/** files downloaded at the same time from one place, and the larger number for small files, whose time is mostly network latency */
const atOnce = 16;
const smallAtOnce = 64;

interface FetchOptions extends BringingOptions {
  /** called with the number of bytes as they arrive; an exception ends the fetch */
  readonly onBytes: (count: number) => void;
  /** the files below the location that are wanted, in the listed version; null: all files that the location leads to */
  readonly wanted: WatchedFiles['files'] | null;
  /** the location, if its documents stay there, and the spool records their places; absent: all are fetched */
  readonly leaves?: string;
}

interface FetchedFiles {
  /** paths of the files and folders that the location leads to, as on this machine */
  readonly paths: string[];
  /** the files that were fetched singly, without their neighbours at the place */
  readonly alone: readonly string[];
  readonly files: number;
  /** number of the files that stay at their place */
  readonly left: number;
}

/** AppErrors of `downloadFile`, `RemoteStore` and `SftpPlace`. */
export async function fetchLocation(parsed: RemoteLocation, options: FetchOptions): Promise<FetchedFiles> {
  const { access, directory, wanted, signal, onBytes } = options;
  const location = storeLocation(parsed, access?.access ?? null);
  const { text } = location;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (location.kind === 'sftp') {
    const place = await openSftpLocation(location, options);
    try {
      const folder = folderOf(location.path);
      return await bring(
        options,
        location,
        keyedSchemas,
        wanted === null
          ? await withoutMisnamed(place, options, await filesAt(place, location, wantedNames(options)))
          : named(folder, wanted),
        (file, to) =>
          place.download(file.key, to, {
            ...file,
            signal,
            onBytes,
            label: sftpLabel(location, file.key),
          }),
      );
    } finally {
      place.close();
    }
  }
  const http = createPinnedHttp({ keepsConnections: true });
  if (location.kind === 'http') {
    const requests = createRemoteRequests({ ...options, http }, access);
    const name = fileNameOf(location.url);
    const { href } = location.url;
    const file = {
      key: href,
      name,
      matched: name,
      ...(options.leaves === undefined ? {} : await lookAt(requests, location.url)),
      ...(wanted === null ? {} : { version: wanted[0]!.version }),
    };
    return bring(options, location, addressedSchemas, [file], (one, to) =>
      downloadFile(requests, new URL(one.key), to, {
        ...one,
        signal,
        onBytes,
        label: one.key === href ? text : one.key,
      }),
    );
  }
  if (access === null) throw noSource(text);
  const { bucket } = location;
  const requests = createRemoteRequests({ ...options, http }, access, bucket);
  const store = openRemoteStore(requests.get, access.access as StoreAccess, bucket);
  const found =
    wanted === null
      ? await objectsAt(store, location, wantedNames(options))
      : named(keyPrefix(location), wanted);
  return bring(options, location, keyedSchemas, found, (one, to) =>
    downloadFile(requests, store.urlOf(one.key), to, {
      ...one,
      signal,
      onBytes,
      label: `${location.kind}://${bucket}/${one.key}`,
    }),
  );
}

/** Files below a prefix, each of one version alone. */
function named(prefix: string, wanted: WatchedFiles['files']): FoundObject[] {
  return wanted.map(({ name, version, bytes }) => ({
    key: prefix + name,
    name,
    matched: name,
    version,
    ...(bytes === undefined ? {} : { bytes }),
  }));
}

type OneDownload = Pick<FoundObject, 'key' | 'version' | 'bytes'> & Pick<DownloadOptions, 'take'>;

async function bring(
  options: FetchOptions,
  location: RemoteLocation,
  schemas: Pick<SchemaPlace, 'resolve' | 'nameOf'>,
  listed: readonly FoundObject[],
  download: (file: OneDownload, to: string) => Promise<number>,
): Promise<FetchedFiles> {
  const { directory, wanted, spool: given, follows = false } = options;
  for (const { name, key } of listed) for (const part of name.split('/')) plainName(part, key);
  const found = given === null ? listed : await withoutOthers(options, location, given, listed);
  // a folder or prefix is a set by itself
  if (follows !== false && found.every(({ name, matched }) => isXsdName(name) && matched === name)) {
    const place = {
      resolve: schemas.resolve,
      nameOf(key: string): string {
        const name = schemas.nameOf(key);
        for (const part of name.split('/')) plainName(part, key);
        return name;
      },
      download: (key: string, to: string) => download(found.find((one) => one.key === key) ?? { key }, to),
    };
    const keys = found.map(({ key }) => key);
    return { ...(await followSchemas(place, keys, directory, follows)), alone: [], left: 0 };
  }
  for (const one of new Set(listed.map(({ name }) => dirname(name))))
    await mkdir(join(directory, one), { recursive: true, mode: 0o700 });
  // catalogs of XSD sets, and DTDs, are looked for among files
  const spool = found.some(({ name }) => isXsdName(name) || archiveKind(name) !== null || isPartName(name))
    ? null
    : given;
  const bringAll = (files: readonly FoundObject[], times: number): Promise<unknown> => {
    const waiting = files.values();
    const worker = async (): Promise<void> => {
      for (const { name, matched: _, ...one } of waiting) {
        const to = directory + sep + name;
        const file = spool === null ? one : { ...one, take: (bytes: Uint8Array) => spool.take(to, bytes) };
        await download(file, to).catch(ofWatch(wanted === null ? undefined : name));
      }
    };
    return Promise.all(Array.from({ length: times }, worker));
  };
  const left = new Set(await leaveDocuments(options, found));
  const [small, others] = [true, false].map((is) =>
    found.filter((one) => !left.has(one) && isSmall(one) === is),
  );
  await Promise.all([bringAll(small!, smallAtOnce), bringAll(others!, atOnce)]);
  spool?.end();
  const matches = [...new Set(listed.map(({ matched }) => matched))];
  return {
    paths: matches.map((matched) => join(directory, matched)),
    alone: listed.filter(({ name, matched }) => name === matched).map(({ name }) => join(directory, name)),
    files: found.length,
    left: left.size,
  };
}

/**
 * Returns the files that can stay at their place: the place is read by ranges, the version of the file is known, and the file is one
 * document according to its name.
 */
async function leaveDocuments(
  { access: given, directory, leaves, spool, ...reading }: FetchOptions,
  found: readonly FoundObject[],
): Promise<readonly FoundObject[]> {
  // XSD sets are read as a whole, and so are documents beside them
  if (leaves === undefined || spool === null) return [];
  // and so are those that have a DTD beside them
  if (found.some(({ name }) => isXsdName(name) || isPartName(name))) return [];
  const isSftp = parseRemoteLocation(leaves).kind === 'sftp';
  const access = isSftp ? await accessElsewhere(given) : given;
  if (isSftp && access === null) return [];
  const left: FoundObject[] = [];
  const leave = spool.leaveAt(openDescribed({ location: leaves, access }, reading));
  for (const one of found) {
    const { key, name, bytes, version = one.listed ?? '' } = one;
    const kind = archiveKind(name);
    // a file with another name is identified by its bytes after it was fetched
    if (!/\.xml(?:\.gz)?$/i.test(name)) continue;
    if (bytes === undefined || version === '' || (kind !== null && kind !== 'gz')) continue;
    leave(directory + sep + name, { key, version, bytes });
    left.push(one);
  }
  return left;
}

/**
 * Returns an error handler for a file that a watch noticed: if the file was changed or removed since, the error reports that to the watch.
 */
function ofWatch(name: string | undefined) {
  return (error: unknown): never => {
    const isGone = error instanceof AppError && error.code === 'input_not_found';
    throw name !== undefined && (isGone || isChange(error)) ? changedFile(name) : error;
  };
}

function isSmall({ bytes = Infinity }: FoundObject): boolean {
  return bytes <= smallBytes;
}

/**
 * Returns the object itself, whatever its name; otherwise the objects below the prefix, or those that match the pattern, with names of
 * documents, schemas or archives.
 */
async function objectsAt(
  store: RemoteStore,
  { key, text }: Extract<RemoteLocation, { kind: 's3' | 'az' }>,
  isWanted: (name: string) => boolean,
): Promise<readonly FoundObject[]> {
  const pattern = parsePathPattern(key);
  const isFolder = key === '' || key.endsWith('/');
  const above = pattern === null ? key : pattern.folder === '.' ? '' : `${pattern.folder}/`;
  const prefix = isFolder || pattern !== null ? above : key;
  const budget = createLookBudget();
  const found: FoundObject[] = [];
  for await (const object of store.list(prefix, text)) {
    if (object.key === key && !isFolder) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      return [{ key, name, matched: name, ...factsOf(object) }];
    }
    const below =
      pattern !== null || isFolder
        ? object.key.slice(prefix.length)
        : object.key.startsWith(`${key}/`)
          ? object.key.slice(key.length + 1)
          : '';
    if (below === '' || below.endsWith('/')) continue;
    const length = pattern === null ? 0 : matchedLength(pattern, below);
    if (length !== below.length && !isWanted(below)) continue;
    budget();
    if (length !== null)
      found.push({ key: object.key, name: below, matched: below.slice(0, length), ...factsOf(object) });
  }
  return requireSome(text, found);
}

function factsOf({ bytes, version }: StoredObject): Pick<FoundObject, 'bytes' | 'listed'> {
  return { bytes, listed: version };
}

/** Filters out files whose names are not UTF-8, which the server therefore does not open. They are passed over among documents. */
async function withoutMisnamed(
  place: SftpPlace,
  { directory, spool }: FetchOptions,
  found: readonly FoundObject[],
): Promise<readonly FoundObject[]> {
  const misnamed = new Set<FoundObject>();
  if (spool !== null)
    for (const one of found)
      if (one.matched !== one.name && mayBeMisnamed(one.name) && (await place.stat(one.key)) === null) {
        misnamed.add(one);
        spool.passOver(directory + sep + one.name, isMisnamed);
      }
  return misnamed.size === 0 ? found : found.filter((one) => !misnamed.has(one));
}

async function filesAt(
  place: SftpPlace,
  { path, text }: Extract<RemoteLocation, { kind: 'sftp' }>,
  isWanted: (name: string) => boolean,
): Promise<readonly FoundObject[]> {
  const pattern = parsePathPattern(path);
  const facts = pattern === null && path !== '' ? await place.stat(path) : null;
  if (facts?.kind === 'file') {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return [{ key: path, name, matched: name, bytes: facts.bytes, listed: facts.version }];
  }
  if (facts?.kind === 'other')
    throw new AppError('input_not_found', `${text}: is neither a file nor a folder`);
  const folder = pattern === null ? path : pattern.folder;
  const budget = createLookBudget();
  const found: FoundObject[] = [];
  const enter = (below: string): boolean => {
    budget();
    return (
      pattern === null ||
      pattern.segments.includes('folders') ||
      below.split('/').length < pattern.segments.length ||
      matchedLength(pattern, `${below}/file`) !== null
    );
  };
  if (facts !== null || pattern !== null || path === '')
    for await (const file of place.list(folder === '' ? '.' : folder, enter)) {
      budget();
      const { key } = file;
      const length = pattern === null ? 0 : matchedLength(pattern, key);
      if (length !== null && (length === key.length || isWanted(key)))
        found.push({
          key: folderOf(folder) + key,
          name: key,
          matched: key.slice(0, length),
          ...factsOf(file),
        });
    }
  return requireSome(text, found);
}

function requireSome(text: string, found: readonly FoundObject[]): readonly FoundObject[] {
  if (found.length > 0) return inOrder(found);
  throw new AppError(
    'input_not_found',
    `${text}: there is no such file or object, and nothing below it that this tool reads`,
  );
}

/** Sorts files as a pattern on disk finds them: those of a folder, by their names, before those of its subfolders. */
function inOrder(found: readonly FoundObject[]): readonly FoundObject[] {
  const keyed = found.map((one) => ({ one, key: `${orderKey(one.matched)}\0${one.name}` }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
}

function orderKey(path: string): string {
  const at = path.lastIndexOf('/') + 1;
  const folders = at === 0 ? '' : `\u0001${path.slice(0, at - 1).replaceAll('/', '\0\u0001')}\0`;
  return `${folders}\0${path.slice(at)}`;
}

/** Returns a valid file name: keys of a store may contain characters that file names cannot. */
function plainName(part: string, key: string): string {
  if (part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && Buffer.byteLength(part) <= 255)
    return part;
  throw new AppError(
    'unprocessable_input',
    `${shortName(key)}: this is not a valid file name; rename the object`,
  );
}

// Follows references from a schema document that was named singly: relative references within its place, as for a file on a disk.

interface SchemaPlace {
  /** Resolves a relative reference of the document. Returns null if it does not lead to this place. */
  resolve(key: string, location: string): string | null;
  /** Returns the name below the local folder, chosen so that references lead from one document to the other there. */
  nameOf(key: string): string;
  /** Downloads it and returns its size. AppError `input_not_found` if there is none. */
  download(key: string, to: string): Promise<number>;
}

/** Schema names for buckets and servers: keys with slashes. */
export const keyedSchemas: Pick<SchemaPlace, 'resolve' | 'nameOf'> = {
  resolve(key, location) {
    const path = posix.join(posix.dirname(key), location);
    return path === '..' || path.startsWith('../') ? null : path;
  },
  nameOf: (key) => key.replace(/^\/+/, ''),
};

/** Schema names for the web: addresses of one host. */
export const addressedSchemas: Pick<SchemaPlace, 'resolve' | 'nameOf'> = {
  resolve(key, location) {
    const url = URL.canParse(location, key) ? new URL(location, key) : null;
    if (url === null || url.origin !== new URL(key).origin) return null;
    url.hash = '';
    return url.href;
  },
  nameOf(key) {
    const { pathname } = new URL(key);
    try {
      return decodeURIComponent(pathname.slice(1));
    } catch {
      // the escapes are not UTF-8: the name is used as written
      return pathname.slice(1);
    }
  },
};

/**
 * Downloads documents and all their references into the folder; returns their own paths. The compiler reports missing documents,
 * because it knows the line.
 */
export async function followSchemas(
  place: SchemaPlace,
  first: readonly string[],
  directory: string,
  { maxFiles, maxBytes = fixedLimits.xsdSetBytes }: { readonly maxFiles: number; readonly maxBytes?: number },
): Promise<{ readonly paths: string[]; readonly files: number }> {
  const referencesIn = createReferenceReader();
  const known = new Set(first);
  const own = new Set(first);
  const pathOf = (key: string): string => join(directory, place.nameOf(key));
  let bytes = 0;
  let files = 0;

  async function bring(key: string): Promise<readonly string[]> {
    const to = pathOf(key);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    let received: number;
    try {
      received = await place.download(key, to);
    } catch (error) {
      if (own.has(key) || !(error instanceof AppError) || error.code !== 'input_not_found') throw error;
      return [];
    }
    files += 1;
    bytes += received;
    // more than a set may have: the reader of the set reports it
    if (bytes > maxBytes) return [];
    return referencesIn(new Uint8Array(await readFile(to))).flatMap(({ location }) => {
      const target = isRelativeLocation(location) ? place.resolve(key, location) : null;
      return target === null ? [] : [target];
    });
  }

  const waiting = [...first];
  while (waiting.length > 0) {
    const found = await Promise.all(waiting.splice(0, atOnce).map(bring));
    for (const key of found.flat()) {
      if (known.has(key)) continue;
      known.add(key);
      if (known.size > maxFiles)
        throw new AppError(
          'unprocessable_input',
          `${first[0]}: leads to more than ${maxFiles} schema documents; svc.limits.xsd_files allows no more files of an XSD set`,
        );
      waiting.push(key);
    }
  }
  return { paths: first.map(pathOf), files };
}

// Decides which files of a bucket or a server are fetched: for documents, all whose content may be one; for an XSD set, those with its
// names.

/** The destination and the purpose of fetched files. */
interface BringingOptions extends PlaceOptions {
  /** created if it does not exist */
  readonly directory: string;
  /** takes small files of a place without schemas; null: each is a file by itself */
  readonly spool: FileSpool | null;
  /** greatest number of referenced files to fetch for schema documents that are named singly; absent: documents are fetched */
  readonly follows?: false | { readonly maxFiles: number };
}

interface FoundObject {
  readonly key: string;
  /** below the folder that the location names */
  readonly name: string;
  /** the part of the name that the location names: all of it, a folder, or '' for files below a prefix */
  readonly matched: string;
  /** the only one that is wanted; absent: any */
  readonly version?: string;
  /** the version and the bytes that it was listed with; absent: it was not */
  readonly listed?: string;
  readonly bytes?: number;
}

/**
 * Returns a test for the names in a folder that are wanted: for documents all files, because their content decides; otherwise those of
 * an XSD set. Hidden files are never wanted.
 */
function wantedNames({ spool, follows }: BringingOptions): (name: string) => boolean {
  if (spool !== null || follows === undefined) {
    const test = documentTest(false);
    return (name) => test.byName(name.replace(/\.gz$/i, '')) !== 'hide';
  }
  return (name) =>
    /\.(?:xml|cat|wsdl)$|(?:^|\/)catalog$/i.test(name) || isXsdName(name) || archiveKind(name) !== null;
}

/** Names of DTDs and of their parts, and of catalogues, which documents are read with. */
function isPartName(name: string): boolean {
  return /\.(?:dtd|ent|mod|pen|elt|cat)$|(?:^|\/)[^/]*catalog[^/]*(?:\.xml)?$/i.test(name);
}

/** Large files with other names are downloaded only if they begin like documents; the others are reported to the spool. */
async function withoutOthers(
  { access: given, directory, ...reading }: BringingOptions,
  location: RemoteLocation,
  spool: FileSpool,
  found: readonly FoundObject[],
): Promise<readonly FoundObject[]> {
  const test = documentTest(false);
  const isOther = ({ name, matched, bytes = 0, listed = '' }: FoundObject): boolean =>
    matched !== name &&
    bytes > smallBytes &&
    listed !== '' &&
    archiveKind(name) === null &&
    !isXsdName(name) &&
    test.byName(name) === 'look';
  if (location.kind === 'http' || !found.some(isOther)) return found;
  const access = location.kind === 'sftp' ? await accessElsewhere(given) : given;
  if (access === null) return found;
  const place = openDescribed({ location: location.text, access }, reading);
  const kept: FoundObject[] = [];
  try {
    for (const one of found) {
      const why = isOther(one)
        ? test.byContent(
            one.name,
            Buffer.concat(
              await Array.fromAsync(
                place.bytes(
                  { place: 0, key: one.key, version: one.listed!, bytes: one.bytes! },
                  { from: 0, to: headBytes },
                ),
              ),
            ),
          )
        : null;
      if (why === null) kept.push(one);
      else spool.passOver(directory + sep + one.name, why);
    }
  } finally {
    place.close();
  }
  return kept;
}
