/** What the files of an organisation take, on folders of this machine, in memory and in an object store. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createLocalFileStore } from '../../../src/storage/local/file-store.ts';
import { createLocalLogStore } from '../../../src/storage/local/job-logs.ts';
import { createObjectFileStore } from '../../../src/storage/object-store/file-store.ts';
import { createObjectLogStore } from '../../../src/storage/object-store/job-log.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import type { FileStore } from '../../../src/ports/files.ts';
import { createMemoryFileStore } from '../../support/memory/files.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';

const directory = await mkdtemp(join(tmpdir(), 'used-bytes-'));
const s3 = await startS3Server();
afterAll(async () => {
  await s3?.end();
  await rm(directory, { recursive: true });
});

const stores: [string, FileStore][] = [
  ['local files', createLocalFileStore({ filesDirectory: directory, roots: [] })],
  ['memory', createMemoryFileStore()],
];
if (s3 !== null) {
  const objects = createS3ObjectStore(s3.settings);
  stores.push(['S3', createObjectFileStore({ objects, prefix: 'used/', roots: null })]);
}

const bodyOf = (bytes: number): ReadableStream<Uint8Array> => new Blob([new Uint8Array(bytes)]).stream();

it.for(stores)('%s: files of the organisation, without uploads that did not end', async ([, files]) => {
  expect(await files.usedBytes(3)).toBe(0);
  const { path } = await files.saveUpload(3, 'a.xml', bodyOf(1000), 2000);
  await files.saveUpload(4, 'a.xml', bodyOf(7), 2000);
  await files.write(await files.resolve(3, 'rows.csv', false), new Uint8Array(30));
  expect(await files.usedBytes(3)).toBe(1030);
  await expect(files.saveUpload(3, 'b.xml', bodyOf(50), 40)).rejects.toMatchObject({
    code: 'payload_too_large',
  });
  let send: ReadableStreamDefaultController<Uint8Array>;
  const arriving = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) });
  const upload = files.saveUpload(3, 'c.xml', arriving, 2000);
  send!.enqueue(new Uint8Array(500));
  expect(await files.usedBytes(3)).toBe(1030);
  send!.close();
  await upload;
  expect(await files.usedBytes(3)).toBe(1530);
  await files.removeFile(3, path);
  expect([await files.usedBytes(3), await files.usedBytes(4)]).toEqual([530, 7]);
});

it('links count for nothing, also those that lead in a circle', async () => {
  const [[, files]] = stores as [[string, FileStore]];
  const before = await files.usedBytes(4);
  await symlink(join(directory, '3'), join(directory, '4', 'others'));
  await symlink(join(directory, '4'), join(directory, '4', 'circle'));
  expect(await files.usedBytes(4)).toBe(before);
});

it('logs of the jobs that are named count, without those of others', async () => {
  const folder = join(directory, 'logs');
  const local = createLocalLogStore(folder);
  expect(await local.logBytes([1, 2, 300])).toBe(0);
  await mkdir(folder, { recursive: true });
  for (const idJob of [1, 2, 30]) await writeFile(join(folder, `job-${idJob}.log`), 'x'.repeat(idJob));
  expect(await local.logBytes([1, 30, 300])).toBe(31);
  if (s3 === null) return;
  const remote = createObjectLogStore(createS3ObjectStore(s3.settings), 'logged/');
  for (const [idJob, text] of [
    [1, 'one'],
    [12, 'a longer one'],
    [2, 'two'],
  ] as const) {
    const log = await remote.openLog(idJob, 1);
    await log.append(new TextEncoder().encode(text));
    await log.close();
  }
  expect([await remote.logBytes([1, 2]), await remote.logBytes([12]), await remote.logBytes([])]).toEqual([
    6, 12, 0,
  ]);
});
