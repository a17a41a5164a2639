/** The contract of FileStore, on every store of ours and through the relay to tools, and that of logs. */
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createObjectFileStore } from '../../../src/storage/object-store/file-store.ts';
import { createObjectLogStore } from '../../../src/storage/object-store/job-log.ts';
import { createR2ObjectStore } from '../../../src/storage/object-store/r2.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { createLocalFileStore } from '../../../src/storage/local/file-store.ts';
import { createLocalLogStore } from '../../../src/storage/local/job-logs.ts';
import { fileStoreContract } from '../../../src/testing.ts';
import type { FileStore, LogStore } from '../../../src/ports/files.ts';
import { createMemoryFileStore, createMemoryLogStore } from '../../support/memory/files.ts';
import { createMemoryR2Bucket } from '../../support/memory/r2.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { needs } from '../../support/needs.ts';

const directory = await mkdtemp(join(tmpdir(), 'file-stores-'));
afterAll(() => rm(directory, { recursive: true }));
const s3 = await startS3Server();
afterAll(() => s3?.end());

let serial = 0;
const inS3 = () => ({ objects: createS3ObjectStore(s3!.settings), prefix: `test-${(serial += 1)}/` });
const folder = (): string => join(directory, String((serial += 1)));

const stores: Record<string, () => Promise<FileStore>> = {
  'local files': async () => createLocalFileStore({ filesDirectory: folder(), roots: [] }),
  memory: async () => createMemoryFileStore(),
  R2: async () =>
    createObjectFileStore({
      objects: createR2ObjectStore(createMemoryR2Bucket()),
      prefix: 'r2/',
      roots: null,
    }),
  ...(s3 === null ? {} : { S3: async () => createObjectFileStore({ ...inS3(), roots: null }) }),
};

describe.each(Object.entries(stores))('file store: %s', (_, open) => {
  for (const { name, run } of fileStoreContract(open)) it(name, run);
});

const logStores: Record<string, () => LogStore> = {
  'local files': () => createLocalLogStore(folder()),
  memory: createMemoryLogStore,
  ...(s3 === null ? {} : { S3: () => createObjectLogStore(inS3().objects, `logs-${(serial += 1)}/`) }),
};

async function append(logs: LogStore, idJob: number, text: string): Promise<void> {
  const log = await logs.openLog(idJob, 1);
  await log.append(new TextEncoder().encode(text));
  await log.close();
}

describe.each(Object.entries(logStores))('logs of jobs: %s', (_, open) => {
  it('are read by bytes, and removed', async () => {
    const logs = open();
    expect(await logs.logSize(5)).toBeNull();
    await append(logs, 5, '0123');
    await append(logs, 5, '456789');
    expect(await logs.logSize(5)).toBe(10);
    expect(new TextDecoder().decode(await logs.readLog(5, 3, 4))).toBe('3456');
    expect(new TextDecoder().decode(await logs.readLog(5, 8, 100))).toBe('89');
    expect((await logs.readLog(5, 50, 10)).length).toBe(0);
    await logs.removeLog(5);
    await logs.removeLog(5);
    expect(await logs.logSize(5)).toBeNull();
    expect(await logs.readLog(5, 0, 10)).toEqual(new Uint8Array(0));
  });
});

function bodyOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new Blob(chunks).stream();
}

describe('file store: local files, beyond the contract', () => {
  let directory: string;
  let outside: string;
  let files: FileStore;
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'file-store-')));
    outside = await realpath(await mkdtemp(join(tmpdir(), 'outside-')));
    for (const folder of ['files/1', 'files/2', 'shared', 'tenants/2', 'logs'])
      await mkdir(join(directory, folder), { recursive: true });
    await writeFile(join(outside, 'secret.xml'), '<secret/>');
    await writeFile(join(directory, 'shared', 'a.xml'), '<a/>');
    await writeFile(join(directory, 'tenants/2', 'b.xml'), '<b/>');
    const roots = [join(directory, 'shared'), join(directory, 'tenants/{org}')];
    files = createLocalFileStore({
      filesDirectory: join(directory, 'files'),
      roots,
    });
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
    await rm(outside, { recursive: true });
  });

  it('refuses links that leave the root, to what exists and to what would be made', async () => {
    const own = join(directory, 'files/1');
    await symlink(outside, join(own, 'folder'));
    await symlink(join(outside, 'secret.xml'), join(own, 'file.xml'));
    await symlink(join(outside, 'new.xml'), join(own, 'dangling.xml'));
    await symlink(join(own, 'loop'), join(own, 'loop'));
    for (const path of ['folder', 'folder/secret.xml', 'file.xml', 'loop', 'folder/new.xml']) {
      await expect(files.resolve(1, path, false)).rejects.toMatchObject({ code: 'path_not_allowed' });
    }
    for (const path of ['folder/secret.xml', 'file.xml']) {
      await expect(files.resolve(1, path, true)).rejects.toMatchObject({ code: 'path_not_allowed' });
    }
    await expect(files.resolve(1, 'dangling.xml', false)).rejects.toMatchObject({ code: 'path_not_allowed' });
  });

  it('follows links that stay inside', async () => {
    await mkdir(join(directory, 'files/1/real'));
    await symlink('real', join(directory, 'files/1/link'));
    expect(await files.resolve(1, 'link', true)).toBe(join(directory, 'files/1/real'));
    expect(await files.resolve(1, 'link/new', false)).toBe(join(directory, 'files/1/real/new'));
  });

  it('opens a root to organisation 1 alone, unless its path holds the organisation', async () => {
    const shared = join(directory, 'shared/a.xml');
    expect(await files.resolve(1, shared, true)).toBe(shared);
    await expect(files.resolve(2, shared, true)).rejects.toMatchObject({ code: 'path_not_allowed' });
    const own = join(directory, 'tenants/2/b.xml');
    expect(await files.resolve(2, own, true)).toBe(own);
    await expect(files.resolve(1, own, true)).rejects.toMatchObject({ code: 'path_not_allowed' });
  });

  it('refuses a sibling whose name starts like the root', async () => {
    await mkdir(join(directory, 'shared-not'));
    await expect(files.resolve(1, join(directory, 'shared-not'), true)).rejects.toMatchObject({
      code: 'path_not_allowed',
    });
  });

  it('refuses what is neither file nor folder, and what would lie below a file', async () => {
    await writeFile(join(directory, 'files/1/plain.xml'), '');
    await expect(files.resolve(1, 'plain.xml/below', false)).rejects.toMatchObject({
      code: 'path_not_allowed',
    });
    const devices = createLocalFileStore({
      filesDirectory: join(directory, 'files'),
      roots: ['/dev'],
    });
    await expect(devices.resolve(1, '/dev/null', true)).rejects.toMatchObject({ code: 'path_not_allowed' });
  });

  it('removes files of the own folder alone, never through a link', async () => {
    const { path } = await files.saveUpload(1, 'a.xml', bodyOf('x'), 10);
    const shared = join(directory, 'shared/a.xml');
    await writeFile(join(directory, 'outside.xml'), 'kept');
    await symlink(join(directory, 'outside.xml'), join(directory, 'files/1/link.xml'));
    await expect(files.removeFile(1, shared)).rejects.toMatchObject({ code: 'path_not_allowed' });
    await expect(files.removeFile(1, 'link.xml')).rejects.toMatchObject({ code: 'path_not_allowed' });
    await expect(files.removeFile(1, 'uploads')).rejects.toMatchObject({ code: 'path_not_allowed' });
    await files.removeFile(1, path);
    // the upload's folder goes with it
    expect(await readdir(join(directory, 'files/1/uploads'))).toEqual([]);
    expect(await readFile(join(directory, 'outside.xml'), 'utf8')).toBe('kept');
    expect(await readFile(shared, 'utf8')).toBeDefined();
  });

  it('keeps uploads for the owner alone and refuses names that are no file names', async () => {
    const { path } = await files.saveUpload(1, 'a.xml', bodyOf('x'), 10);
    expect((await stat(join(directory, 'files/1', path))).mode & 0o777).toBe(0o600);
    for (const name of ['../a.xml', 'a/b.xml', '.a.xml', 'a.sh', 'a\nb.xml', '']) {
      await expect(files.saveUpload(1, name, bodyOf('x'), 10)).rejects.toMatchObject({
        code: 'invalid_parameter',
      });
    }
  });
});

function lines(from: number): Uint8Array {
  return new TextEncoder().encode(Array.from({ length: 40_000 }, (_, at) => `line ${from + at}\n`).join(''));
}

describe('S3, beyond the contract', needs('s3 server', s3 !== null), () => {
  const objects = s3 === null ? null : createS3ObjectStore(s3.settings);

  it('takes a body of several parts, none of one that is too large', needs('whole run'), async () => {
    const size = 40 * 1024 * 1024 + 5;
    const bodyOfSize = (): ReadableStream<Uint8Array> => {
      let sent = 0;
      return new ReadableStream({
        pull(controller) {
          const bytes = new Uint8Array(Math.min(300_000, size - sent)).map((_, at) => (sent + at) % 251);
          sent += bytes.length;
          if (bytes.length > 0) controller.enqueue(bytes);
          if (sent === size) controller.close();
        },
      });
    };
    expect(await objects!.write('parts/whole', bodyOfSize())).toBe(size);
    const at = 33 * 1024 * 1024 + 7;
    const part = new Uint8Array(
      await new Response(await objects!.read('parts/whole', { offset: at, length: 1000 })).arrayBuffer(),
    );
    expect(part).toEqual(new Uint8Array(1000).map((_, index) => (at + index) % 251));
    expect((await objects!.head('parts/whole'))?.bytes).toBe(size);
    await expect(objects!.write('parts/refused', bodyOfSize(), size - 1)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    expect(await objects!.head('parts/refused')).toBeNull();
    await objects!.removeObject('parts/whole');
  });

  it('lists more than a page, in order', needs('whole run'), async () => {
    const names = Array.from({ length: 1100 }, (_, at) => `page/${String(at).padStart(5, '0')}`);
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(names.slice(from, from + 50).map((key) => objects!.write(key, new Uint8Array(1))));
    const found: string[] = [];
    for await (const { key } of objects!.listObjects('page/')) found.push(key);
    expect(found).toEqual(names);
  });

  it('keeps the log of each attempt, whole and in order, over chunks and restarts', async () => {
    const logs = createObjectLogStore(objects!, 'logs-test/');
    for (const [epoch, from] of [
      [1, 0],
      [1, 40_000],
      [2, 80_000],
      [3, 120_000],
    ] as const) {
      const log = await logs.openLog(7, epoch);
      const bytes = lines(from);
      for (let at = 0; at < bytes.length; at += 70_001) await log.append(bytes.subarray(at, at + 70_001));
      await log.close();
    }
    const whole = Buffer.concat([0, 40_000, 80_000, 120_000].map(lines));
    expect(await logs.logSize(7)).toBe(whole.length);
    expect(Buffer.from(await logs.readLog(7, 0, whole.length)).equals(whole)).toBe(true);
    const [from, length] = [600_000, 1_500_000];
    expect(Buffer.from(await logs.readLog(7, from, length)).equals(whole.subarray(from, from + length))).toBe(
      true,
    );
    await logs.removeLog(7);
    expect(await logs.logSize(7)).toBeNull();
  });

  it('says what is wrong, without the secret, when it is not let in', async () => {
    const locked = createS3ObjectStore({
      ...s3!.settings,
      bucket: 'no-such-bucket',
      secretAccessKey: 'wrong-secret',
    });
    const fault = await locked.write('x', new Uint8Array(1)).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'service_unavailable' });
    expect(String(fault)).not.toContain('wrong-secret');
  });
});
