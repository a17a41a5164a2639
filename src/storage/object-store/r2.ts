/** A bucket of R2 as the edge runtime binds it. Node workers reach the same bucket by R2's S3 interface. */
import { AppError } from '../../errors.ts';
import type { ObjectStore, StoredObject } from '../../ports/files.ts';
import { inParts, tooLarge } from './byte-parts.ts';

/** The part of the runtime's `R2Bucket` that is used here. */
export interface R2Bucket {
  head(key: string): Promise<R2Object | null>;
  get(
    key: string,
    options?: { readonly range: { readonly offset: number; readonly length: number } },
  ): Promise<(R2Object & { readonly body: ReadableStream<Uint8Array> }) | null>;
  put(key: string, body: Uint8Array): Promise<unknown>;
  delete(key: string): Promise<void>;
  list(options: { readonly prefix: string; readonly cursor?: string }): Promise<{
    readonly objects: readonly R2Object[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
  createMultipartUpload(key: string): Promise<{
    uploadPart(partNumber: number, body: Uint8Array): Promise<unknown>;
    complete(parts: unknown[]): Promise<unknown>;
    abort(): Promise<void>;
  }>;
}

interface R2Object {
  readonly key: string;
  readonly size: number;
  readonly uploaded: Date;
  readonly httpEtag: string;
}

/** All parts but the last have this size, as R2 demands; objects may have 10,000 of them. */
const partBytes = 16 * 1024 * 1024;

export function createR2ObjectStore(bucket: R2Bucket): ObjectStore {
  return {
    head: (key) =>
      answered(async () => {
        const object = await bucket.head(key);
        return object === null ? null : storedObject(object);
      }),

    async read(key, range) {
      if (range !== undefined && range.length === 0) return new Blob([]).stream();
      return answered(async () => {
        const known = await bucket.head(key);
        if (known === null) return null;
        // a range that begins behind the end is an error to the bucket
        if (range !== undefined && range.offset >= known.size) return new Blob([]).stream();
        return (await bucket.get(key, range === undefined ? undefined : { range }))?.body ?? null;
      });
    },

    async write(key, body, maxBytes = Infinity) {
      if (!(body instanceof Uint8Array)) return writeStream(bucket, key, body, maxBytes);
      if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
      await answered(() => bucket.put(key, body));
      return body.byteLength;
    },

    removeObject: (key) => answered(() => bucket.delete(key)),

    async *listObjects(prefix) {
      let cursor: string | undefined;
      do {
        const options = cursor === undefined ? { prefix } : { prefix, cursor };
        const page = await answered(() => bucket.list(options));
        yield* page.objects.map(storedObject);
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
    },
  };
}

/** Writes in one call if the content fits a part; otherwise in parts, which become an object only when all are there. */
async function writeStream(
  bucket: R2Bucket,
  key: string,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  const parts = inParts(body, partBytes, maxBytes);
  const first = await parts.next();
  const second = first.done === true ? first : await parts.next();
  if (second.done === true) {
    const whole = first.done === true ? new Uint8Array(0) : first.value;
    await answered(() => bucket.put(key, whole));
    return whole.byteLength;
  }
  const upload = await answered(() => bucket.createMultipartUpload(key));
  try {
    const done: unknown[] = [];
    let total = 0;
    const add = async (part: Uint8Array): Promise<void> => {
      total += part.byteLength;
      done.push(await answered(() => upload.uploadPart(done.length + 1, part)));
    };
    await add(first.value as Uint8Array);
    await add(second.value);
    for await (const part of parts) await add(part);
    await answered(() => upload.complete(done));
    return total;
  } catch (error) {
    // a failed cancellation is ignored: the fault of the upload is reported, and the store removes unfinished uploads itself
    await upload.abort().catch(() => undefined);
    throw error;
  } finally {
    await parts.return();
  }
}

function storedObject({ key, size, uploaded, httpEtag }: R2Object): StoredObject {
  return { key, bytes: size, modified: uploaded.getTime(), version: httpEtag };
}

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AppError('service_unavailable', 'the object store cannot be used now', { cause: error });
  }
}
