/** Files of one job: more of them than are held open at once, and writes that a system takes in parts. */
import { mkdtemp, open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeWhole } from '../../../src/adapters/file-staging/durable-file.ts';
import { StagedFiles } from '../../../src/adapters/file-staging/staged-files.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'staged-files-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function piece(name: string, turn: number): Uint8Array {
  return new TextEncoder().encode(`${name} ${turn}\n`.repeat(20_000));
}

test('files are closed and opened again where there are many', async () => {
  const files = new StagedFiles(directory);
  const names = Array.from({ length: 150 }, (_, at) => `table-${at}.tsv`);
  for (let turn = 0; turn < 2; turn += 1)
    for (const name of names) await files.write(name, piece(name, turn), 20_000);
  const finished = await files.finish();
  expect(finished.map(({ name, rows }) => [name, rows])).toEqual(names.map((name) => [name, 40_000]));
  for (const name of names) {
    const expected = Buffer.concat([piece(name, 0), piece(name, 1)]);
    expect(Buffer.compare(await readFile(join(directory, name)), expected), name).toBe(0);
  }
});

test('what is written in part is written on', async () => {
  const path = join(directory, 'parts');
  const file = await open(path, 'w');
  const inParts = {
    writev: async (pieces: readonly Uint8Array[]) => {
      const all = Buffer.concat(pieces as Uint8Array[]);
      await file.write(all, 0, Math.min(all.length, 3));
      return { bytesWritten: Math.min(all.length, 3) };
    },
  } as unknown as FileHandle;
  await writeWhole(inParts, [Buffer.from('ab'), new Uint8Array(0), Buffer.from('cdefgh'), Buffer.from('i')]);
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('abcdefghi');
});
