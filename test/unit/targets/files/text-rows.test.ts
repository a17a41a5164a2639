/** Rows of CSV and TSV files as they lie: every value of every record, whatever pieces the file is read in. */
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTextRows, type TextFile } from '../../../../src/targets/files/folder/text-tables.ts';
import { RecordSplitter } from '../../../../src/engine/records/json-lines.ts';
import { SpareBuffers } from '../../../../src/engine/spare-buffers.ts';
import type { RowBlock } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { textOf } from '../../../../src/engine/unshred/rows/values.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'text-rows-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Row = (string | null)[];

async function rowsOf(files: readonly TextFile[], format: 'csv' | 'tsv', width: number, pieceBytes: number) {
  const blocks = openTextRows({
    files,
    format,
    width,
    pieceBytes,
    label: 'target',
    splitter: new RecordSplitter(),
    buffers: new SpareBuffers(),
  });
  const rows: Row[] = [];
  try {
    let before: RowBlock | null = null;
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      // its memory is that of a block to come
      if (before !== null) blocks.giveBack!(before);
      before = block;
      for (let row = 0; row < block.rows; row += 1)
        rows.push(
          Array.from({ length: width }, (_, column) => {
            const cell = (row * width + column) * 2;
            const from = block.cells[cell]!;
            return from < 0 ? null : textOf(block!.bytes, from, block!.cells[cell + 1]!);
          }),
        );
    }
  } finally {
    await blocks.close();
  }
  return rows;
}

async function file(
  format: 'csv' | 'tsv',
  text: string,
  columns: readonly number[],
  name = 'rows',
): Promise<TextFile> {
  const path = join(folder, name);
  await writeFile(path, text);
  const names = columns.map((_, field) => `f${field}`);
  return { path, names, columns, types: columns.map(() => ({ kind: 'text' })) };
}

const values = [
  'plain',
  '',
  'a,b',
  'tab\there',
  'line\nbreak',
  'return\rhere\r\n',
  '"quoted"',
  '"',
  '""',
  'back\\slash',
  '\\N',
  'ä€😀',
  null,
];
const rows: Row[] = values.map((value, at) => [String(at + 1), value, values[(at * 5 + 3) % values.length]!]);

const csvField = (value: string | null): string =>
  value === null ? '' : /^$|[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const tsvField = (value: string | null): string =>
  value === null
    ? '\\N'
    : value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
const textIn = (format: 'csv' | 'tsv', given: readonly Row[]): string =>
  [['key', 'one', 'two'], ...given]
    .map((row) => row.map(format === 'csv' ? csvField : tsvField).join(format === 'csv' ? ',' : '\t'))
    .map((line) => `${line}\n`)
    .join('');

describe.each(['csv', 'tsv'] as const)('%s', (format) => {
  it.each([1, 2, 7, 64, 65_536])('gives every value, read %i bytes at a time', async (pieceBytes) => {
    const all = await file(format, textIn(format, rows), [0, 1, 2]);
    expect(await rowsOf([all], format, 3, pieceBytes)).toEqual(rows);
  });

  it.each([9000, 65_536])(
    'gives every value of many records, read %i bytes at a time',
    async (pieceBytes) => {
      const long = 'tab\t, "quote" and\nbreak '.repeat(2000);
      const many = Array.from({ length: 3000 }, (_, at): Row => {
        const [, one, two] = rows[at % rows.length]!;
        return [String(at + 1), at === 1500 ? long : one!, two!];
      });
      const all = await file(format, textIn(format, many), [0, 1, 2]);
      expect(await rowsOf([all], format, 3, pieceBytes)).toEqual(many);
    },
  );

  it('leaves out columns that are not asked for, and leaves empty what a file has not', async () => {
    const first = await file(format, textIn(format, rows.slice(0, 4)), [0, -1, 3], 'first');
    const second = await file(format, textIn(format, rows.slice(4)), [0, 3, -1], 'second');
    const expected = rows.map(([key, one, two], at) => [key, null, null, at < 4 ? two : one]);
    expect(await rowsOf([first, second], format, 4, 50)).toEqual(expected);
  });

  it('takes a last record without an end, and files without records', async () => {
    const empty = await file(format, textIn(format, []), [0, 1, 2], 'empty');
    const open = await file(format, textIn(format, rows.slice(0, 3)).slice(0, -1), [0, 1, 2], 'open');
    expect(await rowsOf([empty, open, empty], format, 3, 16)).toEqual(rows.slice(0, 3));
  });

  it.each([
    [
      'fewer values',
      (text: string) => `${text}13${format === 'csv' ? ',' : '\t'}x\n`,
      'record 15: it has other than 3 values',
    ],
    [
      'more values',
      (text: string) => `${text}${format === 'csv' ? '13,a,b,c' : '13\ta\tb\tc'}\n`,
      'record 15: it has other than 3 values',
    ],
  ])('tells of a record with %s', async (_, change, message) => {
    const changed = await file(format, change(textIn(format, rows)), [0, 1, 2]);
    await expect(rowsOf([changed], format, 3, 40)).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining(message),
    });
  });
});

it('tells of a quote that is never closed, and of text behind one', async () => {
  for (const [line, message] of [
    ['13,"x,y\n', 'record 15: a quote is never closed'],
    ['13,"x"y,z\n', 'record 15: it has other than 3 values'],
  ] as const) {
    const changed = await file('csv', textIn('csv', rows) + line, [0, 1, 2]);
    await expect(rowsOf([changed], 'csv', 3, 40)).rejects.toThrow(message);
  }
});

async function openFiles(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const paths = descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => ''));
  return (await Promise.all(paths)).filter((path) => path.startsWith(folder));
}

describe('closing', () => {
  it.each([0, 1])('closes the file that the next block, asked for after %s, has opened', async (before) => {
    const files = [await file('csv', 'a\n1\n', [0], 'first'), await file('csv', 'a\n2\n', [0], 'second')];
    const blocks = openTextRows({
      files,
      format: 'csv',
      width: 1,
      pieceBytes: 64,
      label: 'target',
      splitter: new RecordSplitter(),
      buffers: new SpareBuffers(),
    });
    for (let at = 0; at < before; at += 1) await blocks.next();
    const ahead = blocks.next();
    await blocks.close();
    expect(await openFiles()).toEqual([]);
    expect((await ahead)?.rows).toBe(1);
  });
});
