/** Files that lie in buckets and on the web, brought to a folder of this machine. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createPinnedHttp } from '../../adapters/outgoing/checked-http.ts';
import { downloadFile, isChange } from '../../adapters/remote-inputs/download.ts';
import {
  createRemoteRequests,
  type PlaceAccess,
  type RemoteRequestOptions,
} from '../../adapters/remote-inputs/remote-requests.ts';
import { openRemoteStore, type RemoteStore } from '../../adapters/remote-inputs/stores.ts';
import type { SourceAccess } from '../../config/shape.ts';
import { AppError } from '../../errors.ts';
import { matchedLength, parsePathPattern } from '../../files/path-pattern.ts';
import { fileNameOf, keyPrefix, storeLocation, type RemoteLocation } from '../../files/remote-location.ts';
import { isXsdName } from '../../jobs/options/xsd-inputs.ts';
import type { WatchedFiles } from '../../jobs/request/shape.ts';
import { archiveKind } from '../../tools/inputs/archive-members.ts';
import { createLookBudget } from '../../tools/inputs/matching-files.ts';
import { changedFile } from '../../tools/watched/changed-file.ts';

/** files of one place that are brought at the same time */
const atOnce = 16;

export interface FetchOptions {
  readonly check: RemoteRequestOptions['check'];
  /** what the place is read with; null: nothing */
  readonly access: PlaceAccess | null;
  /** made where it is not there */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** told of bytes as they come; what it throws ends all of it */
  readonly onBytes: (count: number) => void;
  /** those files below the location, as they were when they had that version; null: what it leads to */
  readonly wanted: WatchedFiles['files'] | null;
}

export interface FetchedFiles {
  /** of the files and folders that the location leads to, as a path of this machine would */
  readonly paths: string[];
  readonly files: number;
}

/** AppErrors of `downloadFile` and `RemoteStore`. */
export async function fetchLocation(
  parsed: RemoteLocation,
  { check, access, directory, signal, onBytes, wanted }: FetchOptions,
): Promise<FetchedFiles> {
  const location = storeLocation(parsed, access?.access ?? null);
  const { text } = location;
  if (access === null && location.kind !== 'http')
    throw new AppError(
      'path_not_allowed',
      `${text}: the operator has set no source for it (svc.sources.NAME.location), and no credential is named`,
    );
  const send = createRemoteRequests(
    { check, http: createPinnedHttp({ keepsConnections: true }), signal },
    access,
    location.kind === 'http' ? undefined : location.bucket,
  );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const options = { signal, onBytes };
  if (location.kind === 'http') {
    const path = join(directory, plainName(fileNameOf(location.url), text));
    const version = wanted?.[0]?.version;
    await downloadFile(send, location.url, path, {
      ...options,
      ...(version === undefined ? {} : { version }),
      label: text,
    }).catch(ofWatch(wanted?.[0]?.name));
    return { paths: [path], files: 1 };
  }
  const { bucket } = location;
  const store = openRemoteStore(send, access!.access as Exclude<SourceAccess, { kind: 'https' }>, bucket);
  const found: readonly FoundObject[] =
    wanted === null
      ? await objectsAt(store, location)
      : wanted.map(({ name, version }) => ({
          key: keyPrefix(location) + name,
          name,
          matched: name,
          version,
        }));
  for (const { name, key } of found) for (const part of name.split('/')) plainName(part, key);
  const folders = new Set(found.map(({ name }) => dirname(join(directory, name))));
  for (const one of folders) await mkdir(one, { recursive: true, mode: 0o700 });
  const waiting = found.values();
  const worker = async (): Promise<void> => {
    for (const object of waiting)
      await downloadFile(send, store.urlOf(object.key), join(directory, object.name), {
        ...options,
        ...(object.version === undefined ? {} : { version: object.version }),
        label: `${location.kind}://${bucket}/${object.key}`,
      }).catch(ofWatch(wanted === null ? undefined : object.name));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { paths: [...new Set(found.map(({ matched }) => join(directory, matched)))], files: found.length };
}

/** Of a file that a watch noticed: what has become of it since tells the watch what to do with it. */
function ofWatch(name: string | undefined) {
  return (error: unknown): never => {
    const isGone = error instanceof AppError && error.code === 'input_not_found';
    throw name !== undefined && (isGone || isChange(error)) ? changedFile(name) : error;
  };
}

interface FoundObject {
  readonly key: string;
  /** below the folder that the location names */
  readonly name: string;
  /** the part of the name that the location leads to: all of it, a folder, or '' for what lies below a prefix */
  readonly matched: string;
  /** the only one that is wanted; absent: any */
  readonly version?: string;
}

/** The object itself, whatever its name; else what lies below the prefix, or matches the pattern, and has a name of documents, schemas or archives. */
async function objectsAt(
  store: RemoteStore,
  { key, text }: Extract<RemoteLocation, { kind: 's3' | 'az' }>,
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
      return [{ key, name, matched: name }];
    }
    const below =
      pattern !== null || isFolder
        ? object.key.slice(prefix.length)
        : object.key.startsWith(`${key}/`)
          ? object.key.slice(key.length + 1)
          : '';
    // a key that ends so stands for a folder
    if (below === '' || below.endsWith('/') || !isWanted(below)) continue;
    budget();
    const length = pattern === null ? 0 : matchedLength(pattern, below);
    if (length !== null) found.push({ key: object.key, name: below, matched: below.slice(0, length) });
  }
  if (found.length === 0)
    throw new AppError(
      'input_not_found',
      `${text}: there is no such object, and nothing below it that this tool reads`,
    );
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function isWanted(name: string): boolean {
  return /\.xml$/i.test(name) || isXsdName(name) || archiveKind(name) !== null;
}

/** Keys of a store may hold what names of files cannot. */
function plainName(part: string, key: string): string {
  if (part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && Buffer.byteLength(part) <= 255)
    return part;
  throw new AppError('unprocessable_input', `${key}: no file can have that name; give it another`);
}
