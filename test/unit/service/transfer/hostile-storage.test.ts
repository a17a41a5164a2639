/** Cloud storage that answers what no storage would: without end, in pages without end, more than it said. */
import { readdir, rm, stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBlobTransfer } from '../../../../src/tools/transfer/azure-blob.ts';
import { some } from '../../../support/needs.ts';
import { useTrial } from '../../../support/service/trial.ts';

const mebibyte = 1024 * 1024;
const block = Buffer.alloc(mebibyte, ' ');
const start = '<?xml version="1.0"?><EnumerationResults ServiceEndpoint="x" ContainerName="c">';
const entry =
  '<Blob><Name>p/manifest.json</Name><Properties><Content-Length>2</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>';

let sent = 0;
let lists = 0;
let blobs = 0;
/** what the list and the blob in it answer with */
let list: (answer: ServerResponse) => void;
let blob: (answer: ServerResponse) => void;
const trial = useTrial();
let folder: string;
let redirected = 0;

const server = createServer((request, answer) => {
  if (request.url!.startsWith('/elsewhere')) redirected += 1;
  answer.setHeader('Content-Type', 'application/xml');
  if (request.url!.includes('comp=list')) {
    lists += 1;
    list(answer);
  } else {
    blobs += 1;
    blob(answer);
  }
});
const endless = (answer: ServerResponse, fault?: Error | null): void => {
  if (fault) return;
  sent += block.length;
  answer.write(block, (next) => endless(answer, next));
};
const half = (answer: ServerResponse): void => {
  answer.writeHead(200, { 'Content-Length': 100, ETag: '"1"' });
  answer.write('abc', () => answer.destroy());
};
const oneBlob = (answer: ServerResponse): void =>
  void answer.end(`${start}<Blobs>${entry}</Blobs><NextMarker/></EnumerationResults>`);

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = await trial.folder('hostile-storage-');
});

beforeEach(() => {
  [sent, lists, blobs, redirected] = [0, 0, 0, 0];
  list = oneBlob;
  blob = (answer) => void answer.end('{}');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function download(maxBytes?: number, patienceMs?: number): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const place = { host: '127.0.0.1', port, addresses: ['127.0.0.1'] };
  const location = new URL(`http://127.0.0.1:${port}/account/container/p/?sv=1&sig=secret`);
  await createBlobTransfer(location, place, 'manifest.json', maxBytes, patienceMs).download(folder);
}

describe('cloud storage', { timeout: 20_000 }, () => {
  it('that lists without end is not heard out', async () => {
    list = (answer) => {
      answer.write(start);
      endless(answer);
    };
    await expect(download()).rejects.toMatchObject({ code: 'unprocessable_input' });
    expect(sent).toBeLessThan(64 * mebibyte);
    expect(lists).toBe(1);
  });

  it('that has a next page for ever is not asked for ever', async () => {
    list = (answer) =>
      void answer.end(`${start}<Blobs></Blobs><NextMarker>m${lists}</NextMarker></EnumerationResults>`);
    await expect(download()).rejects.toMatchObject({ code: 'unprocessable_input' });
    expect(lists).toBeLessThanOrEqual(101);
  });

  it('with more in it than a package may have does not fill the disk', async () => {
    blob = (answer) => {
      answer.setHeader('Content-Length', 1024 ** 4);
      answer.setHeader('ETag', '"1"');
      endless(answer);
    };
    await expect(download(2 * mebibyte)).rejects.toMatchObject({ code: 'unprocessable_input' });
    // the client resumes what broke off, and is broken off at once
    expect(blobs).toBeLessThanOrEqual(4);
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    expect(Math.max(0, ...sizes)).toBeLessThan(8 * mebibyte);
    await Promise.all(names.map((name) => rm(join(folder, name))));
  });

  it('that sends on to another place is not followed', async () => {
    const { port } = server.address() as AddressInfo;
    blob = (answer) => void answer.writeHead(302, { Location: `http://127.0.0.2:${port}/elsewhere` }).end();
    await expect(download()).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(redirected).toBe(0);
    const { length } = await readdir(folder);
    expect(length).toBe(0);
  });

  it.each(some(['a file', 'a list'], 1))(
    'that breaks off in the middle of %s is not waited for',
    async (what) => {
      if (what === 'a file') blob = half;
      else list = half;
      await expect(download(undefined, 3000)).rejects.toMatchObject({
        code: 'service_unavailable',
        message: expect.stringContaining('cloud storage refused or ended the copy'),
      });
      for (const name of await readdir(folder)) await rm(join(folder, name));
    },
  );

  it.each(['nothing', 'another protocol'])('that answers with %s is given up', async (what) => {
    list = (answer) => {
      if (what === 'another protocol')
        answer.socket!.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n');
    };
    await expect(download(undefined, 1000)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('no answer'),
    });
    expect(await readdir(folder)).toEqual([]);
  });
});
