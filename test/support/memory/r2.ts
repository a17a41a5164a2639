/** A bucket of R2 in memory, with the part of its interface that the service uses. */
import type { R2Bucket } from '../../../src/storage/object-store/r2.ts';

type R2Object = NonNullable<Awaited<ReturnType<R2Bucket['head']>>>;

/** objects that one list has, fewer than R2's so that lists have several pages */
const pageSize = 2;

export function createMemoryR2Bucket(): R2Bucket {
  const stored = new Map<string, { readonly bytes: Uint8Array<ArrayBuffer>; readonly facts: R2Object }>();
  let writes = 0;
  const put = (key: string, bytes: Uint8Array): void => {
    writes += 1;
    const facts = { key, size: bytes.length, uploaded: new Date(), httpEtag: `"${writes}"` };
    stored.set(key, { bytes: bytes.slice() as Uint8Array<ArrayBuffer>, facts });
  };
  return {
    head: async (key) => stored.get(key)?.facts ?? null,
    async get(key, options) {
      const found = stored.get(key);
      if (found === undefined) return null;
      const { offset = 0, length = Infinity } = options?.range ?? {};
      return { ...found.facts, body: new Blob([found.bytes.slice(offset, offset + length)]).stream() };
    },
    put: async (key, body) => put(key, body),
    delete: async (key) => void stored.delete(key),
    async list({ prefix, cursor = '' }) {
      const keys = [...stored.keys()].filter((key) => key.startsWith(prefix) && key > cursor).toSorted();
      const page = keys.slice(0, pageSize);
      const last = page.at(-1);
      return {
        objects: page.map((key) => stored.get(key)!.facts),
        truncated: keys.length > pageSize,
        ...(last === undefined ? {} : { cursor: last }),
      };
    },
    async createMultipartUpload(key) {
      const parts = new Map<number, Uint8Array>();
      return {
        uploadPart: async (number, body) => void parts.set(number, body.slice()),
        async complete() {
          const ordered = [...parts].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes);
          put(key, new Uint8Array(await new Blob(ordered as Uint8Array<ArrayBuffer>[]).arrayBuffer()));
        },
        abort: async () => parts.clear(),
      };
    },
  };
}
