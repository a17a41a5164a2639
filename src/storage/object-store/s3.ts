/** Any S3-compatible store by its REST interface: runs wherever `fetch` does. */
import { AppError } from '../../errors.ts';
import type { DecidingStore } from '../../ports/files.ts';
import { inParts, tooLarge, createOnce } from './byte-parts.ts';
import { factsOf, readObject } from './file-store.ts';
import {
  elementIn,
  faultCode,
  nextPage,
  objectsIn,
  createS3Requests,
  type S3Settings,
  type S3Transport,
  type SendS3,
} from './s3-requests.ts';

/** Size of the parts of an upload. A store takes 10,000 of them, so objects may have 160 GB. */
const partBytes = 16 * 1024 * 1024;

/** `transport`: how requests reach the store; absent: by `fetch`. */
export function createS3ObjectStore(settings: S3Settings, transport?: S3Transport): DecidingStore {
  const send = createS3Requests(settings, transport);
  return {
    createObject: (key, bytes) => createObject(send, key, bytes),

    head: async (key) => factsOf(key, await send({ method: 'HEAD', key })),

    read: (key, range) => readObject((headers) => send({ method: 'GET', key, headers }), range),

    async write(key, body, maxBytes = Infinity) {
      if (body instanceof Uint8Array) {
        if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
        await put(send, key, body);
        return body.byteLength;
      }
      return writeStream(send, key, body, maxBytes);
    },

    async removeObject(key) {
      await send({ method: 'DELETE', key });
    },

    async *listObjects(prefix) {
      let token: string | null = null;
      do {
        const query: Record<string, string> = { 'list-type': '2', prefix };
        if (token !== null) query['continuation-token'] = token;
        const answer = await send({ method: 'GET', key: '', query });
        if (answer.status === 404) throw noBucket();
        const text = await answer.text();
        token = nextPage(text, 's3', token);
        yield* objectsIn(text);
      } while (token !== null);
    },
  };
}

/** Two requests for one key at the same time are a conflict, of which the other one may still fail. */
function createObject(send: SendS3, key: string, bytes: Uint8Array): Promise<boolean> {
  return createOnce(
    bytes,
    async () => {
      const headers = { 'If-None-Match': '*' };
      const answer = await send({ method: 'PUT', key, body: bytes, headers, understood: [409, 412, 501] });
      await answer.body?.cancel();
      if (answer.status === 404) throw noBucket();
      if (answer.status === 501) throw neverConditional();
      if (answer.status === 412) return 'there';
      return answer.ok ? 'made' : 'busy';
    },
    () => send({ method: 'GET', key }),
  );
}

/** The error for a store without conditional writes: two writers could create the same version of a table. */
export function neverConditional(): AppError {
  return new AppError(
    'invalid_option',
    'the object store cannot create an object only if it does not exist yet (PUT with If-None-Match: *), so two writers could create the same version of a table: use a store that can (Amazon S3, Cloudflare R2, MinIO, Ceph and others do in their present versions), or a folder of the machine',
  );
}

async function put(
  send: SendS3,
  key: string,
  body: Uint8Array,
  query?: Readonly<Record<string, string>>,
): Promise<Response> {
  const answer = await send({ method: 'PUT', key, body, ...(query === undefined ? {} : { query }) });
  if (answer.status === 404) throw noBucket();
  await answer.body?.cancel();
  return answer;
}

/** Writes in one request if the content fits a part; otherwise in parts, which become an object only when all are there. */
async function writeStream(
  send: SendS3,
  key: string,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  const parts = inParts(body, partBytes, maxBytes);
  const first = await parts.next();
  if (first.done === true) {
    await put(send, key, new Uint8Array(0));
    return 0;
  }
  const second = await parts.next();
  if (second.done === true) {
    await put(send, key, first.value);
    return first.value.byteLength;
  }
  const begun = await send({ method: 'POST', key, query: { uploads: '' }, body: '' });
  const uploadId = elementIn(await begun.text(), 'UploadId');
  if (uploadId === null) throw noBucket();
  try {
    const tags: string[] = [];
    let total = 0;
    let next: IteratorResult<Uint8Array, void> = first;
    let following: IteratorResult<Uint8Array, void> | null = second;
    while (next.done !== true) {
      total += next.value.byteLength;
      const partNumber = String(tags.length + 1);
      const answer = await put(send, key, next.value, { partNumber, uploadId });
      tags.push(answer.headers.get('etag') ?? '');
      next = following ?? (await parts.next());
      following = null;
    }
    const list = tags
      .map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`)
      .join('');
    const ended = await send({
      method: 'POST',
      key,
      query: { uploadId },
      body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
    });
    // A store that fails late has sent 200 already: the body shows the failure
    const text = await ended.text();
    if (ended.status === 404 || text.includes('<Error>')) {
      const fault = faultCode(text) ?? 'the upload no longer exists';
      throw new AppError('service_unavailable', `the object store cannot be used now (${fault})`);
    }
    return total;
  } catch (error) {
    // a failed cancellation is ignored: the fault of the upload is reported, and the store removes unfinished uploads itself
    await send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
    throw error;
  } finally {
    await parts.return();
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function noBucket(): AppError {
  return new AppError('service_unavailable', 'the object store has no such bucket');
}
