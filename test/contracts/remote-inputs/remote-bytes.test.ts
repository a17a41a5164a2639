/** Files that are read in place: ranges of one version, over connections that break, from hosts that may be reached. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createOutgoingGuard } from '../../../src/service/access/outgoing-guard.ts';
import { createPinnedHttp, createHostResolver } from '../../../src/network/checked-http.ts';
import { lookAt, remoteBytes } from '../../../src/inputs/remote/download.ts';
import { createRemoteRequests, type RemoteRequests } from '../../../src/inputs/remote/requests.ts';
import { useServed, whole } from './served.ts';

const { serve } = useServed();
const { signal } = new AbortController();

/** longer than a piece */
const large = Buffer.concat(Array.from({ length: 31 }, () => whole));

function requestsTo(allowed: readonly string[] = ['*']): RemoteRequests {
  const guard = createOutgoingGuard(allowed, createHostResolver());
  return createRemoteRequests(
    { check: (url) => guard.checkUrl(url), http: createPinnedHttp(), signal },
    null,
  );
}

/** As servers of files do; `upTo`: bytes of the answer, behind which the connection ends. */
function range(request: IncomingMessage, response: ServerResponse, tag = '"v1"', upTo = Infinity): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range!)!.map(Number);
  const part = large.subarray(from, to! + 1);
  response.writeHead(206, {
    ETag: tag,
    'Content-Length': part.length,
    'Content-Range': `bytes ${from}-${from! + part.length - 1}/${large.length}`,
  });
  if (upTo >= part.length) response.end(part);
  else response.write(part.subarray(0, upTo), () => setTimeout(() => response.destroy(), 20));
}

async function read(url: URL, from = 0, to = large.length, requests = requestsTo()): Promise<Buffer> {
  const file = { url, label: 'the file', version: '"v1"', bytes: large.length };
  return Buffer.concat(await Array.fromAsync(remoteBytes(requests, file, { from, to }, signal)));
}

describe('a file that is read where it lies', () => {
  it('comes in ranges of it, to its end', async () => {
    const { url, requests } = await serve((request, response) => range(request, response));
    expect((await read(url)).equals(large)).toBe(true);
    expect(requests.length).toBeGreaterThan(2);
    expect((await read(url, 5_000_000, 5_000_123)).equals(large.subarray(5_000_000, 5_000_123))).toBe(true);
    expect((await read(url, large.length - 7, Infinity)).equals(large.subarray(-7))).toBe(true);
    expect(await read(url, large.length)).toHaveLength(0);
    expect(await lookAt(requestsTo(), url)).toEqual({ listed: '"v1"', bytes: large.length });
  });

  it('is taken up where a connection broke, and where a server has no time', async () => {
    const { url, requests } = await serve((request, response, number) =>
      number % 3 === 0 ? response.writeHead(503).end() : range(request, response, '"v1"', 1_500_000),
    );
    expect((await read(url)).equals(large)).toBe(true);
    expect(requests.length).toBeGreaterThan(large.length / 1_500_000);
  });

  it.each<
    readonly [
      string,
      string,
      RegExp,
      (request: IncomingMessage, response: ServerResponse, number: number) => void,
    ]
  >([
    [
      'is another by now',
      'unprocessable_input',
      /the file: changed while it was read/,
      (request, response, number) => range(request, response, number === 1 ? '"v1"' : '"v2"'),
    ],
    [
      'is shorter by now',
      'unprocessable_input',
      /the file: changed while it was read/,
      (_, response) => response.writeHead(416).end(),
    ],
    [
      'is gone',
      'input_not_found',
      /the file: there is no such file/,
      (_, response) => response.writeHead(404).end(),
    ],
    [
      'may not be read',
      'unprocessable_input',
      /the file: may not be read \(status 403\)/,
      (_, response) => response.writeHead(403).end(),
    ],
    [
      'is sent whole',
      'unprocessable_input',
      /the file: the server no longer answers range requests/,
      (_, response) => response.writeHead(200, { ETag: '"v1"' }).end(large),
    ],
    [
      'is never sent',
      'service_unavailable',
      /the file: cannot be read now \(.+\); nothing was loaded/,
      (_, response) => response.destroy(),
    ],
    [
      'ends early again and again',
      'service_unavailable',
      /the file: cannot be read now \(.+\)/,
      (request, response) => range(request, response, '"v1"', 0),
    ],
  ])('that %s is refused', async (_, code, message, handler) => {
    const { url } = await serve(handler);
    await expect(read(url)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('comes from no host that may not be reached, nor where another one leads there', async () => {
    const there = await serve((request, response) => range(request, response), '127.0.0.2');
    const from = await serve((_, response) => response.writeHead(302, { Location: there.url.href }).end());
    const refused = { code: 'host_not_allowed' };
    await expect(read(there.url, 0, 10, requestsTo([from.url.host]))).rejects.toMatchObject(refused);
    await expect(read(from.url, 0, 10, requestsTo([from.url.host]))).rejects.toMatchObject(refused);
    expect(there.requests).toHaveLength(0);
    expect((await read(from.url, 0, 10)).equals(large.subarray(0, 10))).toBe(true);
  });
});
