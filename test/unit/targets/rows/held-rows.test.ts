/** Rows of small tables that are held: sorted by their keys, and no more of them than there is room for. */
import { expect, test } from 'vitest';
import { BufferRoom, bufferedValueBytes } from '../../../../src/targets/files/folder/buffer-room.ts';
import { bufferRows, inOrderOf, listedRows } from '../../../../src/targets/rows/table-row-source.ts';
import { sortedRows } from '../../../../src/targets/rows/reordered-rows.ts';
import type { RowBlock } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { cellText, textBlock, type TextRow } from '../../../../src/engine/unshred/rows/values.ts';

function blocksOf(...blocks: readonly (readonly TextRow[])[]) {
  const left = blocks.map((rows) => textBlock(rows, 2));
  let closed = 0;
  return {
    next: (): Promise<RowBlock | null> => Promise.resolve(left.shift() ?? null),
    close: (): Promise<void> => {
      closed += 1;
      return Promise.resolve();
    },
    closed: () => closed,
  };
}

test('rows of several blocks come in the order of their keys', async () => {
  const many = Array.from({ length: 700 }, (_, at): TextRow => [
    `${7000 - at * 10}`,
    at % 3 === 0 ? null : `é${at}`,
  ]);
  const given = blocksOf(
    [
      ['9007199254740993', 'last'],
      ['3', 'three'],
    ],
    many,
  );
  const sorted = await sortedRows(given, 0, 2);
  expect(given.closed()).toBe(1);
  const rows: TextRow[] = [];
  for (let block = await sorted.next(); block !== null; block = await sorted.next())
    for (let row = 0; row < block.rows; row += 1)
      rows.push([0, 1].map((column) => cellText({ ...block, at: row * 4 }, column)));
  expect(rows).toEqual([['3', 'three'], ...many.toReversed(), ['9007199254740993', 'last']]);
});

test.each([
  ['as they lie', ['1 1 a', '1 2 b', '2 1 c']],
  ['sorted', ['10 1 c', '9 2 b', '9 1 a']],
  ['sorted beyond 53 bits', ['9007199254740993 1 c', '9007199254740992 2 b', '9007199254740992 1 a']],
])('entries are listed in the order of several whole numbers, %s', (_, lines) => {
  const block = textBlock(
    lines.map((line) => line.split(' ')),
    3,
  );
  const rows = lines.map((__, row) => ({ ...block, at: row * 6 }));
  const stream = listedRows(inOrderOf(rows, [0, 1]), [2], ([content]) => content);
  const contents: unknown[] = [];
  for (; stream.head !== null; void stream.advance()) contents.push(stream.head);
  expect(contents).toEqual(['a', 'b', 'c']);
});

test('rows are held by the names in their first column', async () => {
  const given = blocksOf(
    [
      ['one', 'a'],
      ['one', 'b'],
      ['other', null],
    ],
    [['one', 'c']],
  );
  const held = await bufferRows(given, 2);
  expect(given.closed()).toBe(1);
  expect([...held].map(([name, rows]) => [name, rows.map((row) => cellText(row, 1))])).toEqual([
    ['one', ['a', 'b', 'c']],
    ['other', [null]],
  ]);
});

test('tables share the room for rows that are held: beyond it they are read another way', () => {
  const room = new BufferRoom(false);
  const files = [{ rows: 10_000, bytes: 100_000 }];
  const taken = Array.from({ length: 1000 }, () => room.take(files, 20, bufferedValueBytes.cell)).filter(
    Boolean,
  );
  expect(taken).toHaveLength(10);
  expect(room.take([{ rows: 300_000, bytes: 1 }], 5, bufferedValueBytes.named)).toBe(false);
  const [stored, text] = [false, true].map((isText) => {
    const one = new BufferRoom(isText);
    return [5, 28].map((size) =>
      one.take([{ rows: 1, bytes: size * 1024 * 1024 }], 1, bufferedValueBytes.cell),
    );
  });
  expect(stored).toEqual([false, false]);
  expect(text).toEqual([true, false]);
});
