/** Folders of packages in which something else stands by the time that a part is read. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createLocalPackageFolder } from '../../../../src/tools/transfer/local-package-folder.ts';

it.each<[string, (file: string) => Promise<unknown>]>([
  ['a pipe', (file) => promisify(execFile)('mkfifo', [file])],
  ['a link', (file) => symlink('/etc/passwd', file)],
  ['a folder', (file) => mkdir(file)],
  ['nothing', async () => undefined],
])('%s in the place of a part is refused, and not waited for', async (_, put) => {
  const folder = await mkdtemp(join(tmpdir(), 'changing-folder-'));
  try {
    await put(join(folder, 'origins.ndjson'));
    const { lines } = createLocalPackageFolder(folder).read('origins.ndjson');
    await expect(Array.fromAsync(lines)).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining('plain file'),
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
