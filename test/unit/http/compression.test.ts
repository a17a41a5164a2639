/** Compressed answers, over a real connection: the bytes as they are sent. */
import { request, type IncomingHttpHeaders, type Server } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Hono } from 'hono';
import { chooseCoding, compressed } from '../../../src/http/compression.ts';
import type { Compressor } from '../../../src/ports/network.ts';
import type { AppEnv } from '../../../src/http/env.ts';
import { createCompressor } from '../../../src/runtime/system/compressor.ts';
import { closeServer, listen } from '../../../src/runtime/listen.ts';
import { createPackageAssetStore } from '../../../src/runtime/package-asset-store.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { submitJobs } from '../../support/memory/job-records.ts';

describe('chooseCoding', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['identity', null],
    ['BR', 'br'],
  ])('for %j is %j', (header, coding) => {
    expect(chooseCoding(header, ['br', 'gzip'])).toBe(coding);
  });
});

let compressions = 0;
const zlib = createCompressor();
const compressor: Compressor = {
  ...zlib,
  whole(coding, bytes) {
    compressions += 1;
    return zlib.whole(coding, bytes);
  },
};

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe('answers', () => {
  let server: Server;
  let url: string;
  let key: string;

  beforeAll(async () => {
    const test = await createTestApp(
      { 'cmd.enabled': 'true' },
      { assets: createPackageAssetStore(), compressor },
    );
    key = test.key;
    test.adapters.serviceLog.write('a line of the log\n'.repeat(200));
    await submitJobs(test.adapters.jobs, 1, 30);
    const own = new Hono<AppEnv>().use(compressed(compressor)).get('/own/:kind', (c) => {
      const { kind } = c.req.param();
      if (kind === 'pieces') return c.body(pieces(), 200, { 'Content-Type': 'text/plain' });
      if (kind === 'as-it-is')
        return c.body(pieces(), 200, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-transform' });
      if (kind === 'events') return c.body(pieces(), 200, { 'Content-Type': 'text/event-stream' });
      return c.body(new Uint8Array(5000), 200, { 'Content-Type': kind.replace('_', '/') });
    });
    const host = new Hono().route('/', own).route('/', test.app);
    ({ server, url } = await listen((given, env) => host.fetch(given, env), {
      host: '127.0.0.1',
      port: 0,
      connections: 100,
    }));
  });

  afterAll(() => closeServer(server));

  function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const sent = request(
        url + path,
        { method, headers: { Authorization: `Bearer ${key}`, ...headers } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () =>
            resolve({ status: answer.statusCode!, headers: answer.headers, bytes: Buffer.concat(chunks) }),
          );
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('are sent in %s: lists, documents, files of the page, errors', async (coding, decompress) => {
    for (const path of [
      '/v2/executions/all',
      '/openapi.json',
      '/openapi.yaml',
      '/doc/swagger-ui.css',
      '/ui/main.js',
    ]) {
      const plain = await get(path);
      expect([path, plain.headers['content-encoding']]).toEqual([path, undefined]);
      const packed = await get(path, { 'Accept-Encoding': coding });
      expect([path, packed.status, packed.headers['content-encoding']]).toEqual([path, 200, coding]);
      expect(decompress(packed.bytes).equals(plain.bytes)).toBe(true);
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
      for (const { headers } of [plain, packed]) expect(headers.vary).toMatch(/\bAccept-Encoding\b/);
      // the tag names the content, whatever its coding
      expect(packed.headers.etag).toBe(plain.headers.etag);
    }
  });

  it('are compressed once where they belong to the program', async () => {
    const header = { 'Accept-Encoding': 'br' };
    const first = await get('/doc/swagger-ui-bundle.js', header);
    expect(first.headers['content-length']).toBe(String(first.bytes.length));
    const before = compressions;
    for (let count = 0; count < 3; count += 1)
      expect((await get('/doc/swagger-ui-bundle.js', header)).bytes.equals(first.bytes)).toBe(true);
    expect(compressions).toBe(before);
  });

  it('of /doc with its files are at most 700 kB', async () => {
    for (const coding of ['br', 'gzip']) {
      const header = { 'Accept-Encoding': coding };
      const page = await get('/doc', { ...header, Accept: 'text/html' });
      const files = [...page.bytes.toString().matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, file]) => `/${file}`,
      );
      expect(files).toHaveLength(5);
      let sum = page.bytes.length + (await get('/doc', header)).bytes.length;
      for (const file of files) {
        const { status, headers, bytes } = await get(file, header);
        expect([file, status, headers['cache-control']]).toEqual([
          file,
          200,
          'public, max-age=31536000, immutable',
        ]);
        sum += bytes.length;
      }
      expect(sum).toBeLessThan(700_000);
    }
  });

  it('are not compressed if they are short, compressed already, or events', async () => {
    const header = { 'Accept-Encoding': 'br, gzip' };
    for (const path of [
      '/v2/about/org',
      '/own/image_png',
      '/own/application_zip',
      '/own/application_octet-stream',
      '/own/application_vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      '/own/events',
      '/own/as-it-is',
      '/doc/favicon-32x32.png',
      '/v2/executions/get/x',
    ]) {
      const { headers, bytes } = await get(path, header);
      expect([path, headers['content-encoding']]).toEqual([path, undefined]);
      expect(bytes.length).toBeGreaterThan(0);
    }
  });

  it('are sent piece by piece', async () => {
    const packed = await get('/own/pieces', { 'Accept-Encoding': 'gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.bytes).toString()).toBe(pieceText.repeat(pieceCount));
  });

  it('are not read further when the client goes', async () => {
    const before = read;
    await new Promise<void>((resolve) => {
      const sent = request(`${url}/own/pieces`, { headers: { 'Accept-Encoding': 'br' } }, (answer) => {
        answer.once('data', () => answer.destroy());
        answer.on('close', resolve);
        answer.on('error', () => undefined);
      });
      sent.on('error', () => undefined);
      sent.end();
    });
    const [at] = [read];
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(read - before).toBeLessThan(pieceCount);
    expect(read - at).toBeLessThan(pieceCount / 2);
  });

  it('keep their ranges', async () => {
    const header = { 'Accept-Encoding': 'br' };
    const whole = await get('/actuator/logfile', header);
    expect(whole.headers['content-encoding']).toBeUndefined();
    const part = await get('/actuator/logfile', { ...header, Range: 'bytes=0-9' });
    expect([part.status, part.headers['content-encoding'], part.bytes.length]).toEqual([206, undefined, 10]);
  });

  it('have the headers of their compressed form for HEAD and 304', async () => {
    const { headers } = await get('/openapi.json', { 'Accept-Encoding': 'br' });
    const unchanged = await get('/openapi.json', {
      'Accept-Encoding': 'br',
      'If-None-Match': headers.etag!,
    });
    expect([unchanged.status, unchanged.bytes.length]).toEqual([304, 0]);
    expect([unchanged.headers.etag, unchanged.headers.vary]).toEqual([headers.etag, headers.vary]);
    const head = await get('/openapi.json', { 'Accept-Encoding': 'br' }, 'HEAD');
    expect([head.status, head.headers.etag, head.headers.vary]).toEqual([200, headers.etag, headers.vary]);
  });
});

const pieceText = `${'text '.repeat(3000)}\n`;
const pieceCount = 600;
let read = 0;

function pieces(): ReadableStream<Uint8Array> {
  let left = pieceCount;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close();
      left -= 1;
      read += 1;
      controller.enqueue(new TextEncoder().encode(pieceText));
    },
  });
}
