/** Blobs of a storage account, listed and fetched by its key and by a shared access signature. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOutgoingGuard } from '../../../src/service/access/outgoing-guard.ts';
import { blobsIn } from '../../../src/storage/object-store/s3-requests.ts';
import { createPinnedHttp, createHostResolver } from '../../../src/network/checked-http.ts';
import { downloadFile } from '../../../src/inputs/remote/download.ts';
import { createRemoteRequests } from '../../../src/inputs/remote/requests.ts';
import { openRemoteStore } from '../../../src/inputs/remote/listing.ts';
import { readAccess } from '../../../src/config/source-access.ts';
import { parseRemoteLocation, storeLocation } from '../../../src/service/files/remote-location.ts';
import {
  startCloudStorage,
  type CloudFolder,
  type CloudStorage,
} from '../../support/servers/cloud-storage.ts';

let directory: string;
let cloud: CloudStorage;
let folder: CloudFolder;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'azure-'));
  cloud = await startCloudStorage();
  folder = await cloud.location('in');
  for (const name of ['a.xml', 'deep/c & ü.xml']) await folder.replace(name, `<n>${name.length}</n>`);
});
afterAll(async () => {
  await cloud.stop();
  await rm(directory, { recursive: true, force: true });
});

function opened(
  secret: { readonly secret_key: string } | { readonly token: string },
  container = 'packages',
) {
  const endpoint = `http://${cloud.address}/${cloud.account}`;
  const access = readAccess('az', { endpoint, access_key: cloud.account, ...secret });
  if (access.kind !== 'az') throw new Error('another kind');
  const { signal } = new AbortController();
  const guard = createOutgoingGuard([cloud.address], createHostResolver());
  const options = { check: (url: URL) => guard.checkUrl(url), http: createPinnedHttp(), signal };
  const send = createRemoteRequests(options, { access, by: 'request' }, container);
  return { access, send, signal, store: openRemoteStore(send.get, access, container) };
}

it.each(['key', 'token'] as const)('are listed and fetched by a %s', async (by) => {
  const secret = by === 'key' ? { secret_key: cloud.key } : { token: new URL(folder.url).search };
  const { access, send, signal, store } = opened(secret);
  const listed = await Array.fromAsync(store.list('in/', 'az://packages/in/'));
  expect(listed.map(({ key }) => key).toSorted()).toEqual(['in/a.xml', 'in/deep/c & ü.xml']);
  const deep = listed.find(({ key }) => key.endsWith('ü.xml'))!;
  expect(deep.bytes).toBe('<n>14</n>'.length);
  expect(Math.abs(deep.modified - Date.now())).toBeLessThan(3_600_000);
  const file = join(directory, `${by}.xml`);
  const { version } = deep;
  await downloadFile(send, store.urlOf(deep.key), file, { label: 'az://packages/c', signal, version });
  expect(await readFile(file, 'utf8')).toBe('<n>14</n>');
  const address = parseRemoteLocation(`http://${cloud.address}/${cloud.account}/packages/in/a.xml`);
  expect(storeLocation(address, access)).toMatchObject({ kind: 'az', bucket: 'packages', key: 'in/a.xml' });
});

it('that stand for folders are no files', async () => {
  await folder.replace('deep', '', { hdi_isfolder: 'true' });
  await folder.replace('deep/er/', '');
  const { store } = opened({ secret_key: cloud.key });
  const keys = (await Array.fromAsync(store.list('in/', 'az://packages/in/'))).map(({ key }) => key);
  expect(keys.toSorted()).toEqual(['in/a.xml', 'in/deep/c & ü.xml']);
  // as accounts with real folders list them
  const listed = ['', '<ResourceType>file</ResourceType>', '<ResourceType>directory</ResourceType>'].map(
    (type, at) =>
      `<Blob><Name>${at}</Name><Properties><Content-Length>0</Content-Length>${type}</Properties></Blob>`,
  );
  expect([...blobsIn(listed.join(''))].map(({ key }) => key)).toEqual(['0', '1']);
});

it('that are not there, or locked, say so without what is secret', async () => {
  const none = opened({ secret_key: cloud.key }, 'nothing');
  const wrong = opened({ secret_key: Buffer.from('another').toString('base64') });
  for (const [{ store }, code] of [
    [none, 'input_not_found'],
    [wrong, 'unprocessable_input'],
  ] as const) {
    const refused = await Array.fromAsync(store.list('', 'az://there/')).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code, message: expect.stringContaining('az://there/') as string });
    expect(String(refused)).not.toContain('sig=');
  }
});
