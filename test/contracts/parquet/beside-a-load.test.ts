/** Files that a thread makes while their rows still come are those that are made without it. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startThread } from '../../../src/installation.ts';
import { ColumnsThread, type StartThread } from '../../../src/targets/files/parquet/writing.ts';
import {
  fileTask,
  typesOf,
  writeParquet,
  type ParquetFile,
  type ParquetTable,
} from '../../../src/targets/files/parquet/writing.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import type { ColumnType } from '../../../src/engine/model/relational-model.ts';
import { at } from '../../unit/engine/sql/library-model.ts';
import { encodeRows, libraryPlan, libraryRows, writeLibrary } from '../targets/library-rows.ts';

const start: StartThread = (options) => startThread('tools/columns', options);
const failing: StartThread = (options) =>
  new Worker(new URL('data:text/javascript,throw new Error("no thread")'), options);
const ownName = 'reading.parquet';

let folders = '';
let directory = '';
let number = 0;
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'beside-a-load-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(async () => {
  directory = join(folders, String((number += 1)));
  await mkdir(directory);
});

const columns: readonly { readonly name: string; readonly type: ColumnType }[] = [
  { name: 'key', type: { kind: 'bigint' } },
  { name: 'at', type: { kind: 'date' } },
  { name: 'amount', type: { kind: 'numeric' } },
  { name: 'note', type: { kind: 'text' } },
];

/** Rows in COPY text; the last of them has this amount. */
function readings(count: number, lastAmount = '1.5'): Buffer {
  const rows = Array.from({ length: count }, (_, row) => {
    const amount = row === count - 1 ? lastAmount : `${row % 700}.25`;
    return `${row}\t2026-01-${String(1 + (row % 28)).padStart(2, '0')}\t${amount}\t${row % 3 === 0 ? '\\N' : `note ${row % 5000}`}\n`;
  });
  return Buffer.from(rows.join(''));
}

function tableOf(rows: Buffer, more: Partial<ParquetTable> = {}): ParquetTable {
  const file = { name: ownName, rows: 0, bytes: rows.length, sha256: '', longestWriteBytes: 4096 };
  return { columns, widened: new Map(), file, ...more };
}

async function madeAlone(rows: Buffer, table: ParquetTable): Promise<ParquetFile> {
  const place = join(directory, 'alone');
  await mkdir(place);
  await writeFile(join(place, ownName), rows);
  const [made] = await writeParquet(place, [table], { deltas: true });
  return made!;
}

/** Notes whether files were made by it. */
class NotedThread extends ColumnsThread {
  readonly made: boolean[] = [];

  override async write(...asked: Parameters<ColumnsThread['write']>): ReturnType<ColumnsThread['write']> {
    const file = await super.write(...asked);
    this.made.push(file !== null);
    return file;
  }
}

/** The thread begins when a third of the rows is there. `made`: what it says of the files that are asked of it. */
async function madeBeside(
  rows: Buffer,
  table: ParquetTable,
  made: readonly boolean[],
  entry = start,
): Promise<ParquetFile> {
  const path = join(directory, ownName);
  const third = Math.floor(rows.length / 3);
  await writeFile(path, rows.subarray(0, third));
  const thread = new NotedThread(entry);
  try {
    const types = await typesOf({ columns, widened: new Map() }, new Map());
    thread.follow(path, fileTask(path, table, types, null, true));
    thread.grown(path, third);
    await appendFile(path, rows.subarray(third, third * 2));
    thread.grown(path, third * 2);
    await appendFile(path, rows.subarray(third * 2));
    const [file] = await writeParquet(directory, [table], { deltas: true, thread });
    expect(thread.made).toEqual(made);
    return file!;
  } finally {
    await thread.end();
  }
}

describe('a file of rows that still come', () => {
  test.each([
    ['as its columns say', readings(200_000), {}, [true]],
    [
      'with digits that its decimals usually lack',
      readings(200_000, '0.1234567890123456789012'),
      {},
      [false],
    ],
    [
      'with a column that became text',
      readings(200_000, 'x'),
      { widened: new Map([['amount', { kind: 'text' as const }]]) },
      [false],
    ],
  ])('is the same: %s', async (_, rows, more, made) => {
    const table = tableOf(rows, more);
    const alone = await madeAlone(rows, table);
    expect(await madeBeside(rows, table, made)).toEqual(alone);
    const bytes = await readFile(join(directory, ownName));
    expect(bytes.equals(await readFile(join(directory, 'alone', ownName)))).toBe(true);
    expect((await readdir(directory)).toSorted()).toEqual(['alone', ownName]);
  });

  test('is made without a thread that does not begin', async () => {
    const rows = readings(200_000);
    const table = tableOf(rows);
    const alone = await madeAlone(rows, table);
    expect(await madeBeside(rows, table, [false], failing)).toEqual(alone);
  });

  test('is refused as without a thread, where a value is none of its type', async () => {
    const rows = readings(200_000);
    rows.write('x', 0);
    const table = tableOf(rows);
    await expect(madeAlone(rows, table)).rejects.toThrow('column 0 has a value that its type does not hold');
    await expect(madeBeside(rows, table, [false])).rejects.toThrow(
      'column 0 has a value that its type does not hold',
    );
    expect(await readdir(directory)).not.toContain(ownName);
  });
});

const library = libraryRows(1, 1);
const copies = 4000;

/** Rows of a table over and over again, in blocks of a MiB or so, until there are as many MiB. */
async function writeMany(sink: RowSink, table: number, mebibytes: number): Promise<void> {
  const some = library.tables.get(table)!;
  const block = Buffer.concat(Array.from({ length: copies }, () => encodeRows('words', some, table)));
  for (let written = 0; written < mebibytes * 1024 * 1024; written += block.length)
    await sink.write(table, block, some.length * copies);
}

describe('a load of many rows', () => {
  test('makes the same files beside it, behind it, and without a thread', async () => {
    const hashes: unknown[] = [];
    for (const columnsThread of [
      undefined,
      { startThread: start, isLate: false },
      { startThread: start, isLate: true },
    ]) {
      const place = join(directory, String(columnsThread?.isLate));
      const sink = createFolderRowSink({
        directory: place,
        format: 'parquet',
        ...(columnsThread === undefined ? {} : { columnsThread }),
      });
      try {
        await sink.open(libraryPlan(1));
        await writeMany(sink, at.book, 40);
        await writeMany(sink, at.section, 10);
        await writeLibrary(sink, library);
        await sink.publish(() => Promise.resolve(true), library.lastKeys);
      } finally {
        await sink.close();
      }
      const text = await readFile(join(place, 'manifest.json'), 'utf8');
      const { tables } = JSON.parse(text) as TargetManifest;
      hashes.push(tables.flatMap(({ files }) => files.map((file) => [file.name, file.rows, file.sha256])));
    }
    expect(hashes[0]).not.toEqual([]);
    expect(hashes[1]).toEqual(hashes[0]);
    expect(hashes[2]).toEqual(hashes[0]);
  });

  test('that ends before its time leaves nothing', async () => {
    const place = join(directory, 'ended');
    const sink = createFolderRowSink({
      directory: place,
      format: 'parquet',
      columnsThread: { startThread: start, isLate: false },
    });
    await sink.open(libraryPlan(1));
    await writeMany(sink, at.book, 40);
    await sink.abort();
    await sink.close();
    expect(await readdir(directory)).toEqual([]);
  });
});
