/** The real copy program when the other side falls silent: it is ended, and nothing of it is left. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAzcopyTransfer, isAzcopyInstalled } from '../../../src/tools/transfer/azcopy.ts';
import { installAzcopy } from '../../support/servers/cloud-storage.ts';
import { needs } from '../../support/needs.ts';

const scratch = await mkdtemp(join(tmpdir(), 'azcopy-test-'));
const azcopy = await installAzcopy(scratch);
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('azcopy', { timeout: 60_000, ...needs('azcopy', azcopy !== null) }, () => {
  it(
    'is ended where the server takes the first requests, then never answers',
    needs('whole run'),
    async () => {
      let requests = 0;
      const server = createServer((request, response) => {
        requests += 1;
        if (requests <= 2) request.resume().on('end', () => response.writeHead(201).end());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const folder = await mkdtemp(join(scratch, 'package-'));
      for (const name of ['manifest.json', 'a.ndjson', 'b.ndjson', 'c.ndjson'])
        await writeFile(join(folder, name), `{"part":"${name}"}\n`);
      const transfer = createAzcopyTransfer({
        binary: azcopy!,
        location: new URL(`http://127.0.0.1:${port}/account/packages/x/?sv=1&sig=c4nary`),
        checked: { host: '127.0.0.1', port, addresses: ['127.0.0.1'] },
        manifestName: 'manifest.json',
        silenceMs: 3000,
      });
      const fault = await transfer.upload(folder).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(fault).toMatch(/made no progress/);
      expect(fault).not.toContain('c4nary');
      const empty = await mkdtemp(join(scratch, 'empty-'));
      await expect(transfer.download(empty)).rejects.toThrow(/made no progress|does not answer/);
      expect(await readdir(empty)).toEqual([]);
      server.closeAllConnections();
      server.close();
      expect((await readdir(tmpdir())).filter((name) => /^azcopy-(?!test)/.test(name))).toEqual([]);
    },
  );

  it('is ended where more arrives than a package may have', async () => {
    const size = 64 * 1024 * 1024;
    const list = `<?xml version="1.0"?><EnumerationResults ServiceEndpoint="x" ContainerName="packages"><Blobs><Blob><Name>x/manifest.json</Name>
      <Properties><Last-Modified>Wed, 01 Jan 2025 00:00:00 GMT</Last-Modified><Etag>1</Etag><Content-Length>${size}</Content-Length>
      <BlobType>BlockBlob</BlobType></Properties></Blob></Blobs><NextMarker/></EnumerationResults>`;
    const server = createServer(({ method, url }, response) => {
      response.setHeader('ETag', '"1"');
      response.setHeader('Last-Modified', 'Wed, 01 Jan 2025 00:00:00 GMT');
      response.setHeader('x-ms-blob-type', 'BlockBlob');
      if (url!.includes('comp=list')) response.end(list);
      else if (method === 'HEAD') response.writeHead(200, { 'Content-Length': size }).end();
      // its content never comes: the file has its size at once
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const folder = await mkdtemp(join(scratch, 'large-'));
    const transfer = createAzcopyTransfer({
      binary: azcopy!,
      location: new URL(`http://127.0.0.1:${port}/account/packages/x/?sv=1&sig=c4nary`),
      checked: { host: '127.0.0.1', port, addresses: ['127.0.0.1'] },
      manifestName: 'manifest.json',
      silenceMs: 20_000,
      maxBytes: 1024 * 1024,
    });
    await expect(transfer.download(folder)).rejects.toMatchObject({ code: 'unprocessable_input' });
    server.closeAllConnections();
    server.close();
  });

  it('is told from what is no program', async () => {
    expect(await isAzcopyInstalled(azcopy!)).toBe(true);
    expect(await isAzcopyInstalled(join(scratch, 'nothing'))).toBe(false);
  });
});
