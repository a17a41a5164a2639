/** The parts of an S3 server that tables in a bucket need, in this process: objects in memory, and whatever faults a test wants of it. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';

export interface StoreRequest {
  readonly method: string;
  /** '' is the bucket itself: a list */
  readonly key: string;
  /** of a list */
  readonly prefix: string;
  /** whether an object is only wanted where there is none */
  readonly isExclusive: boolean;
  /** whether a part of an object is asked for, as behind a cut */
  readonly isRange: boolean;
}

/**
 * What becomes of a request: `before`: nothing was done, `after`: it was, and the answer is that it was not. A number is a status; `hang up` ends
 * the connection, `silence` leaves it open without any answer. `replace`: what was to be created only where there is none is written over what is there. `told`: another answer in the place
 * of the right one.
 */
export type StoreFault =
  | { readonly at: 'before' | 'after'; readonly answer: number | 'hang up' | 'silence' }
  | { readonly told: (answer: { readonly status: number; readonly body: string }) => Told }
  | 'replace'
  | null;
interface Told {
  readonly status: number;
  readonly headers?: Record<string, string | number>;
  readonly body: string | Buffer;
}

export interface ObjectServer {
  readonly settings: S3Settings;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** asked of each request */
  setFaults(of: (request: StoreRequest) => StoreFault | Promise<StoreFault>): void;
  put(key: string, content: string | Uint8Array): void;
  remove(key: string): void;
  /** Files of a folder of this machine: all objects below the prefix. */
  copyTo(folder: string, prefix: string): Promise<void>;
  end(): Promise<void>;
}

const bucket = 'lakehouse';

const noFault: (request: StoreRequest) => StoreFault | Promise<StoreFault> = () => null;

/** `pageSize`: objects of a page of a list */
export async function startObjectServer(pageSize = 1000): Promise<ObjectServer> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  let faultOf = noFault;

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://store');
    const key = decodeURIComponent(url.pathname).slice(bucket.length + 2);
    const isExclusive = request.headers['if-none-match'] === '*';
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const prefix = url.searchParams.get('prefix') ?? '';
    const isRange = request.headers.range !== undefined;
    const told = await faultOf({ method: request.method!, key, prefix, isExclusive, isRange });
    const fault = told === null || told === 'replace' || 'told' in told ? null : told;
    const refuse = (): void => {
      if (fault!.answer === 'silence') return;
      if (fault!.answer === 'hang up') response.destroy();
      else response.writeHead(fault!.answer).end('<Error><Code>SlowDown</Code></Error>');
    };
    if (fault?.at === 'before') return refuse();
    const result = serve({
      method: request.method!,
      key,
      query: url.searchParams,
      body: Buffer.concat(body),
      isExclusive: isExclusive && told !== 'replace',
      range: request.headers.range ?? null,
    });
    if (fault !== null) return refuse();
    if (told !== null && typeof told === 'object' && 'told' in told) {
      const other = told.told({ status: result.status, body: String(result.body ?? '') });
      response.writeHead(other.status, other.headers);
      // what is shorter than it says ends with its connection
      if (Number(other.headers?.['Content-Length'] ?? 0) > other.body.length)
        response.write(other.body, () => response.destroy());
      else response.end(other.body);
      return;
    }
    response
      .writeHead(result.status, result.headers)
      .end(request.method === 'HEAD' ? undefined : result.body);
  }

  interface Served {
    readonly method: string;
    readonly key: string;
    readonly query: URLSearchParams;
    readonly body: Buffer;
    readonly isExclusive: boolean;
    /** header of the request; null: there is none */
    readonly range: string | null;
  }
  interface Result {
    readonly status: number;
    readonly headers?: Record<string, string | number>;
    readonly body?: Buffer | string;
  }

  function serve({ method, key, query, body, isExclusive, range }: Served): Result {
    const upload = query.get('uploadId');
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, new Map());
      return { status: 200, body: `<R><UploadId>${id}</UploadId></R>` };
    }
    if (method === 'PUT' && upload !== null) {
      uploads.get(upload)!.set(Number(query.get('partNumber')), body);
      return { status: 200, headers: { ETag: '"part"' } };
    }
    if (method === 'POST') {
      const parts = uploads.get(upload!)!;
      objects.set(key, Buffer.concat([...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)));
      return { status: 200, body: '<R/>' };
    }
    if (method === 'PUT') {
      if (isExclusive && objects.has(key))
        return { status: 412, body: '<Error><Code>PreconditionFailed</Code></Error>' };
      objects.set(key, body);
      return { status: 200 };
    }
    if (method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    if (key === '')
      return { status: 200, body: listed(query.get('prefix') ?? '', query.get('continuation-token') ?? '') };
    const found = objects.get(key);
    if (found === undefined) return { status: 404, body: '<Error><Code>NoSuchKey</Code></Error>' };
    const headers = {
      'Content-Length': found.length,
      'Last-Modified': new Date(0).toUTCString(),
      ETag: tagOf(found),
    };
    const [, first, last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    if (first === undefined) return { status: 200, headers, body: found };
    const part = found.subarray(Number(first), last === '' ? found.length : Number(last) + 1);
    if (part.length === 0) return { status: 416 };
    return {
      status: 206,
      headers: {
        ...headers,
        'Content-Length': part.length,
        'Content-Range': `bytes ${first}-${Number(first) + part.length - 1}/${found.length}`,
      },
      body: part,
    };
  }

  /** `after`: the last key of the page before. */
  function listed(prefix: string, after: string): string {
    const entries = [...objects]
      .filter(([key]) => key.startsWith(prefix) && key > after)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const page = entries.slice(0, pageSize);
    const contents = page.map(
      ([key, content]) =>
        `<Contents><Key>${escaped(key)}</Key><Size>${content.length}</Size><ETag>${escaped(tagOf(content))}</ETag><LastModified>1970-01-01T00:00:00Z</LastModified></Contents>`,
    );
    const more =
      page.length < entries.length
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${escaped(page.at(-1)![0])}</NextContinuationToken>`
        : '<IsTruncated>false</IsTruncated>';
    return `<ListBucketResult>${more}${contents.join('')}</ListBucketResult>`;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket,
      accessKeyId: 'a',
      secretAccessKey: 'b',
    },
    objects,
    setFaults: (of) => (faultOf = of),
    put: (key, content) => void objects.set(key, Buffer.from(content as string)),
    remove: (key) => void objects.delete(key),
    copyTo: (folder, prefix) => copyObjects(objects, folder, prefix),
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** As `ObjectServer.copyTo`. */
export async function copyObjects(
  objects: ReadonlyMap<string, Uint8Array>,
  folder: string,
  prefix: string,
): Promise<void> {
  for (const [key, content] of objects) {
    if (!key.startsWith(prefix)) continue;
    const path = join(folder, key.slice(prefix.length));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

function tagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
