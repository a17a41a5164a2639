/** A store that keeps the files of organisations in memory, as a database of the host would: a location is a key of a map. */
import { AppError, type FileStore } from 'conversion-job-service';

interface StoredBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly modified: number;
  readonly version: string;
}

export function createMemoryStore(): FileStore {
  const stored = new Map<string, StoredBytes>();
  let changes = 0;

  const put = (location: string, bytes: Uint8Array<ArrayBuffer>): void => {
    changes += 1;
    stored.set(location, { bytes, modified: Date.now(), version: String(changes) });
  };
  /** Returns whether there is a file at the location, or any below it. */
  const isPresent = (location: string): boolean =>
    stored.has(location) || [...stored.keys()].some((key) => key.startsWith(`${location}/`));

  return {
    local: false,

    async resolve(idOrg, path, mustExist) {
      const location = locationOf(idOrg, path);
      if (mustExist && !isPresent(location))
        throw new AppError('input_not_found', `there is no file or folder ${path}`);
      return location;
    },

    async *listFiles(location, scan) {
      const keys = [...stored.keys()].filter((key) => key === location || key.startsWith(`${location}/`));
      for (const key of keys.toSorted()) {
        scan?.onEntry();
        const found = stored.get(key);
        // gone since the list began
        if (found === undefined) continue;
        const name = key === location ? key.slice(key.lastIndexOf('/') + 1) : key.slice(location.length + 1);
        const { bytes, modified, version } = found;
        yield { name, location: key, bytes: bytes.length, modified, version };
      }
    },

    async read(location, { offset, length } = { offset: 0, length: Infinity }) {
      const found = stored.get(location);
      return found === undefined ? null : new Blob([found.bytes.subarray(offset, offset + length)]).stream();
    },

    async write(location, body) {
      // nothing is stored before the body has ended
      const bytes = await bytesOf(body, Infinity);
      put(location, bytes);
      return bytes.length;
    },

    async create(location, bytes) {
      if (stored.has(location)) return false;
      put(location, bytes.slice());
      return true;
    },

    async discard(location) {
      stored.delete(location);
    },

    async saveUpload(idOrg, name, body, maxBytes) {
      const path = `uploads/${crypto.randomUUID()}/${name}`;
      const location = locationOf(idOrg, path);
      const bytes = await bytesOf(body, maxBytes);
      put(location, bytes);
      return { path, bytes: bytes.length };
    },

    async removeFile(idOrg, path) {
      const location = locationOf(idOrg, path);
      if (stored.delete(location)) return;
      if (isPresent(location)) throw new AppError('path_not_allowed', `${path} is a folder`);
      throw new AppError('not_found', `there is no file ${path}`);
    },

    async usedBytes(idOrg) {
      let used = 0;
      for (const [location, { bytes }] of stored) if (location.startsWith(`${idOrg}/`)) used += bytes.length;
      return used;
    },

    async removeUploads({ olderThan, except }) {
      let removed = 0;
      for (const [location, { modified }] of stored) {
        const [, folder] = /^(\d+\/uploads\/[^/]+)\/[^/]+$/.exec(location) ?? [];
        if (folder === undefined || modified >= olderThan) continue;
        if (except.has(location) || except.has(folder)) continue;
        stored.delete(location);
        removed += 1;
      }
      return removed;
    },
  };
}

/** Returns the key of a path, which stays inside the folder of its organisation. */
function locationOf(idOrg: number, path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isOutside = path === '' || path.startsWith('/') || path.includes('\0') || parts.includes('..');
  if (isOutside) throw new AppError('path_not_allowed', 'the path is outside the files of the organisation');
  return [idOrg, ...parts].join('/');
}

async function bytesOf(
  body: Uint8Array | ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body instanceof Uint8Array) return body.slice();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`);
    chunks.push(chunk.slice());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
