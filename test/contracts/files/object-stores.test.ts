/** Objects of real stores: an S3-compatible server, and the emulator of Azure's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAzureObjectStore, type AzureTransport } from '../../../src/storage/object-store/azure.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { createBlobSignatures } from '../../../src/inputs/remote/requests.ts';
import { readAccess } from '../../../src/config/source-access.ts';
import type { DecidingStore } from '../../../src/ports/files.ts';
import { needs } from '../../support/needs.ts';
import { startCloudStorage, type CloudStorage } from '../../support/servers/cloud-storage.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';

const s3 = await startS3Server();
let cloud: CloudStorage;

beforeAll(async () => {
  cloud = await startCloudStorage();
});
afterAll(async () => {
  await cloud.stop();
  await s3?.end();
});

function azureStore(container = 'packages', use: 'read' | 'write' = 'write'): DecidingStore {
  const endpoint = `http://${cloud.address}/${cloud.account}`;
  const access = readAccess('az', { endpoint, access_key: cloud.account, secret_key: cloud.key });
  if (access.kind !== 'az') throw new Error('another kind');
  const sign = createBlobSignatures(access, container, use);
  const transport: AzureTransport = async ({ url, body, ...request }, signal) =>
    fetch(await sign(url), { ...request, ...(body === undefined ? {} : { body: body as BodyInit }), signal });
  return createAzureObjectStore({ endpoint, container }, transport);
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = async (body: ReadableStream<Uint8Array> | null): Promise<string | null> =>
  body === null ? null : new Response(body).text();

/** Parts of other sizes than those of uploads. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, (at += 1_000_003)));
    },
  });
}

const stores: readonly (readonly [string, () => DecidingStore, ReturnType<typeof needs>])[] = [
  ['S3', () => createS3ObjectStore(s3!.settings), needs('s3 server', s3 !== null)],
  ['Azure', azureStore, {}],
];

describe.each(stores)('objects of %s', (_, open, options) => {
  it('are written, read by ranges, listed in order and removed', options, async () => {
    const store = open();
    const keys = ['all/a & b.xml', 'all/deep/ü %41+?.xml', 'all/z#1.xml'];
    for (const key of keys.toReversed())
      expect(await store.write(key, bytesOf(`<k>${key}</k>`))).toBeGreaterThan(0);
    await store.write('other/a.xml', bytesOf('x'));
    const listed = await Array.fromAsync(store.listObjects('all/'));
    expect(listed.map(({ key }) => key)).toEqual(keys);
    for (const { key, bytes, version } of listed) {
      const text = `<k>${key}</k>`;
      expect(bytes).toBe(bytesOf(text).byteLength);
      expect(await store.head(key)).toMatchObject({ key, bytes, version });
      expect(await textOf(await store.read(key))).toBe(text);
      expect(await textOf(await store.read(key, { offset: 1, length: 2 }))).toBe('k>');
      expect(await textOf(await store.read(key, { offset: 1, length: 0 }))).toBe('');
    }
    for (const key of [...keys, ...keys]) await store.removeObject(key);
    expect(await Array.fromAsync(store.listObjects('all/'))).toEqual([]);
    expect([await store.head(keys[0]!), await store.read(keys[0]!)]).toEqual([null, null]);
  });

  it('of any size come in parts, the last writer’s alone', options, async () => {
    const store = open();
    const large = new Uint8Array(40 * 1024 * 1024).map((_byte, at) => at * 31 + (at >> 9));
    for (const bytes of [large, large.subarray(7, 33 * 1024 * 1024), new Uint8Array(0), bytesOf('small')]) {
      expect(await store.write('large', streamOf(bytes))).toBe(bytes.byteLength);
      const back = new Uint8Array(await new Response(await store.read('large')).arrayBuffer());
      expect(Buffer.compare(back, bytes)).toBe(0);
    }
    await expect(store.write('large', streamOf(large), 1_000_000)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    expect(await textOf(await store.read('large'))).toBe('small');
  });

  it('are made once, by the first who asks', options, async () => {
    const store = open();
    expect(await store.createObject('once', bytesOf('first'))).toBe(true);
    expect(await store.createObject('once', bytesOf('second'))).toBe(false);
    // a try of the first that is sent again
    expect(await store.createObject('once', bytesOf('first'))).toBe(true);
    expect(await textOf(await store.read('once'))).toBe('first');
  });
});

it('a container that is not there, or is only read, is named as what it is', async () => {
  const none = azureStore('nothing');
  for (const ask of [
    () => none.write('a', bytesOf('a')),
    () => none.createObject('a', bytesOf('a')),
    () => Array.fromAsync(none.listObjects('')),
  ])
    await expect(ask()).rejects.toMatchObject({
      code: 'service_unavailable',
      message: 'the storage account has no such container',
    });
  const refused = await azureStore('packages', 'read')
    .write('a', bytesOf('a'))
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('AuthorizationPermissionMismatch') as string,
  });
  expect(String(refused)).not.toContain('sig=');
});
