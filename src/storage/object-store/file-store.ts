/** Files and job logs in an object store, for services and workers on many machines, or on none of their own. */
import { AppError } from '../../errors.ts';
import type {
  DecidingStore,
  FileReader,
  FileStore,
  FileWriter,
  ObjectStore,
  ByteRange,
  StoredObject,
} from '../../ports/files.ts';

export interface ObjectFileStoreOptions {
  readonly objects: ObjectStore & Partial<DecidingStore>;
  /** before every key, '' or ending in '/' */
  readonly prefix: string;
  /** for absolute paths: the folders that the operator has opened on every machine; null: there are none */
  readonly roots: FileStore | null;
}

/** Scheme of the locations that `resolve` returns: `object:/<idOrg>/<path>`. */
const scheme = 'object:/';
const longestPath = 4096;
const longestName = 255;

export function createObjectFileStore({ objects, prefix, roots }: ObjectFileStoreOptions): FileStore {
  const keyAt = (location: string): string => `${prefix}files/${location.slice(scheme.length)}`;

  async function* below(folderKey: string) {
    for await (const { key, ...facts } of objects.listObjects(`${folderKey}/`)) {
      // a key that ends with a slash represents a folder
      if (key.endsWith('/')) continue;
      yield {
        ...facts,
        name: key.slice(folderKey.length + 1),
        location: scheme + key.slice(`${prefix}files/`.length),
      };
    }
  }

  async function isPresent(location: string): Promise<boolean> {
    if ((await objects.head(keyAt(location))) !== null) return true;
    for await (const _ of objects.listObjects(`${keyAt(location)}/`)) return true;
    // the organisation's own folder is there from the first
    return !location.slice(scheme.length).includes('/');
  }

  const create: FileStore['create'] = async (location, bytes) => {
    if (isHere(location)) return objects.createObject!(keyAt(location), bytes);
    if (roots?.create === undefined) throw notAllowed();
    return roots.create(location, bytes);
  };

  return {
    local: false,
    ...(objects.createObject === undefined ? {} : { create }),

    async saveUpload(idOrg, name, body, maxBytes) {
      checkFileName(name);
      const path = `uploads/${randomName()}/${name}`;
      const bytes = await objects.write(`${prefix}files/${idOrg}/${path}`, body, maxBytes);
      return { path, bytes };
    },

    async resolve(idOrg, path, mustExist) {
      if (path.startsWith('/')) {
        if (roots === null) throw notAllowed();
        return roots.resolve(idOrg, path, mustExist);
      }
      const location = `${scheme}${[idOrg, ...partsOf(path)].join('/')}`;
      if (mustExist && !(await isPresent(location)))
        throw new AppError('input_not_found', 'there is no such file or folder');
      return location;
    },

    async removeFile(idOrg, path) {
      if (path.startsWith('/')) throw notAllowed();
      const parts = partsOf(path);
      const key = `${prefix}files/${[idOrg, ...parts].join('/')}`;
      if (parts.length > 0 && (await objects.head(key)) !== null) return objects.removeObject(key);
      for await (const _ of objects.listObjects(`${key}/`)) throw notAllowed();
      throw new AppError('not_found', 'there is no such file');
    },

    async usedBytes(idOrg) {
      let used = 0;
      for await (const { bytes } of objects.listObjects(`${prefix}files/${idOrg}/`)) used += bytes;
      return used;
    },

    async removeUploads({ olderThan, except }) {
      let removed = 0;
      const files = `${prefix}files/`;
      for await (const { key, modified } of objects.listObjects(files)) {
        const upload = /^(\d+\/uploads\/[^/]+)\/[^/]+$/.exec(key.slice(files.length));
        if (upload === null || modified >= olderThan) continue;
        if (except.has(upload[0]) || except.has(upload[1]!)) continue;
        await objects.removeObject(key);
        removed += 1;
      }
      return removed;
    },

    async *listFiles(location, scan) {
      if (!isHere(location)) {
        if (roots !== null) yield* roots.listFiles(location, scan);
        return;
      }
      const key = keyAt(location);
      const file = await objects.head(key);
      if (file === null) {
        for await (const found of below(key)) {
          scan?.onEntry();
          yield found;
        }
      } else {
        const { bytes, modified, version } = file;
        yield { name: key.slice(key.lastIndexOf('/') + 1), location, bytes, modified, version };
      }
    },

    async read(location, range) {
      if (!isHere(location)) return roots === null ? null : roots.read(location, range);
      return objects.read(keyAt(location), range);
    },

    async write(location, body) {
      if (isHere(location)) return objects.write(keyAt(location), body);
      if (roots === null) throw notAllowed();
      return roots.write(location, body);
    },

    async discard(location) {
      if (isHere(location)) await objects.removeObject(keyAt(location));
      else await roots?.discard(location);
    },
  };
}

function isHere(location: string): boolean {
  return location.startsWith(scheme);
}

/** Splits a relative path; AppError `path_not_allowed` if it leads out of its folder. */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const wrong = path === '' || path.length > longestPath || /\p{Cc}/u.test(path) || parts.includes('..');
  if (wrong) throw notAllowed();
  return parts;
}

/** Applies the same rules as on disks, so that all installations accept the same names. */
function checkFileName(name: string): void {
  const bytes = new TextEncoder().encode(name).byteLength;
  const plain = !/[/\\\p{Cc}]/u.test(name) && !name.startsWith('.') && bytes <= longestName;
  if (plain && /\.(xml|xsd|gz|zip|tar|tgz)$/i.test(name)) return;
  const detail = 'the name must be a plain file name that ends in .xml, .xsd, .gz, .zip, .tar or .tgz';
  throw new AppError('invalid_parameter', detail, { errors: [{ pointer: '/query/name', detail }] });
}

function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function notAllowed(): AppError {
  return new AppError(
    'path_not_allowed',
    'the path is outside the folders that this organisation may use: give one below its own folder, or let the operator open a folder with svc.files.roots',
  );
}

// Files below a prefix of a store, by the addresses of their folder: like the files of an organisation, for callers that may use the
// place.

export interface BucketFilesOptions {
  readonly objects: ObjectStore;
  /** location of the folder: the prefix of all locations in it */
  readonly location: string;
  /** prefix of the keys in it: '' or ending in '/' */
  readonly prefix: string;
}

export function createBucketFiles({
  objects,
  location: root,
  prefix,
}: BucketFilesOptions): FileReader & FileWriter {
  const keyOf = (location: string): string => prefix + location.slice(root.length + 1);
  return {
    async *listFiles(location) {
      const above = location === root ? prefix : `${keyOf(location)}/`;
      for await (const { key, ...facts } of objects.listObjects(above))
        yield { ...facts, name: key.slice(above.length), location: `${root}/${key.slice(prefix.length)}` };
    },
    read: (location, range) => objects.read(keyOf(location), range),
    write: (location, body) => objects.write(keyOf(location), body),
    discard: (location) => objects.removeObject(keyOf(location)),
  };
}

// Objects as stores answer them over HTTP.

/** Returns the facts in the response to HEAD, or null if there is no object. */
export function factsOf(key: string, { status, headers }: Response): StoredObject | null {
  if (status === 404) return null;
  return {
    key,
    bytes: Number(headers.get('content-length')),
    modified: Date.parse(headers.get('last-modified') ?? ''),
    version: headers.get('etag') ?? '',
  };
}

/** Like `ObjectStore.read`. `get` sends a request with these headers. */
export async function readObject(
  get: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  range?: ByteRange,
): Promise<ReadableStream<Uint8Array> | null> {
  if (range !== undefined && range.length === 0) return new Blob([]).stream();
  const answer = await get(
    range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` },
  );
  return answer.status === 404 ? null : wholeBody(answer);
}

/**
 * Returns the body, which fails if it ends before its length. The body is referenced at once: Node cancels the body of an unreferenced
 * response during garbage collection, and then it would merely be empty.
 */
function wholeBody(answer: Response): ReadableStream<Uint8Array> {
  const { body } = answer;
  if (body === null) return new Blob([]).stream();
  const length = answer.headers.get('content-length');
  const encoded = answer.headers.has('content-encoding');
  const reader = body.getReader();
  let received = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          received += value.byteLength;
          controller.enqueue(value);
        } else if (length !== null && !encoded && received !== Number(length)) {
          throw new AppError(
            'service_unavailable',
            `the object store ended an object of ${length} bytes after ${received}`,
          );
        } else controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
