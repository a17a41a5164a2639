/** The parts of an S3 server that tables in a bucket need, in this process: objects in memory, and whatever faults a test wants of it. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { S3Settings } from '../../../src/adapters/object-store/s3-requests.ts';

export interface StoreRequest {
  readonly method: string;
  readonly key: string;
  /** whether an object is only wanted where there is none */
  readonly isExclusive: boolean;
}

/**
 * What becomes of a request: `before`: nothing was done, `after`: it was, and the answer is that it was not. A number is a status; `hang up` no
 * answer at all. `replace`: what was to be created only where there is none is written over what is there.
 */
export type StoreFault =
  { readonly at: 'before' | 'after'; readonly answer: number | 'hang up' } | 'replace' | null;

export interface ObjectServer {
  readonly settings: S3Settings;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** asked of each request */
  setFaults(of: (request: StoreRequest) => StoreFault | Promise<StoreFault>): void;
  put(key: string, content: string | Uint8Array): void;
  /** Files of a folder of this machine: all objects below the prefix. */
  copyTo(folder: string, prefix: string): Promise<void>;
  end(): Promise<void>;
}

const bucket = 'lakehouse';

const noFault: (request: StoreRequest) => StoreFault | Promise<StoreFault> = () => null;

export async function startObjectServer(): Promise<ObjectServer> {
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
    const told = await faultOf({ method: request.method!, key, isExclusive });
    const fault = told === 'replace' ? null : told;
    const refuse = (): void => {
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
    });
    if (fault !== null) return refuse();
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
  }
  interface Result {
    readonly status: number;
    readonly headers?: Record<string, string | number>;
    readonly body?: Buffer | string;
  }

  function serve({ method, key, query, body, isExclusive }: Served): Result {
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
    if (key === '') return { status: 200, body: listed(query.get('prefix') ?? '') };
    const found = objects.get(key);
    if (found === undefined) return { status: 404, body: '<Error><Code>NoSuchKey</Code></Error>' };
    const headers = {
      'Content-Length': found.length,
      'Last-Modified': new Date(0).toUTCString(),
      ETag: `"${createHash('md5').update(found).digest('hex')}"`,
    };
    return { status: 200, headers, body: found };
  }

  function listed(prefix: string): string {
    const entries = [...objects]
      .filter(([key]) => key.startsWith(prefix))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const contents = entries.map(
      ([key, { length }]) =>
        `<Contents><Key>${key.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</Key><Size>${length}</Size><LastModified>1970-01-01T00:00:00Z</LastModified></Contents>`,
    );
    return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
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
    copyTo: async (folder, prefix) => {
      for (const [key, content] of objects) {
        if (!key.startsWith(prefix)) continue;
        const path = join(folder, key.slice(prefix.length));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      }
    },
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
