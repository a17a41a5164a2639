/** Files of one job: more of them than are held open at once, writes that a system takes in parts, and what happens beside them. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, readdir, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeWhole } from '../../../src/storage/staging/durable-file.ts';
import { StagedFiles } from '../../../src/storage/staging/staged-files.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'staged-files-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function piece(name: string, turn: number): Uint8Array {
  return new TextEncoder().encode(`${name} ${turn}\n`.repeat(20_000));
}

function smallPiece(byte: number): Uint8Array {
  return new Uint8Array(500_000).fill(byte);
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

test('buffers are given back when they are written, those of small pieces at the end', async () => {
  const files = new StagedFiles(directory);
  const released: number[] = [];
  const write = (at: number, bytes: number) =>
    files.write('table.tsv', new Uint8Array(bytes).fill(97), 1, () => released.push(at));
  // large enough to be written at once; what it holds must not change before
  for (let at = 0; at < 4; at += 1) await write(at, 1_100_000);
  expect(released).toEqual([0, 1, 2]);
  await write(4, 10);
  const finished = await files.finish();
  expect(released).toEqual([0, 1, 2, 3, 4]);
  expect(finished.map(({ bytes, rows }) => [bytes, rows])).toEqual([[4_400_010, 5]]);
});

test('small scratch is held, and comes to the disk where there is too much of it', async () => {
  const files = new StagedFiles(directory, { isScratch: true, holdsSmall: true });
  await files.write('none', new Uint8Array(0), 0);
  // of 8 MiB all is written
  for (let at = 0; at < 17; at += 1) await files.write(`early-${at}`, smallPiece(at), 1);
  await files.write('late', smallPiece(1), 1);
  await files.write('late', smallPiece(2), 2);
  await files.write('large', new Uint8Array(1_100_000), 3);
  const finished = new Map((await files.finish()).map((file) => [file.name, file]));
  const onDisk = await readdir(directory);
  const early = Array.from({ length: 17 }, (_, at) => `early-${at}`);
  expect(onDisk.toSorted()).toEqual([...early, 'large', 'none'].toSorted());
  for (const [name, { held }] of finished) expect(held === undefined, name).toBe(onDisk.includes(name));
  const late = finished.get('late')!;
  expect([late.rows, late.bytes, late.longestWriteBytes]).toEqual([3, 1_000_000, 500_000]);
  expect(late.held).toEqual([smallPiece(1), smallPiece(2)]);
  expect(await readFile(join(directory, 'early-16'))).toEqual(Buffer.from(smallPiece(16)));
  expect(finished.get('large')!.bytes).toBe(1_100_000);
});

test('a large file goes to the disk before it ends, and is whole', async () => {
  const files = new StagedFiles(directory);
  const part = new Uint8Array(4 * 1024 * 1024);
  const hash = createHash('sha256');
  for (let at = 0; at < 18; at += 1) {
    const bytes = part.fill(at).slice();
    hash.update(bytes);
    await files.write('large', bytes, 1);
  }
  const finished = await files.finish();
  expect(finished.map(({ sha256 }) => sha256)).toEqual([hash.digest('hex')]);
  const written = await readFile(join(directory, 'large'));
  expect(createHash('sha256').update(written).digest('hex')).toBe(finished[0]!.sha256);
});

test('a piece that cannot be written fails what follows, and the end', async () => {
  await mkdir(join(directory, 'table.tsv'));
  const files = new StagedFiles(directory);
  // nobody has waited for it yet
  await files.write('table.tsv', new Uint8Array(1_100_000), 1);
  await expect(files.write('table.tsv', new Uint8Array(1_100_000), 1)).rejects.toThrow('EISDIR');
  await expect(files.finish()).rejects.toThrow('EISDIR');
  await files.settle();
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
