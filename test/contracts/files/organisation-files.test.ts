/** The contract of FileStore, on folders of this machine and in memory. */
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createObjectFileStore } from '../../../src/storage/object-store/file-store.ts';
import { openObjectLog } from '../../../src/storage/object-store/job-log.ts';
import { createS3ObjectStore } from '../../../src/storage/object-store/s3.ts';
import { createLocalFileStore } from '../../../src/storage/local/file-store.ts';
import type { FileStore } from '../../../src/ports/files.ts';
import { createMemoryFileStore } from '../../support/memory/files.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { needs } from '../../support/needs.ts';

interface Subject {
  readonly files: FileStore;
  /** the bytes at a location that `resolve` answered */
  read(location: string): Promise<Uint8Array>;
  /** how many files there are */
  count(): Promise<number>;
  appendLog(idJob: number, text: string): Promise<void>;
  close(): Promise<void>;
}

const subjects: Record<string, () => Promise<Subject>> = {
  'local files': async () => {
    const directory = await mkdtemp(join(tmpdir(), 'file-store-'));
    const [filesDirectory, logsDirectory] = [join(directory, 'files'), join(directory, 'logs')];
    await mkdir(logsDirectory);
    return {
      files: createLocalFileStore({ filesDirectory, logsDirectory, roots: [] }),
      read: async (location) => readFile(location),
      count: async () => {
        const entries = await readdir(directory, { recursive: true, withFileTypes: true });
        return entries.filter((entry) => entry.isFile()).length;
      },
      appendLog: (idJob, text) => writeFile(join(logsDirectory, `job-${idJob}.log`), text, { flag: 'a' }),
      close: () => rm(directory, { recursive: true }),
    };
  },
  memory: async () => {
    const files = createMemoryFileStore();
    return {
      files,
      read: async (location) => files.stored.get(location.slice('/memory/'.length)) ?? new Uint8Array(0),
      count: async () => files.stored.size,
      appendLog: async (idJob, text) => files.appendLog(idJob, text),
      close: async () => undefined,
    };
  },
};

const s3 = await startS3Server();
afterAll(() => s3?.end());
if (s3 !== null) {
  let serial = 0;
  subjects['S3'] = async () => {
    const objects = createS3ObjectStore(s3.settings);
    const prefix = `test-${(serial += 1)}/`;
    const all = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const { key } of objects.listObjects(prefix)) keys.push(key);
      return keys;
    };
    const files = createObjectFileStore({ objects, prefix, roots: null });
    return {
      files,
      read: async (location) => new Uint8Array(await new Response(await files.read(location)).arrayBuffer()),
      count: async () => (await all()).length,
      async appendLog(idJob, text) {
        const log = await openObjectLog(objects, prefix, idJob, 1);
        await log.append(new TextEncoder().encode(text));
        await log.close();
      },
      close: async () => {
        for (const key of await all()) await objects.removeObject(key);
      },
    };
  };
}

function bodyOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new Blob(chunks).stream();
}

describe.each(Object.entries(subjects))('file store: %s', (_, open) => {
  let subject: Subject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(() => subject.close());

  it('removes a file, and a log', async () => {
    const { path } = await subject.files.saveUpload(1, 'a.xml', bodyOf('x'), 10);
    await expect(subject.files.removeFile(2, path)).rejects.toMatchObject({ code: 'not_found' });
    for (const bad of ['', '../a.xml', '/etc/passwd', 'uploads/../../2/a.xml'])
      await expect(subject.files.removeFile(1, bad)).rejects.toMatchObject({ code: 'path_not_allowed' });
    await subject.files.removeFile(1, path);
    await expect(subject.files.removeFile(1, path)).rejects.toMatchObject({ code: 'not_found' });
    await expect(subject.files.resolve(1, path, true)).rejects.toMatchObject({ code: 'input_not_found' });
    await subject.appendLog(7, 'done');
    await subject.files.removeLog(7);
    await subject.files.removeLog(7);
    expect(await subject.files.logSize(7)).toBeNull();
    expect(await subject.files.readLog(7, 0, 10)).toEqual(new Uint8Array(0));
  });

  it('removes a file once, whoever else asks for it at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { path } = await subject.files.saveUpload(1, 'a.xml', bodyOf('x'), 10);
      const removals = await Promise.allSettled([1, 2, 3, 4].map(() => subject.files.removeFile(1, path)));
      const refusals = removals.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      expect(refusals.length).toBeLessThan(removals.length);
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'not_found' });
    }
  });

  it('keeps an upload for its organisation', async () => {
    const stored = await subject.files.saveUpload(1, 'a b.xml', bodyOf('<a>', '</a>'), 7);
    expect(stored).toEqual({ path: expect.stringMatching(/^uploads\/[^/]+\/a b\.xml$/), bytes: 7 });
    const location = await subject.files.resolve(1, stored.path, true);
    expect(new TextDecoder().decode(await subject.read(location))).toBe('<a></a>');
    await expect(subject.files.resolve(2, stored.path, true)).rejects.toMatchObject({
      code: 'input_not_found',
    });
  });

  it('keeps two uploads of one name apart', async () => {
    const one = await subject.files.saveUpload(1, 'a.xml', bodyOf('1'), 10);
    const two = await subject.files.saveUpload(1, 'a.xml', bodyOf('2'), 10);
    expect(one.path).not.toBe(two.path);
  });

  it('leaves nothing of a body that is too large', async () => {
    await expect(subject.files.saveUpload(1, 'a.xml', bodyOf('12345', '678'), 7)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    expect(await subject.count()).toBe(0);
  });

  it('leaves nothing of a body that breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(10));
        controller.error(new Error('the client went away'));
      },
    });
    await expect(subject.files.saveUpload(1, 'a.xml', broken, 1000)).rejects.toThrow();
    expect(await subject.count()).toBe(0);
  });

  it.each([
    '',
    '..',
    '../x',
    'a/../../x',
    'a/..',
    '/',
    '/etc/passwd',
    'a\0b',
    '../2/uploads',
    '//etc/passwd',
    './../x',
    'uploads/../../2/a.xml',
  ])('refuses the path %j', async (path) => {
    for (const mustExist of [true, false]) {
      await expect(subject.files.resolve(1, path, mustExist)).rejects.toMatchObject({
        code: 'path_not_allowed',
      });
    }
  });

  it.each(['%2e%2e/x', '..%2fx', '....//x', 'C:\\x', '..\\x', '~/x', 'a;b', '$(id)'])(
    'takes %j for a name like any other',
    async (path) => {
      await expect(subject.files.resolve(1, path, true)).rejects.toMatchObject({ code: 'input_not_found' });
      await expect(subject.files.resolve(1, path, false)).resolves.toMatch(/^(?:object:)?\//);
    },
  );

  it('answers where an output will be', async () => {
    expect(await subject.files.resolve(1, 'out/new/folder', false)).toMatch(/\/1\/out\/new\/folder$/);
  });

  it('lists, reads in part, writes and discards what lies at a location', async () => {
    const folder = await subject.files.resolve(1, 'tree', false);
    const inside = async (name: string): Promise<string> => subject.files.resolve(1, `tree/${name}`, false);
    if (subject.files.local) await mkdir(join(folder, 'b'), { recursive: true });
    expect(await subject.files.write(await inside('a & b.xml'), new TextEncoder().encode('<a/>'))).toBe(4);
    expect(await subject.files.write(await inside('b/ü.xml'), bodyOf('0123', '456789'))).toBe(10);
    const found: [string, number][] = [];
    for await (const { name, bytes } of subject.files.listFiles(folder)) found.push([name, bytes]);
    expect(found).toEqual([
      ['a & b.xml', 4],
      ['b/ü.xml', 10],
    ]);
    const location = await inside('b/ü.xml');
    const text = async (range?: { offset: number; length: number }): Promise<string> =>
      new Response(await subject.files.read(location, range)).text();
    expect(await text()).toBe('0123456789');
    expect(await text({ offset: 3, length: 4 })).toBe('3456');
    expect(await text({ offset: 8, length: 100 })).toBe('89');
    await subject.files.write(location, new TextEncoder().encode('anew'));
    expect(await text()).toBe('anew');
    await subject.files.discard(location);
    await subject.files.discard(location);
    expect(await subject.files.read(location)).toBeNull();
    for await (const { name } of subject.files.listFiles(location)) expect(name).toBe('nothing');
  });

  it('reads logs by bytes', async () => {
    expect(await subject.files.logSize(5)).toBeNull();
    await subject.appendLog(5, '0123456789');
    expect(await subject.files.logSize(5)).toBe(10);
    expect(new TextDecoder().decode(await subject.files.readLog(5, 3, 4))).toBe('3456');
    expect(new TextDecoder().decode(await subject.files.readLog(5, 8, 100))).toBe('89');
    expect((await subject.files.readLog(5, 50, 10)).length).toBe(0);
  });
});

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
      logsDirectory: join(directory, 'logs'),
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
      logsDirectory: directory,
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
    for (const [epoch, from] of [
      [1, 0],
      [1, 40_000],
      [2, 80_000],
      [3, 120_000],
    ] as const) {
      const log = await openObjectLog(objects!, 'logs-test/', 7, epoch);
      const bytes = lines(from);
      for (let at = 0; at < bytes.length; at += 70_001) await log.append(bytes.subarray(at, at + 70_001));
      await log.close();
    }
    const files = createObjectFileStore({ objects: objects!, prefix: 'logs-test/', roots: null });
    const whole = Buffer.concat([0, 40_000, 80_000, 120_000].map(lines));
    expect(await files.logSize(7)).toBe(whole.length);
    expect(Buffer.from(await files.readLog(7, 0, whole.length)).equals(whole)).toBe(true);
    const [from, length] = [600_000, 1_500_000];
    expect(
      Buffer.from(await files.readLog(7, from, length)).equals(whole.subarray(from, from + length)),
    ).toBe(true);
    await files.removeLog(7);
    expect(await files.logSize(7)).toBeNull();
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
