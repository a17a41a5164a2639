/** Staged rows are read alike whether they lie on the disk or are held. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stagedRows, type StagedRows } from '../../../../../src/targets/files/parquet/staged-rows.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'staged-rows-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const pieces = ['1\ta\n', '', `2\t${'b'.repeat(5000)}\n`, '3\tc\n'].map((rows) => Buffer.from(rows));
const all = Buffer.concat(pieces);
const told = { name: 'table.parquet', rows: 3, bytes: all.length, sha256: '', longestWriteBytes: 5003 };

async function everyWay(rows: StagedRows): Promise<Buffer[]> {
  const read = (bytes: number): Buffer => {
    const reader = rows.open();
    const found: Buffer[] = [];
    const target = Buffer.alloc(bytes);
    for (let length = reader.read(target); length > 0; length = reader.read(target))
      found.push(Buffer.from(target.subarray(0, length)));
    reader.close();
    return Buffer.concat(found);
  };
  const found: Uint8Array[] = [];
  for await (const piece of rows.pieces()) found.push(piece);
  return [read(7), read(100_000), Buffer.concat(found)];
}

it('from memory', async () => {
  const rows = await stagedRows(join(directory, 'held'), { ...told, held: pieces });
  expect(await everyWay(rows)).toEqual([all, all, all]);
  await rows.remove();
  expect(await readdir(directory)).toEqual([]);
});

it('from the disk, where their name is then free', async () => {
  const path = join(directory, told.name);
  await writeFile(path, all);
  const rows = await stagedRows(path, told);
  expect(await readdir(directory)).toEqual([`${told.name}.rows`]);
  expect(await everyWay(rows)).toEqual([all, all, all]);
  await rows.remove();
  expect(await readdir(directory)).toEqual([]);
});
