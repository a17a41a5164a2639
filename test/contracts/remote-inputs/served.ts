/** Servers of files that do what a test wants, and what is fetched from them. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createOutgoingGuard } from '../../../src/service/access/outgoing-guard.ts';
import { createPinnedHttp, createHostResolver } from '../../../src/network/checked-http.ts';
import { downloadFile } from '../../../src/inputs/remote/download.ts';
import { createRemoteRequests, type PlaceAccess } from '../../../src/inputs/remote/requests.ts';
import { AppError } from '../../../src/errors.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => void;

export const whole = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
export interface Served {
  readonly url: URL;
  readonly requests: IncomingMessage[];
}

export const rangeOf = (request: IncomingMessage): number =>
  Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);

/** As servers of files do, with ranges. */
export function file(
  request: IncomingMessage,
  response: ServerResponse,
  { bytes = whole, tag = '"v1"' }: { readonly bytes?: Buffer; readonly tag?: string } = {},
  upTo = bytes.length,
): void {
  const from = rangeOf(request);
  const headers = { ETag: tag, 'Content-Length': bytes.length - from };
  if (from === 0) response.writeHead(200, headers);
  else
    response.writeHead(206, {
      ...headers,
      'Content-Range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    });
  response.write(bytes.subarray(from, upTo));
  if (upTo === bytes.length) response.end();
  else setTimeout(() => response.destroy(), 20);
}

/** Called where hooks are registered: servers and files end with the tests. */
export function useServed() {
  const servers: Server[] = [];
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'remote-inputs-'))));
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function serve(handler: Handler, host = '127.0.0.1'): Promise<Served> {
    const requests: IncomingMessage[] = [];
    const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      requests.push(request);
      handler(request, response, requests.length);
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    servers.push(server);
    return { url: new URL(`http://${host}:${(server.address() as AddressInfo).port}/a/file.xml`), requests };
  }

  let serial = 0;
  async function fetched(
    url: URL,
    {
      allowed = ['*'],
      access = null,
      ...listedAs
    }: {
      readonly allowed?: readonly string[];
      readonly access?: PlaceAccess | null;
      /** as the place lists the file */
      readonly bytes?: number;
      readonly version?: string;
    } = {},
  ): Promise<Buffer> {
    const resolver = createHostResolver();
    const [listed, free] = [createOutgoingGuard(allowed, resolver), createOutgoingGuard(['*'], resolver)];
    const { signal } = new AbortController();
    const requests = createRemoteRequests(
      {
        check: (at, by) => (by === 'operator' ? free : listed).checkUrl(at),
        http: createPinnedHttp(),
        signal,
      },
      access,
    );
    const path = join(folder, `${(serial += 1)}.xml`);
    const bytes = await downloadFile(requests, url, path, { label: url.href, signal, ...listedAs });
    const found = await readFile(path);
    expect(found.length).toBe(bytes);
    return found;
  }

  async function refusal(url: URL, options: Parameters<typeof fetched>[1] = {}): Promise<[string, string]> {
    try {
      await fetched(url, options);
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      return [(error as AppError).code, (error as AppError).message.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')];
    }
    throw new Error('it was fetched');
  }

  /** of a file that is not there yet */
  const newPath = (): string => join(folder, `${(serial += 1)}.xml`);
  return { serve, fetched, refusal, newPath };
}
