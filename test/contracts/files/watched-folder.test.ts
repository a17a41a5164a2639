/** A folder that is watched: what cannot be looked at is not taken for a place where nothing is. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalFileStore, localFiles } from '../../../src/storage/local/file-store.ts';
import { AppError } from '../../../src/errors.ts';
import type { FileStore } from '../../../src/ports/files.ts';
import { openFolder } from '../../../src/runtime/watches/scheduler.ts';

const faultOf = (code: string): Error => Object.assign(new Error(`${code}: /a/path`), { code });
const never = new AbortController().signal;

describe('a watched folder', () => {
  let directory: string;
  let files: FileStore;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watched-'));
    files = createLocalFileStore({ filesDirectory: directory, roots: [] });
  });
  afterAll(() => rm(directory, { recursive: true }));

  const folder = async (name: string): Promise<string> => {
    await mkdir(join(directory, '1', name), { recursive: true });
    await writeFile(join(directory, '1', name, 'a.xml'), '<a/>');
    return name;
  };
  const opened = (location: string, store: Partial<FileStore> = {}) =>
    openFolder(
      { ...files, ...store },
      { idOrg: 1, location, pattern: null, credential: null, rows: null },
      never,
    );

  it('that goes while it is looked at has not become an empty one', async () => {
    const location = await folder('going');
    const place = await opened(location);
    await rm(join(directory, '1', location), { recursive: true });
    await expect(Array.fromAsync(place.objects())).rejects.toMatchObject({ code: 'input_not_found' });
  });

  it('is told as what cannot be read, without its path', async () => {
    const location = await folder('locked');
    for (const [code, says] of [
      ['EACCES', 'the user that runs the service cannot read all of it: grant read permission (EACCES)'],
      ['ESTALE', 'it cannot be read now (ESTALE)'],
      ['ENOENT', 'it cannot be read now (ENOENT)'],
    ] as const) {
      const fails = async function* (): ReturnType<FileStore['listFiles']> {
        yield* [];
        throw faultOf(code);
      };
      const place = await opened(location, { listFiles: fails });
      await expect(Array.fromAsync(place.objects())).rejects.toEqual(
        new AppError('service_unavailable', says),
      );
      const met = { name: 'a.xml', version: '1', bytes: 4, modified: null };
      await expect(place.digest(met)).rejects.toEqual(new AppError('service_unavailable', says));
    }
  });

  it('has its files by their names, and knows one that is gone', async () => {
    const place = await opened(await folder('plain'));
    const [met] = await Array.fromAsync(place.objects());
    expect(met).toMatchObject({ name: 'a.xml', bytes: 4 });
    expect(await place.digest(met!)).toMatchObject({ object: { name: 'a.xml', version: met!.version } });
    expect(await place.digest({ ...met!, name: 'b.xml' })).toBeNull();
  });

  it('reached by a link that leads round is none without files', async () => {
    const round = join(directory, 'round');
    await symlink(round, round);
    await expect(Array.fromAsync(localFiles.listFiles(round))).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await Array.fromAsync(localFiles.listFiles(join(directory, 'nowhere')))).toEqual([]);
  });
});
