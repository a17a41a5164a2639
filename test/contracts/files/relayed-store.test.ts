/** A file store as tools reach it through the service: the contract, and the limits of what one run may reach. */
import { request } from 'node:http';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { FileStore } from '../../../src/ports/files.ts';
import { createLocalFileStore } from '../../../src/storage/local/file-store.ts';
import { withRemoteLocations } from '../../../src/storage/relay/host-store.ts';
import type { RelayAddress } from '../../../src/storage/relay/protocol.ts';
import { createRelayedFiles, type RelayedFiles } from '../../../src/storage/relay/store-client.ts';
import { createStoreServer, type StoreServer } from '../../../src/storage/relay/store-server.ts';
import { fileStoreContract } from '../../../src/testing.ts';
import { createMemoryFileStore } from '../../support/memory/files.ts';

const directory = await mkdtemp(join(tmpdir(), 'relay-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

function serve(files: FileStore): StoreServer {
  const server = createStoreServer(withRemoteLocations(files), join(directory, 'sockets'));
  open.push(server);
  return server;
}

async function clientOf(server: StoreServer, idOrg: number) {
  const { address, end } = await server.admit(idOrg);
  const files = createRelayedFiles(JSON.stringify(address));
  open.push(files);
  return { files, address, end };
}

/** The whole store: jobs reach their files by a run of each organisation, and uploads by the store itself. */
function relayed(files: FileStore): FileStore {
  const server = serve(files);
  const runs = new Map<number, Promise<RelayedFiles>>();
  const runOf = (idOrg: number): Promise<RelayedFiles> => {
    const run = runs.get(idOrg) ?? clientOf(server, idOrg).then((opened) => opened.files);
    runs.set(idOrg, run);
    return run;
  };
  const owners = new Map<string, number>();
  const at = (location: string): Promise<RelayedFiles> => {
    const known = [...owners].find(([one]) => location === one || location.startsWith(`${one}/`));
    return runOf(known?.[1] ?? 1);
  };
  const { saveUpload, removeFile, removeUploads } = files;
  return {
    saveUpload,
    removeFile,
    removeUploads,
    local: files.local,
    ...(files.create === undefined
      ? {}
      : { create: async (location, bytes) => (await at(location)).create!(location, bytes) }),
    async resolve(idOrg, path, mustExist) {
      const location = await (await runOf(idOrg)).resolve(idOrg, path, mustExist);
      owners.set(location, idOrg);
      return location;
    },
    async *listFiles(location, scan) {
      yield* (await at(location)).listFiles(location, scan);
    },
    read: async (location, range) => (await at(location)).read(location, range),
    write: async (location, body) => (await at(location)).write(location, body),
    discard: async (location) => (await at(location)).discard(location),
    usedBytes: async (idOrg) => (await runOf(idOrg)).usedBytes(idOrg),
  };
}

let serial = 0;
const localStore = (): FileStore =>
  createLocalFileStore({ filesDirectory: join(directory, String((serial += 1))), roots: [] });

describe('the file store of a host, relayed', () => {
  for (const { name, run } of fileStoreContract(async () => relayed(createMemoryFileStore()))) it(name, run);
});

describe('a store with paths of this machine, relayed', () => {
  for (const { name, run } of fileStoreContract(async () => relayed(localStore()))) it(name, run);
});

describe('a run', () => {
  it('reaches the files of its organisation alone', async () => {
    const store = createMemoryFileStore();
    store.put(1, 'in/a.xml', new TextEncoder().encode('<a/>'));
    store.put(2, 'in/b.xml', new TextEncoder().encode('<b/>'));
    const { files } = await clientOf(serve(store), 1);
    const location = await files.resolve(1, 'in/a.xml', true);
    expect(await new Response(await files.read(location)).text()).toBe('<a/>');
    // the organisation is that of the run, whatever the tool says
    await expect(files.resolve(2, 'in/b.xml', true)).rejects.toMatchObject({ code: 'input_not_found' });
    for (const other of [
      location.replace('/1/', '/2/').replace('a.xml', 'b.xml'),
      location.replace('in/a.xml', 'in'),
      `${location}/../../2/in/b.xml`,
      '',
    ]) {
      await expect(files.read(other)).rejects.toMatchObject({ code: 'path_not_allowed' });
      await expect(files.write(other, new Uint8Array(1))).rejects.toMatchObject({ code: 'path_not_allowed' });
      await expect(files.discard(other)).rejects.toMatchObject({ code: 'path_not_allowed' });
      await expect(Array.fromAsync(files.listFiles(other))).rejects.toMatchObject({
        code: 'path_not_allowed',
      });
    }
    expect(await files.usedBytes(2)).toBe(4);
  });

  it('reaches nothing once it has ended, and nothing without its token', async () => {
    const store = createMemoryFileStore();
    store.put(1, 'a.xml', new TextEncoder().encode('<a/>'));
    const { files, address, end } = await clientOf(serve(store), 1);
    const location = await files.resolve(1, 'a.xml', true);
    const wrong = createRelayedFiles(JSON.stringify({ ...address, token: `${address.token.slice(0, -1)}x` }));
    open.push(wrong);
    await expect(wrong.resolve(1, 'a.xml', true)).rejects.toMatchObject({ code: 'unauthorized' });
    end();
    await expect(files.read(location)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('has its socket in a folder that no other user can enter, which goes with the server', async () => {
    const server = serve(createMemoryFileStore());
    const { address } = await clientOf(server, 1);
    expect((await stat(dirname(address.socket))).mode & 0o777).toBe(0o700);
    await server.close();
    await expect(stat(dirname(address.socket))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(join(directory, 'sockets'))).toEqual([]);
  });

  it('is told what the store says, and may try again after a fault of it', async () => {
    const store = createMemoryFileStore();
    const failing: FileStore = {
      ...store,
      read: () => Promise.reject(new Error('the bucket is gone')),
      write: () => Promise.reject(new TypeError('no route')),
    };
    const { files } = await clientOf(serve(failing), 1);
    await expect(files.resolve(1, '../x', true)).rejects.toMatchObject({ code: 'path_not_allowed' });
    const location = await files.resolve(1, 'x', false);
    await expect(files.read(location)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: 'the file store cannot be used now: the bucket is gone',
    });
    await expect(files.write(location, new Uint8Array(9_000_000))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('notices a list and a file that break off', async () => {
    const store = createMemoryFileStore();
    const failing: FileStore = {
      ...store,
      async *listFiles() {
        yield { name: 'a', location: '/memory/1/x/a', bytes: 1, modified: 0, version: '1' };
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw new Error('the bucket is gone');
      },
      read: async () =>
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(100_000));
            setTimeout(() => controller.error(new Error('the bucket is gone')), 50);
          },
        }),
    };
    const { files } = await clientOf(serve(failing), 1);
    const location = await files.resolve(1, 'x', false);
    await expect(Array.fromAsync(files.listFiles(location))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    await expect(new Response(await files.read(location)).arrayBuffer()).rejects.toThrow();
  });

  it('leaves nothing of a file whose writer dies', async () => {
    const store = createMemoryFileStore();
    const { files, address } = await clientOf(serve(store), 1);
    const location = await files.resolve(1, 'x', false);
    const { socket, token } = address satisfies RelayAddress;
    const writer = request({
      socketPath: socket,
      method: 'POST',
      path: `/write?location=${encodeURIComponent(location)}`,
      headers: { Authorization: `Bearer ${token}` },
    });
    writer.on('error', () => undefined);
    writer.write('the first half');
    await new Promise((resolve) => setTimeout(resolve, 100));
    writer.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await files.read(location)).toBeNull();
    expect(store.stored.size).toBe(0);
  });
});
