/** Files and job logs in memory. */
import { AppError } from '../../../src/errors.ts';
import type { DecidingStore, FileReader, FileStore, FileWriter, LogStore } from '../../../src/ports/files.ts';

export interface MemoryFileStore extends FileStore {
  /** `<idOrg>/<path>` to bytes */
  readonly stored: ReadonlyMap<string, Uint8Array>;
  put(idOrg: number, path: string, bytes: Uint8Array): void;
}

export interface MemoryLogStore extends LogStore {
  appendLog(idJob: number, text: string | Uint8Array): void;
}

export function createMemoryLogStore(): MemoryLogStore {
  const logs = new Map<number, Uint8Array>();
  const appendLog: MemoryLogStore['appendLog'] = (idJob, text) => {
    const more = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    logs.set(idJob, joined([logs.get(idJob) ?? new Uint8Array(0), more]));
  };
  return {
    appendLog,
    openLog: async (idJob) => ({
      append: async (bytes) => appendLog(idJob, bytes),
      close: async () => undefined,
    }),
    removeLog: async (idJob) => void logs.delete(idJob),
    logSize: async (idJob) => logs.get(idJob)?.byteLength ?? null,
    logBytes: async (idJobs) => idJobs.reduce((sum, idJob) => sum + (logs.get(idJob)?.byteLength ?? 0), 0),
    readLog: async (idJob, offset, length) =>
      (logs.get(idJob) ?? new Uint8Array(0)).slice(offset, offset + length),
  };
}

export function createMemoryFileStore(): MemoryFileStore {
  const stored = new Map<string, Uint8Array>();
  const facts = new Map<string, { readonly modified: number; readonly version: string }>();
  let uploads = 0;
  let changes = 0;
  const put = (key: string, bytes: Uint8Array): void => {
    changes += 1;
    stored.set(key, bytes);
    facts.set(key, { modified: Date.now(), version: String(changes) });
  };

  return {
    stored,
    local: false,
    async *listFiles(location, scan) {
      const key = location.slice('/memory/'.length);
      for (const [path, { length }] of [...stored].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
        if (path !== key && !path.startsWith(`${key}/`)) continue;
        scan?.onEntry();
        const name = path === key ? key.slice(key.lastIndexOf('/') + 1) : path.slice(key.length + 1);
        yield { name, location: `/memory/${path}`, bytes: length, ...facts.get(path)! };
      }
    },
    async read(location, range = { offset: 0, length: Infinity }) {
      const bytes = stored.get(location.slice('/memory/'.length));
      if (bytes === undefined) return null;
      return new Blob([
        bytes.slice(range.offset, range.offset + range.length) as Uint8Array<ArrayBuffer>,
      ]).stream();
    },
    async write(location, body) {
      const bytes = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
      put(location.slice('/memory/'.length), bytes);
      return bytes.length;
    },
    discard: async (location) => void stored.delete(location.slice('/memory/'.length)),
    put: (idOrg, path, bytes) => put(`${idOrg}/${path}`, bytes),
    async saveUpload(idOrg, name, body, maxBytes) {
      const chunks: Uint8Array[] = [];
      let total = 0;
      for await (const chunk of body) {
        total += chunk.byteLength;
        if (total > maxBytes)
          throw new AppError('payload_too_large', `the file may have at most ${maxBytes} bytes`);
        chunks.push(chunk);
      }
      uploads += 1;
      const path = `uploads/${uploads}/${name}`;
      put(`${idOrg}/${path}`, joined(chunks));
      return { path, bytes: total };
    },
    async resolve(idOrg, path, mustExist) {
      if (path === '' || path.startsWith('/') || path.includes('\0') || path.split('/').includes('..')) {
        throw new AppError('path_not_allowed', 'the path is outside the allowed folders');
      }
      const key = `${idOrg}/${path}`;
      const exists = stored.has(key) || [...stored.keys()].some((other) => other.startsWith(`${key}/`));
      if (mustExist && !exists) throw new AppError('input_not_found', 'there is no such file');
      return `/memory/${key}`;
    },
    async removeFile(idOrg, path) {
      if (path === '' || path.startsWith('/') || path.split('/').includes('..'))
        throw new AppError('path_not_allowed', 'the path is outside the allowed folders');
      if (!stored.delete(`${idOrg}/${path}`)) throw new AppError('not_found', 'there is no such file');
    },
    usedBytes: async (idOrg) =>
      [...stored].reduce((sum, [path, bytes]) => sum + (path.startsWith(`${idOrg}/`) ? bytes.length : 0), 0),
    async removeUploads({ olderThan, except }) {
      const old = [...stored.keys()].filter(
        (key) => /^\d+\/uploads\//.test(key) && facts.get(key)!.modified < olderThan && !except.has(key),
      );
      for (const key of old) stored.delete(key);
      return old.length;
    },
  };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

/** The objects of a store whose keys are `<idOrg>/<path>`. */
export function objectsIn(files: FileReader & FileWriter): DecidingStore {
  const root = '/memory/';
  const store: DecidingStore = {
    async createObject(key, bytes) {
      if ((await files.read(root + key)) !== null) return false;
      await files.write(root + key, bytes);
      return true;
    },
    async head(key) {
      for await (const object of store.listObjects(key)) if (object.key === key) return object;
      return null;
    },
    read: (key, range) => files.read(root + key, range),
    write: (key, body) => files.write(root + key, body),
    removeObject: (key) => files.discard(root + key),
    async *listObjects(prefix) {
      const folder = prefix.slice(0, prefix.lastIndexOf('/'));
      for await (const { location, bytes } of files.listFiles(root + folder)) {
        const key = location.slice(root.length);
        if (key.startsWith(prefix)) yield { key, bytes, modified: 0, version: '' };
      }
    },
  };
  return store;
}
