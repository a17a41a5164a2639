/** Keys that a store lists: those outside of what was asked for, and those that no store has, are refused with short names. */
import { expect, it } from 'vitest';
import { openRemoteStore } from '../../../src/inputs/remote/listing.ts';

const s3 = {
  kind: 's3',
  endpoint: 'https://store.example',
  region: 'x',
  accessKeyId: 'a',
  secretAccessKey: 'b',
} as const;
const az = { kind: 'az', endpoint: 'https://store.example', account: 'a', key: null, token: 't' } as const;

const pages = {
  s3: (key: string): string =>
    `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>in/a.xml</Key><Size>1</Size></Contents><Contents><Key>${key}</Key><Size>1</Size></Contents></ListBucketResult>`,
  az: (key: string): string =>
    `<EnumerationResults><Blobs><Blob><Name>in/a.xml</Name><Properties><Content-Length>1</Content-Length></Properties></Blob><Blob><Name>${key}</Name><Properties><Content-Length>1</Content-Length></Properties></Blob></Blobs><NextMarker/></EnumerationResults>`,
};

async function listed(access: typeof s3 | typeof az, answer: () => Response): Promise<string[]> {
  const store = openRemoteStore(() => Promise.resolve(answer()), access, 'bucket');
  const keys: string[] = [];
  for await (const { key } of store.list('in/', 's3://bucket/in/')) keys.push(key);
  return keys;
}

it.each([s3, az])('a key outside of the prefix is refused ($kind)', async (access) => {
  const page = pages[access.kind];
  expect(await listed(access, () => new Response(page('in/b.xml')))).toEqual(['in/a.xml', 'in/b.xml']);
  for (const key of ['/tmp/x/abs.xml', 'out/b.xml', 'i', '../in/b.xml'])
    await expect(listed(access, () => new Response(page(key)))).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: `s3://bucket/in/: the store lists ${key}, which is not below in/; nothing was loaded`,
    });
});

it.each([s3, az])('a key of 10 MB is refused, and named in short ($kind)', async (access) => {
  const page = pages[access.kind](`in/${'k'.repeat(10_000_000)}`);
  const fault = await listed(access, () => new Response(page)).catch((error: unknown) => error as Error);
  expect(fault).toMatchObject({ code: 'unprocessable_input' });
  expect((fault as Error).message.length).toBeLessThan(500);
});

it('a page without end is refused', async () => {
  const piece = new Uint8Array(1024 * 1024).fill(32);
  const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(piece) });
  await expect(listed(s3, () => new Response(endless))).rejects.toMatchObject({
    code: 'unprocessable_input',
  });
});
