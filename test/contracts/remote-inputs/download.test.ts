/** Files fetched from servers that break off, stall, lie, change what they serve, and lead elsewhere. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPinnedHttp } from '../../../src/adapters/outgoing/checked-http.ts';
import { createQuickAnswers } from '../../../src/adapters/outgoing/quick-answers.ts';
import { createHostResolver } from '../../../src/adapters/outgoing/host-resolver.ts';
import { createOutgoingGuard } from '../../../src/access/outgoing-guard.ts';
import { downloadFile } from '../../../src/adapters/remote-inputs/download.ts';
import {
  createRemoteRequests,
  type PlaceAccess,
} from '../../../src/adapters/remote-inputs/remote-requests.ts';
import { objectUrl } from '../../../src/adapters/remote-inputs/s3-listing.ts';
import { createS3Signatures } from '../../../src/adapters/remote-inputs/s3-signatures.ts';
import { AppError } from '../../../src/errors.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => void;

const whole = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
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

interface Served {
  readonly url: URL;
  readonly requests: IncomingMessage[];
}

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

const rangeOf = (request: IncomingMessage): number =>
  Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);

/** As servers of files do, with ranges. */
function file(
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

describe('a file on a server', () => {
  it('is fetched as it lies there, and asked for without any packing', async () => {
    const { url, requests } = await serve((request, response) => file(request, response));
    expect((await fetched(url)).equals(whole)).toBe(true);
    expect(requests[0]!.headers['accept-encoding']).toBe('identity');
  });

  it('is taken up where a connection broke', async () => {
    const { url, requests } = await serve((request, response, number) =>
      file(request, response, {}, Math.min(whole.length, number * 70_000)),
    );
    expect((await fetched(url)).equals(whole)).toBe(true);
    expect(requests.map(rangeOf)).toEqual([0, 70_000, 140_000, 210_000, 280_000]);
  });

  it('is fetched anew where the server knows no ranges, or tells no version', async () => {
    const noRanges = await serve((_, response, number) => {
      response.writeHead(200, { ETag: '"v1"', 'Content-Length': whole.length });
      response.write(number < 3 ? whole.subarray(0, 1000) : whole);
      if (number < 3) setTimeout(() => response.destroy(), 20);
      else response.end();
    });
    expect((await fetched(noRanges.url)).equals(whole)).toBe(true);
    const noVersion = await serve((_, response, number) => {
      response.writeHead(200, { 'Content-Length': whole.length });
      response.write(number < 2 ? Buffer.alloc(1000, 1) : whole);
      if (number < 2) setTimeout(() => response.destroy(), 20);
      else response.end();
    });
    expect((await fetched(noVersion.url)).equals(whole)).toBe(true);
    expect(noVersion.requests.map((request) => request.headers.range)).toEqual([undefined, undefined]);
  });

  it.each([
    ['its version', { tag: '"v2"' }],
    ['its length', { bytes: Buffer.concat([whole, whole]) }],
  ])('that changes meanwhile, told by %s, is not loaded', async (_, other) => {
    const { url } = await serve((request, response, number) =>
      number === 1 ? file(request, response, {}, 1000) : file(request, response, other),
    );
    expect(await refusal(url)).toEqual([
      'unprocessable_input',
      'http://HOST/a/file.xml: changed while it was read, so nothing was loaded; run it again when nobody writes it',
    ]);
  });

  it('that is shorter than its server says is not loaded', async () => {
    const { url } = await serve((request, response) => {
      if (rangeOf(request) > 0) response.writeHead(416).end();
      else file(request, response, {}, 1000);
    });
    expect((await refusal(url))[0]).toBe('unprocessable_input');
    const { url: never } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': 5000 });
      response.write(Buffer.alloc(100));
      setTimeout(() => response.destroy(), 5);
    });
    const [code, message] = await refusal(never);
    expect([code, message]).toEqual([
      'service_unavailable',
      expect.stringMatching(/^http:\/\/HOST\/a\/file\.xml: cannot be read now \(.+\); nothing was loaded$/),
    ]);
  });

  it('is waited for while its server has no time', async () => {
    const { url, requests } = await serve((request, response, number) => {
      if (number < 3) response.writeHead(503).end('later');
      else file(request, response);
    });
    expect((await fetched(url)).equals(whole)).toBe(true);
    expect(requests).toHaveLength(3);
  });

  it.each([
    [404, 'input_not_found'],
    [403, 'unprocessable_input'],
    [401, 'unprocessable_input'],
    [400, 'unprocessable_input'],
  ])('answered with %i is asked for once', async (status, code) => {
    const { url, requests } = await serve((_, response) => response.writeHead(status).end());
    expect(await refusal(url)).toEqual([code, expect.stringContaining(String(status))]);
    expect(requests).toHaveLength(1);
  });
});

describe('a small file', () => {
  const bytes = 3000;
  const small = whole.subarray(0, bytes);
  const plain = (response: ServerResponse, content = small): void =>
    void response.writeHead(200, { ETag: '"v1"', 'Content-Length': content.length }).end(content);

  it('comes in one answer, pinned to the version that is wanted', async () => {
    const { url, requests } = await serve((_, response) => plain(response));
    expect((await fetched(url, { bytes, version: '"v1"' })).equals(small)).toBe(true);
    expect(requests[0]!.headers).toMatchObject({ 'accept-encoding': 'identity', host: url.host });
    expect(requests).toHaveLength(1);
    expect((await refusal(url, { bytes, version: '"v0"' }))[1]).toContain('changed while it was read');
  });

  it.each<readonly [string, (response: ServerResponse) => void]>([
    ['in chunks', (response) => void response.writeHead(200, { ETag: '"v1"' }).end(small)],
    ['packed', (response) => void response.writeHead(200, { 'Content-Encoding': 'br' }).end(small)],
    ['cut off', (response) => void response.writeHead(200, { 'Content-Length': 9000 }).write(small)],
    [
      'with a length twice',
      (response) =>
        void response.socket!.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    ['in no HTTP', (response) => void response.socket!.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['with a status that passes', (response) => void response.writeHead(503).end('later')],
    ['not at all', (response) => void response.destroy()],
    [
      'larger than was said',
      (response) => void response.writeHead(200, { 'Content-Length': 2 ** 30 }).write(whole),
    ],
  ])('that comes %s is asked for anew, in the way that large ones are', async (_, first) => {
    const { url, requests } = await serve((_request, response, number) => {
      if (number > 1) return plain(response);
      first(response);
      setTimeout(() => response.destroy(), 20);
    });
    expect((await fetched(url, { bytes })).equals(small)).toBe(true);
    expect(requests).toHaveLength(2);
  });

  it('is followed where it leads, to hosts that may be reached', async () => {
    const there = await serve((_, response) => plain(response));
    const from = await serve((_, response) => response.writeHead(302, { Location: there.url.href }).end());
    expect((await refusal(from.url, { bytes, allowed: [from.url.host] }))[0]).toBe('host_not_allowed');
    const allowed = [from.url.host, there.url.host];
    expect((await fetched(from.url, { bytes, allowed })).equals(small)).toBe(true);
    expect((await refusal(there.url, { bytes, allowed: [] }))[0]).toBe('host_not_allowed');
  });

  it('that is none by now is taken as what it is', async () => {
    const { url } = await serve((request, response) => file(request, response));
    expect((await fetched(url, { bytes })).equals(whole)).toBe(true);
    const { url: empty } = await serve((_, response) => plain(response, Buffer.alloc(0)));
    expect(await fetched(empty, { bytes })).toHaveLength(0);
    const { url: none } = await serve((_, response) => response.writeHead(404).end());
    expect((await refusal(none, { bytes }))[0]).toBe('input_not_found');
  });
});

describe('many small answers of a server', () => {
  it('come over connections that are used again, each the one that was asked for', async () => {
    const ports = new Set<number>();
    const { url } = await serve((request, response) => {
      ports.add(request.socket.remotePort!);
      const name = request.url!.slice(1);
      response.setHeader('ETag', `"${name}"`);
      // some servers end a connection now and then
      if (Number(name) % 10 === 9) response.setHeader('Connection', 'close');
      response.setHeader('Content-Length', name.length);
      response.write(name.slice(0, 1));
      setImmediate(() => response.end(name.slice(1)));
    });
    const ended = new AbortController();
    const answers = createQuickAnswers({ signal: ended.signal, idleTimeoutMs: 30_000 });
    const checked = await createOutgoingGuard(['*'], createHostResolver()).checkUrl(url);
    const waiting = Array.from({ length: 40 }, (_, at) => String(1000 + at)).values();
    const found: string[] = [];
    const ask = async (): Promise<void> => {
      for (const name of waiting) {
        const answer = await answers.get(checked, new URL(`/${name}`, url), {}, 100);
        found.push(`${Buffer.from(answer!.bytes).toString()} ${answer!.version}`);
      }
    };
    await Promise.all([ask(), ask()]);
    expect(found.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => `${1000 + at} "${1000 + at}"`));
    expect(ports.size).toBeLessThan(10);
    ended.abort();
    expect(await answers.get(checked, url, {}, 100)).toBeNull();
  });

  it('are not asked of another host than the one that was checked, nor with a header that is none', async () => {
    const { url, requests } = await serve((_, response) => response.end());
    const guard = createOutgoingGuard(['*'], createHostResolver());
    const { signal } = new AbortController();
    const answers = createQuickAnswers({ signal, idleTimeoutMs: 30_000 });
    const other = await guard.check('127.0.0.2', Number(url.port));
    expect(await answers.get(other, url, {}, 100)).toBeNull();
    const own = await guard.checkUrl(url);
    expect(await answers.get(own, url, { 'X-Token': 'a\r\nX-Other: b' }, 100)).toBeNull();
    expect(requests).toHaveLength(0);
  });
});

describe('signatures of a store', () => {
  it('are those that other programs make', async () => {
    const access = { kind: 's3', endpoint: 'https://s3.example', region: 'eu-central-1' } as const;
    const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret/+=' };
    const listed = objectUrl(access.endpoint, 'bank', '');
    for (const [name, value] of [
      ['list-type', '2'],
      ['prefix', 'in/ü a*'],
      ['continuation-token', '1+='],
      ['b', ''],
    ] as const)
      listed.searchParams.set(name, value);
    const urls = [
      objectUrl(access.endpoint, 'bank', 'inbox/a.xml'),
      objectUrl(access.endpoint, 'bank', "ü (1)'*!~/& = + %2F,;:@$.xml"),
      listed,
    ];
    for (const sessionToken of [undefined, 'a  token'])
      for (const url of urls) {
        const session = sessionToken === undefined ? {} : { sessionToken };
        const sign = createS3Signatures({ ...access, ...keys, ...session });
        const client = new AwsClient({ ...keys, ...session, region: access.region, service: 's3' });
        for (const time of ['2026-11-26T23:59:59Z', '2026-11-27T00:00:00Z']) {
          const datetime = time.replaceAll(/[:-]/g, '');
          const expected = await client.sign(url.href, { method: 'GET', aws: { datetime } });
          expect(sign(url, Date.parse(time))).toEqual(Object.fromEntries(expected.headers));
        }
      }
  });
});

describe('where a server leads', () => {
  it('is followed to hosts that may be reached, and to no other', async () => {
    const there = await serve((request, response) => file(request, response));
    const from = await serve((_, response) => response.writeHead(302, { Location: there.url.href }).end());
    const hosts = [from.url.host];
    expect((await refusal(from.url, { allowed: hosts }))[0]).toBe('host_not_allowed');
    expect(there.requests).toHaveLength(0);
    hosts.push(there.url.host);
    expect((await fetched(from.url, { allowed: hosts })).equals(whole)).toBe(true);
  });

  it('does not get the credentials of where it came from', async () => {
    const there = await serve((request, response) => file(request, response));
    const from = await serve((_, response) => response.writeHead(307, { Location: there.url.href }).end());
    const secret = { token: 'not-for-others', user: null, password: null };
    const access = { kind: 'https', host: from.url.host, ...secret } as const;
    await fetched(from.url, { access: { access, by: 'operator' } });
    expect(from.requests[0]!.headers.authorization).toBe('Bearer not-for-others');
    expect(there.requests[0]!.headers.authorization).toBeUndefined();
  });

  it('named by a request is checked, though its credential names it', async () => {
    const there = await serve((request, response) => file(request, response));
    const access = {
      kind: 'https',
      host: there.url.host,
      token: null,
      user: 'ann',
      password: 'é:/',
    } as const;
    const options = { allowed: [], access: { access, by: 'request' as const } };
    expect((await refusal(there.url, options))[0]).toBe('host_not_allowed');
    expect(there.requests).toHaveLength(0);
    await fetched(there.url, { ...options, allowed: [there.url.host] });
    expect(there.requests[0]!.headers.authorization).toBe(
      `Basic ${Buffer.from('ann:é:/').toString('base64')}`,
    );
  });

  it('has an end', async () => {
    const { url, requests } = await serve((_, response) =>
      response.writeHead(302, { Location: '/again' }).end(),
    );
    expect((await refusal(url))[0]).toBe('unprocessable_input');
    expect(requests).toHaveLength(6);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:7f00:1]:1/',
    'file:///etc/passwd',
    'http://',
  ])('is refused: %s', async (location) => {
    const { url } = await serve((_, response) => response.writeHead(302, { Location: location }).end());
    expect(['host_not_allowed', 'unprocessable_input']).toContain(
      (await refusal(url, { allowed: [url.host] }))[0],
    );
  });
});
