/** Rows of files of JSON Lines: as the tools wrote them, and as others wrote them again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTextRows } from '../../../../../src/targets/files/folder/text-tables.ts';
import { RecordSplitter } from '../../../../../src/engine/records/json-lines.ts';
import { SpareBuffers } from '../../../../../src/engine/spare-buffers.ts';
import { textOf } from '../../../../../src/engine/unshred/rows/values.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-lines-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Row = (string | null)[];

async function rowsOf(text: string, pieceBytes: number): Promise<Row[]> {
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, text);
  const names = ['key', 'text', 'amount', 'ratios'];
  const blocks = openTextRows({
    files: [
      {
        path,
        names,
        columns: [0, 1, 2, 3],
        types: [{ kind: 'bigint' }, { kind: 'text' }, { kind: 'numeric' }, { kind: 'double', list: true }],
      },
    ],
    format: 'jsonl',
    width: 4,
    pieceBytes,
    label: 'target',
    splitter: new RecordSplitter(),
    buffers: new SpareBuffers(),
  });
  const rows: Row[] = [];
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next())
      for (let row = 0; row < block.rows; row += 1)
        rows.push(
          names.map((_, column) => {
            const from = block!.cells[(row * 4 + column) * 2]!;
            return from < 0 ? null : textOf(block!.bytes, from, block!.cells[(row * 4 + column) * 2 + 1]!);
          }),
        );
  } finally {
    await blocks.close();
  }
  return rows;
}

const texts = ['plain', '', 'quo"te\\', 'tab\tand\nline', 'ä€😀', null, 'x'.repeat(3000)];
const lines = Array.from({ length: 2000 }, (_, at) => {
  const text = JSON.stringify(texts[at % texts.length]);
  return `{"key":${at + 1},"text":${text},"amount":${at}.50,"ratios":["Infinity",1e5,"-Infinity",-0]}\n`;
});
const expected = lines.map((_, at) => [
  String(at + 1),
  texts[at % texts.length]!,
  `${at}.50`,
  'INF 1e5 -INF -0',
]);

describe('JSON Lines', () => {
  it.each([64, 9000, 262_144])('gives every value, read %i bytes at a time', async (pieceBytes) => {
    expect(await rowsOf(lines.join(''), pieceBytes)).toEqual(expected);
    // a last line without an end
    expect(await rowsOf(lines.join('').trimEnd(), pieceBytes)).toEqual(expected);
  });

  it.each([
    ['with spaces', (line: string) => line.replaceAll('":', '" : ')],
    [
      'with its members in another order',
      (line: string) => line.replace(/^\{("key":\d+),(.*)\}$/m, '{$2,$1}'),
    ],
    ['with members that are not asked for', (line: string) => line.replace('{', '{"more":{"a":[1]},')],
    ['with blank lines between', (line: string) => `${line} \n`],
    ['with carriage returns', (line: string) => line.replace('\n', '\r\n')],
  ])('reads what was written again %s', async (_, change) => {
    // from the middle of a file on, too
    const changed = lines.map((line, at) => (at < 1000 ? line : change(line))).join('');
    expect(await rowsOf(changed, 20_000)).toEqual(expected);
  });

  it('leaves empty what is not there', async () => {
    expect(await rowsOf('{"key":1}\n{}\n', 64)).toEqual([
      ['1', null, null, null],
      [null, null, null, null],
    ]);
  });

  it.each([
    ['a line that is cut', '{"key":3,"te\n', 'record 2001: it is not JSON'],
    ['a list', '[1]\n', 'record 2001: it is not an object'],
    ['a nested object', '{"key":1,"text":{"a":1}}\n', 'record 2001: its "text" has objects in it'],
  ])('tells of %s', async (_, line, message) => {
    await expect(rowsOf(lines.join('') + line, 20_000)).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringContaining(message),
    });
  });
});
