/** A container of an Azure storage account by its REST interface (Blob service), version 2020 or later. */
import { AppError } from '../../errors.ts';
import type { DecidingStore } from '../../ports/files.ts';
import { answered, inTime, blobsIn, nextPage } from './s3-requests.ts';
import { inParts, tooLarge, createOnce } from './byte-parts.ts';
import { factsOf, readObject } from './file-store.ts';

/** Size of the blocks of an upload. A blob takes 50,000 of them. */
const blockBytes = 16 * 1024 * 1024;

export interface AzureSettings {
  /** `https://ACCOUNT.blob.core.windows.net`, or with the account in its path */
  readonly endpoint: string;
  readonly container: string;
}

export interface AzureRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** the signature is added by who sends it */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** One request over the network, which the account lets pass; redirects are answered as they are. */
export type AzureTransport = (request: AzureRequest, signal: AbortSignal) => Promise<Response>;

interface Asked {
  readonly method: AzureRequest['method'];
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly understood?: readonly number[];
}
type Send = (asked: Asked) => Promise<Response>;

export function createAzureObjectStore(
  { endpoint, container }: AzureSettings,
  transport: AzureTransport,
): DecidingStore {
  const base = `${endpoint.replace(/\/+$/, '')}/${encodeURIComponent(container)}`;
  const send: Send = ({ method, key, query = {}, headers = {}, body, understood = [] }) => {
    const url = new URL(key === '' ? base : `${base}/${key.split('/').map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const request = { method, url, headers, ...(body === undefined ? {} : { body }) };
    return answered(() => inTime((signal) => transport(request, signal)), understood);
  };
  return {
    createObject: (key, bytes) =>
      createOnce(
        bytes,
        async () => {
          const headers = { ...asBlob, 'If-None-Match': '*' };
          const answer = await send({ method: 'PUT', key, body: bytes, headers, understood: [409, 412] });
          await answer.body?.cancel();
          if (answer.status === 404) throw noContainer();
          return answer.ok ? 'made' : 'there';
        },
        () => send({ method: 'GET', key }),
      ),

    head: async (key) => factsOf(key, await send({ method: 'HEAD', key })),

    read: (key, range) => readObject((headers) => send({ method: 'GET', key, headers }), range),

    async write(key, body, maxBytes = Infinity) {
      if (!(body instanceof Uint8Array)) return writeStream(send, key, body, maxBytes);
      if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
      await put(send, key, body);
      return body.byteLength;
    },

    async removeObject(key) {
      const answer = await send({ method: 'DELETE', key });
      await answer.body?.cancel();
    },

    async *listObjects(prefix) {
      let marker: string | null = null;
      do {
        const query = { restype: 'container', comp: 'list', prefix, ...(marker === null ? {} : { marker }) };
        const answer = await send({ method: 'GET', key: '', query });
        if (answer.status === 404) throw noContainer();
        const text = await answer.text();
        marker = nextPage(text, 'az', marker);
        yield* blobsIn(text);
      } while (marker !== null);
    },
  };
}

const asBlob = { 'x-ms-blob-type': 'BlockBlob', 'Content-Type': 'application/octet-stream' };

async function put(
  send: Send,
  key: string,
  body: Uint8Array | string,
  more: Pick<Asked, 'query' | 'headers'> = { headers: asBlob },
): Promise<void> {
  const answer = await send({ method: 'PUT', key, body, ...more });
  if (answer.status === 404) throw noContainer();
  await answer.body?.cancel();
}

/**
 * Writes in one request if the content fits a block; otherwise in blocks, which become a blob only when all are there. The account
 * drops unused blocks after a week.
 */
async function writeStream(
  send: Send,
  key: string,
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<number> {
  const ids: string[] = [];
  let total = 0;
  let held: Uint8Array = new Uint8Array(0);
  for await (const part of inParts(body, blockBytes, maxBytes)) {
    if (total > 0) await putBlock(send, key, held, ids);
    held = part;
    total += part.byteLength;
  }
  if (ids.length === 0) {
    await put(send, key, held);
    return total;
  }
  await putBlock(send, key, held, ids);
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join('');
  await put(send, key, `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`, {
    query: { comp: 'blocklist' },
  });
  return total;
}

/** Ids of the blocks of a blob have one length; those of another upload of the same blob are others. */
async function putBlock(send: Send, key: string, bytes: Uint8Array, ids: string[]): Promise<void> {
  const upload = ids[0] === undefined ? crypto.randomUUID() : atob(ids[0]).slice(0, 36);
  const id = btoa(`${upload}-${String(ids.length).padStart(5, '0')}`);
  await put(send, key, bytes, { query: { comp: 'block', blockid: id } });
  ids.push(id);
}

function noContainer(): AppError {
  return new AppError('service_unavailable', 'the storage account has no such container');
}
