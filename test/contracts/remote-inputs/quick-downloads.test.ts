/** What small and large files are fetched by beside the usual way: whole answers, ranges, and signatures that are made at once. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsClient } from 'aws4fetch';
import { describe, expect, it } from 'vitest';
import { createOutgoingGuard } from '../../../src/service/access/outgoing-guard.ts';
import { createPinnedHttp, createHostResolver } from '../../../src/network/checked-http.ts';
import { createQuickAnswers, type QuickAnswer } from '../../../src/network/quick-answers.ts';
import { downloadParts } from '../../../src/inputs/remote/download.ts';
import { createRemoteRequests, createS3Signatures } from '../../../src/inputs/remote/requests.ts';
import { objectUrl } from '../../../src/inputs/remote/listing.ts';
import { file, useServed, whole } from './served.ts';

const { serve, fetched, refusal, newPath } = useServed();

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

  it('that is longer by now is not loaded, and a shorter one is taken as what it is', async () => {
    const { url } = await serve((request, response) => file(request, response));
    expect((await refusal(url, { bytes }))[1]).toContain(`more than the ${bytes} bytes that it listed`);
    const { url: empty } = await serve((_, response) => plain(response, Buffer.alloc(0)));
    expect(await fetched(empty, { bytes })).toHaveLength(0);
    const { url: none } = await serve((_, response) => response.writeHead(404).end());
    expect((await refusal(none, { bytes }))[0]).toBe('input_not_found');
  });
});

/** As servers of files do that know ranges. */
const part = (
  request: IncomingMessage,
  response: ServerResponse,
  { tag = '"v1"', total = whole.length, upTo = Infinity } = {},
): void => {
  const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range!)!.map(Number);
  response.writeHead(206, {
    ETag: tag,
    'Content-Range': `bytes ${from}-${last}/${total}`,
    'Content-Length': last! - from! + 1,
  });
  response.write(whole.subarray(from, Math.min(last! + 1, from! + upTo)));
  if (upTo === Infinity) response.end();
  else setTimeout(() => response.destroy(), 20);
};

describe('a large file', () => {
  const size = 70_000;
  const inParts = async (url: URL, more: { readonly version?: string; readonly bytes?: number } = {}) => {
    const { signal } = new AbortController();
    const guard = createOutgoingGuard(['*'], createHostResolver());
    const options = { check: (at: URL) => guard.checkUrl(at), http: createPinnedHttp(), signal };
    const { get } = createRemoteRequests(options, null);
    const path = newPath();
    const place = { label: url.href, signal, bytes: whole.length, ...more };
    const bytes = await downloadParts(get, url, path, place, size);
    return bytes === null ? null : readFile(path);
  };

  it('comes in ranges, each taken up where its connection broke', async () => {
    const { url, requests } = await serve((request, response) => part(request, response));
    expect((await inParts(url, { version: '"v1"' }))!.equals(whole)).toBe(true);
    expect(requests.map(({ headers }) => headers.range).toSorted()).toEqual(
      ['0-69999', '140000-209999', '210000-279999', '280000-299999', '70000-139999'].map(
        (one) => `bytes=${one}`,
      ),
    );
    const breaking = await serve((request, response, number) =>
      part(request, response, number <= 2 ? { upTo: 20_000 } : {}),
    );
    expect((await inParts(breaking.url))!.equals(whole)).toBe(true);
    expect(breaking.requests).toHaveLength(7);
  });

  it('that changes meanwhile, or is not the one that was wanted, is not loaded', async () => {
    const { url } = await serve((request, response, number) =>
      part(request, response, number === 4 ? { tag: '"v2"' } : {}),
    );
    await expect(inParts(url)).rejects.toThrow('changed while it was read, so nothing was loaded');
    const other = await serve((request, response) => part(request, response));
    await expect(inParts(other.url, { version: '"v0"' })).rejects.toThrow('changed while it was read');
  });

  it.each<readonly [string, (request: IncomingMessage, response: ServerResponse) => void]>([
    ['knows no ranges', (_, response) => void response.writeHead(200, { ETag: '"v1"' }).end(whole)],
    ['tells no version', (request, response) => part(request, response, { tag: '' })],
    [
      'has a file of another length',
      (request, response) => part(request, response, { total: whole.length + 1 }),
    ],
    [
      'sends another range',
      (_, response) =>
        void response
          .writeHead(206, { ETag: '"v1"', 'Content-Range': `bytes 5-9/${whole.length}` })
          .end('12345'),
    ],
    ['has none', (_, response) => void response.writeHead(404).end()],
    ['never answers', (_, response) => void response.destroy()],
  ])('of a server that %s is not had so', async (_, handler) => {
    const { url } = await serve(handler);
    expect(await inParts(url)).toBeNull();
  });

  it('of a bucket is fetched so by itself', async () => {
    const bytes = 64 * 1024 * 1024 + 5;
    const line = Buffer.alloc(1024 * 1024, 'abcdefghijklmnopqrstuvwxy\n');
    const ranges = new Set<string>();
    const { url } = await serve((request, response) => {
      const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? 'bytes=0-0')!.map(Number);
      ranges.add(request.headers.range ?? 'none');
      const length = last! - from! + 1;
      response.writeHead(206, {
        ETag: '"v1"',
        'Content-Range': `bytes ${from}-${last}/${bytes}`,
        'Content-Length': length,
      });
      for (let sent = 0; sent < length; sent += line.length) response.write(line.subarray(0, length - sent));
      response.end();
    });
    expect(await fetched(url, { bytes })).toHaveLength(bytes);
    expect(ranges.size).toBe(5);
  });
});

const bytesOf = ({ bytes }: QuickAnswer): Buffer => Buffer.from(bytes);

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
      // in one piece with its head, or in two
      if (Number(name) % 2 === 0) return void response.end(name);
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
        const answer = await answers.get(checked, new URL(`/${name}`, url), {}, 100, (one) => [
          Buffer.from(one.bytes).toString(),
          one.version,
        ]);
        found.push(answer!.join(' '));
      }
    };
    await Promise.all([ask(), ask()]);
    expect(found.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => `${1000 + at} "${1000 + at}"`));
    expect(ports.size).toBeLessThan(10);
    const refusing = answers.get(checked, new URL('/1000', url), {}, 100, () => {
      throw new RangeError('not this one');
    });
    await expect(refusing).rejects.toThrow('not this one');
    expect(await answers.get(checked, new URL('/1002', url), {}, 100, bytesOf)).toEqual(Buffer.from('1002'));
    ended.abort();
    expect(await answers.get(checked, url, {}, 100, bytesOf)).toBeNull();
  });

  it('are not asked of another host than the one that was checked, nor with a header that is none', async () => {
    const { url, requests } = await serve((_, response) => response.end());
    const guard = createOutgoingGuard(['*'], createHostResolver());
    const { signal } = new AbortController();
    const answers = createQuickAnswers({ signal, idleTimeoutMs: 30_000 });
    const other = await guard.check('127.0.0.2', Number(url.port));
    expect(await answers.get(other, url, {}, 100, bytesOf)).toBeNull();
    const own = await guard.checkUrl(url);
    expect(await answers.get(own, url, { 'X-Token': 'a\r\nX-Other: b' }, 100, bytesOf)).toBeNull();
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
